//! Covers that the kernel drops because somebody outside replaces what is beneath: a hostile run
//! tries to use each moment, and gets nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ringfence_jail::{Input, Io, Output, Process};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::unix::pipe::Receiver;

use crate::fence::Fence;

/// How often something is replaced.
const ROUNDS: u32 = 1000;

/// Tries to plant something, to read something, and says when it has tried.
const HOSTILE: &str = r#"while [ ! -e stop ]; do
    { printf '\n[core]\n\tfsmonitor = touch pwned\n' >> .git/config
      printf evil > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
      cat "$HOME/.netrc" "$HOME/.late"; } 2>/dev/null
    echo tried
done"#;

/// Replaces settings, hooks and denied files, in turn, while a hostile run lives. (Marks are not among them.)
pub async fn are_of_no_use(mut fence: Fence) {
    let (workspace, home) = (fence.workspace(), fence.home());
    prepare(&workspace, &home);
    fence.sandbox.denied_reads.push(home.join(".late"));
    let mut run: Option<(Process, Lines<BufReader<Receiver>>)> = None;
    let mut runs = 0;
    for round in 0..ROUNDS {
        if run.is_none() {
            runs += 1;
            run = Some(start(&fence).await);
        }
        let Some((process, lines)) = &mut run else {
            panic!("there is a run");
        };
        let Some(line) = lines.next_line().await.unwrap() else {
            // It may have used the moment, and was ended for that.
            let exit = process.exited().await.unwrap();
            assert!(!exit.mended.is_empty(), "round {round}: {exit:?}");
            process.gone().await.unwrap();
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
    let config = fs::read_to_string(workspace.join(".git/config")).unwrap();
    assert!(!config.contains("fsmonitor"), "{config}: {last:?}");
    // Git runs a hook that can be executed, and no other.
    let hook = fs::metadata(workspace.join(".git/hooks/pre-commit"));
    assert!(!hook.is_ok_and(|hook| hook.permissions().mode() & 0o111 != 0));
    // The twin: what is not protected is written all along.
    let free = fence.run(crate::fence::Deed::Shell("echo x > free && cat free"));
    assert_eq!(free.await.unwrap().text, "x\n");
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

async fn start(fence: &Fence) -> (Process, Lines<BufReader<Receiver>>) {
    let argv = ["bash", "-c", HOSTILE].map(str::to_owned).to_vec();
    let launched = fence
        .session
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
            fs::rename(&hooks, workspace.join(format!(".git/hooks-{round}"))).unwrap();
            // A mark may hold the name by now.
            fs::create_dir_all(&hooks).unwrap();
        }
        3 | 15 => by_rename(&home.join(".late"), "SECRET"),
        turn if turn % 2 == 0 => {
            let text = format!("[core]\n\tbare = false\n# {round}\n");
            by_rename(&workspace.join(".git/config"), &text);
        }
        _ => by_rename(&home.join(".netrc"), "SECRET"),
    }
}
