//! Covers that the kernel drops because somebody outside replaces what is beneath: a hostile run
//! tries to use each moment, and gets nothing. Names that are held by marks, which somebody outside
//! removes, are among them.

use std::fs;
use std::io::{self, BufRead};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use ringfence_jail::{Input, Io, Output, Process};
use ringfence_testkit::scratch::Scratch;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::unix::pipe::Receiver;

use crate::conduct::{ends, open_pid};
use crate::fence::Fence;
use crate::suite::Where;

/// How often something is replaced.
const ROUNDS: u32 = 1000;

/// Tries to plant something, to read something, and says when it has tried.
const HOSTILE: &str = r#"while [ ! -e stop ]; do
    { printf '\n[core]\n\tfsmonitor = touch pwned\n' >> .git/config
      printf evil > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
      cat "$HOME/.netrc" "$HOME/.late"
      mkdir .vscode && printf evil > .vscode/settings.json
      printf evil > .mcp.json; } 2>/dev/null
    echo tried
done"#;

/// Protected names that do not exist in the workspace.
const HELD: [&str; 2] = [".vscode", ".mcp.json"];

/// Tries to be first at a name that is held, all the time.
const QUICK: &str = r#"{ while :; do
    mkdir .vscode && printf evil > .vscode/settings.json
    printf evil > .mcp.json
    echo tried >&3
done; } 3>&1 2>/dev/null"#;

/// How often a run that is about to use a name is killed.
const KILLED: u32 = 60;

/// What a harness says whose run has ended.
const OVER: &str = "over";

/// How often its harness is.
const KILLED_HARNESSES: u32 = 24;

/// Replaces settings, hooks, denied files and marks, in turn, while a hostile run lives.
pub async fn are_of_no_use(mut fence: Fence) {
    let (workspace, home) = (fence.workspace(), fence.home());
    prepare(&workspace, &home);
    fence.sandbox.denied_reads.push(home.join(".late"));
    let mut run: Option<(Process, Lines<BufReader<Receiver>>)> = None;
    let mut runs = 0;
    for round in 0..ROUNDS {
        if run.is_none() {
            runs += 1;
            run = Some(start(&fence, HOSTILE).await);
        }
        let Some((process, lines)) = &mut run else {
            panic!("there is a run");
        };
        let Some(line) = lines.next_line().await.unwrap() else {
            // It may have used the moment, and was ended for that.
            let exit = process.exited().await.unwrap();
            assert!(!exit.mended.is_empty(), "round {round}: {exit:?}");
            process.gone().await.unwrap();
            nothing_stays(&workspace, round);
            run = None;
            continue;
        };
        assert_eq!(line, "tried", "round {round}");
        replace(round, &workspace, &home);
    }
    let mut last = None;
    if let Some((mut process, lines)) = run {
        // Nobody reads what it still has to say.
        drop(lines);
        fs::write(workspace.join("stop"), "").unwrap();
        process.gone().await.unwrap();
        last = Some(process.exited().await.unwrap());
    }
    println!("{ROUNDS} replacements, {runs} runs");
    nothing_stays(&workspace, ROUNDS);
    let config = fs::read_to_string(workspace.join(".git/config")).unwrap();
    assert!(!config.contains("fsmonitor"), "{config}: {last:?}");
    // Git runs a hook that can be executed, and no other.
    let hook = fs::metadata(workspace.join(".git/hooks/pre-commit"));
    assert!(!hook.is_ok_and(|hook| hook.permissions().mode() & 0o111 != 0));
    // The twin: what is not protected is written all along.
    let free = fence.run(crate::fence::Deed::Shell("echo x > free && cat free"));
    assert_eq!(free.await.unwrap().text, "x\n");
}

/// Runs of one session, whose stages may share a list of what can be read: what somebody makes or
/// replaces between them can be read by the next one, and what is denied by none, whenever it was
/// made.
pub async fn lists_are_true(mut fence: Fence) {
    let home = fence.home();
    fs::write(home.join(".netrc"), "SECRET").unwrap();
    for denied in [".late", "folder/.late"] {
        fence.sandbox.denied_reads.push(home.join(denied));
    }
    let draft = fence.scratch.outside().join("draft");
    for round in 0..12 {
        match round % 6 {
            // Nothing changes: the stages before and after these can have the same list. A list is
            // kept only if a change after it could be told by the clock of the file system.
            0 | 1 => std::thread::sleep(CLOCK),
            2 => fs::write(home.join(format!("new-{round}")), "").unwrap(),
            3 => fs::write(home.join(".late"), "SECRET").unwrap(),
            4 => {
                fs::create_dir_all(home.join("folder")).unwrap();
                fs::write(home.join("folder/.late"), "SECRET").unwrap();
            }
            _ => fs::remove_dir_all(home.join("folder")).unwrap(),
        }
        fs::write(&draft, format!("plain {round}\n")).unwrap();
        if round % 6 > 1 || round == 0 {
            fs::rename(&draft, home.join("plain")).unwrap();
        } else {
            fs::write(home.join("plain"), format!("plain {round}\n")).unwrap();
        }
        let deed = "ls \"$HOME\"/new-* 2>/dev/null | xargs -r cat; cat \"$HOME/plain\" /etc/passwd; \
                    cat \"$HOME/.netrc\" \"$HOME/.late\" \"$HOME/folder/.late\" 2>/dev/null; rm deed.sh";
        // A stage that waits may not have noticed yet: then its command cannot read what is new, and
        // the next one can.
        let mut is_seen = false;
        for _ in 0..4 {
            let seen = fence.run(crate::fence::Deed::Shell(deed)).await.unwrap();
            let text = seen.text;
            assert!(text.contains("root:"), "round {round}: {text}");
            assert!(!text.contains("SECRET"), "round {round}: {text}");
            is_seen |= text.starts_with(&format!("plain {round}\n"));
        }
        assert!(is_seen, "round {round}");
    }
}

/// Longer than a tick of any file system's clock, and than what a list takes that for.
const CLOCK: Duration = Duration::from_millis(80);

/// Frees names that are held, and kills the run that waits for that: whatever it was quick enough to
/// put there does not stay, although nobody in the run is left to tell of it.
pub async fn do_not_stay(fence: Fence) {
    let workspace = fence.workspace();
    let mut set_aside = 0;
    for round in 0..KILLED {
        let (mut process, mut lines) = start(&fence, QUICK).await;
        for _ in 0..=round % 4 {
            if lines.next_line().await.unwrap().is_none() {
                // It was noticed, and ended for that.
                let exit = process.exited().await.unwrap();
                assert!(!exit.mended.is_empty(), "round {round}: {exit:?}");
                break;
            }
            free(&workspace);
        }
        process.kill().unwrap();
        process.gone().await.unwrap();
        drop(process);
        set_aside += fence.jail.settled().len();
        nothing_stays(&workspace, round);
    }
    println!("{KILLED} runs killed, {set_aside} told of later");
}

/// A harness with a run that waits for names to be freed, for the one who kills it.
pub async fn be_a_harness(situation: Where, below: &str) {
    let fence = Fence::new(Scratch::below(below.as_ref()), situation);
    let (_process, mut lines) = start(&fence, QUICK).await;
    println!("{}", fence.workspace().display());
    while let Some(line) = lines.next_line().await.unwrap() {
        println!("{line}");
    }
    // It was noticed, and ended for that.
    println!("{OVER}");
    std::future::pending::<()>().await;
}

/// Frees names that are held, and kills the harness of the run that waits for that. Those that
/// outlive the harness see to it that nothing stays.
pub fn do_not_stay_when_the_harness_is_killed(fence: &Fence) {
    let this = std::env::current_exe().unwrap();
    let mut planted = 0;
    for round in 0..KILLED_HARNESSES {
        let mut harness = Command::new(&this)
            .args(["__quick_harness", fence.where_.name()])
            .arg(fence.workspace())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = io::BufReader::new(harness.stdout.take().unwrap()).lines();
        let workspace = PathBuf::from(lines.next().unwrap().unwrap());
        for _ in 0..=round % 4 {
            if lines.next().unwrap().unwrap() == OVER {
                break;
            }
            free(&workspace);
        }
        let wardens = children_of(harness.id()).into_iter();
        let wardens: Vec<_> = wardens.map(open_pid).collect();
        harness.kill().unwrap();
        harness.wait().unwrap();
        assert!(wardens.iter().all(ends), "a warden lives on");
        nothing_stays(&workspace, round);
        planted += u32::from(is_set_aside(&workspace));
    }
    println!("{KILLED_HARNESSES} harnesses killed, {planted} left something to set aside");
}

fn is_set_aside(workspace: &Path) -> bool {
    let mut entries = fs::read_dir(workspace).unwrap().flatten();
    entries.any(|entry| entry.file_name().to_string_lossy().contains(".set-aside"))
}

fn children_of(pid: u32) -> Vec<i32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let listed = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let pids: Vec<String> = listed.collect();
    pids.iter()
        .flat_map(|pids| pids.split_whitespace())
        .map(|pid| pid.parse().unwrap())
        .collect()
}

/// What somebody does who wants the names.
fn free(workspace: &Path) {
    for name in HELD {
        // What is in there by now is not theirs to remove.
        let _ = fs::remove_dir(workspace.join(name));
    }
}

/// At the names that were held there is nothing, or a mark: one that was there, or one of the stage
/// that waits for the next command. No file, no folder with anything in it, no folder of the run's.
fn nothing_stays(workspace: &Path, round: u32) {
    for name in HELD {
        let path = workspace.join(name);
        let Ok(found) = path.symlink_metadata() else {
            continue;
        };
        let within = fs::read_dir(&path).map_or(0, Iterator::count);
        // It may have gone since.
        let is_free = ringfence_jail::mark::is_at(&path) || path.symlink_metadata().is_err();
        assert!(
            is_free && within == 0,
            "round {round}: {name} stays, {within} in it: {found:?}"
        );
    }
}

fn prepare(workspace: &Path, home: &Path) {
    for folder in [".git/hooks", ".git/objects", ".git/refs"] {
        fs::create_dir_all(workspace.join(folder)).unwrap();
    }
    fs::write(workspace.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(workspace.join(".git/config"), "[core]\n\tbare = false\n").unwrap();
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join(".netrc"), "SECRET").unwrap();
}

async fn start(fence: &Fence, script: &str) -> (Process, Lines<BufReader<Receiver>>) {
    let argv = ["bash", "-c", script].map(str::to_owned).to_vec();
    let launched = fence
        .jail
        .launch(fence.permit(argv), Io::Pipes(Input::Null));
    let mut process = launched.await.expect("launch");
    let Some(Output::Pipes { stdout, .. }) = process.output.take() else {
        panic!("no pipes");
    };
    (process, BufReader::new(stdout).lines())
}

/// What somebody outside does, without a thought of the run.
fn replace(round: u32, workspace: &Path, home: &Path) {
    // From where it cannot be read under another name.
    let by_rename = |path: &Path, text: &str| {
        let draft = home.join(".ssh/draft");
        fs::write(&draft, text).unwrap();
        fs::rename(&draft, path).unwrap();
    };
    match round % 16 {
        // Folders are replaced seldom, and each time is the end of a run.
        7 => {
            let hooks = workspace.join(".git/hooks");
            // It may have been a mark, and gone.
            let _ = fs::rename(&hooks, workspace.join(format!(".git/hooks-{round}")));
            // A mark may hold the name by now.
            fs::create_dir_all(&hooks).unwrap();
        }
        5 | 11 | 13 => free(workspace),
        3 | 15 => by_rename(&home.join(".late"), "SECRET"),
        turn if turn % 2 == 0 => {
            let text = format!("[core]\n\tbare = false\n# {round}\n");
            by_rename(&workspace.join(".git/config"), &text);
        }
        _ => by_rename(&home.join(".netrc"), "SECRET"),
    }
}
