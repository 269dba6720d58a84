//! `ringfence run`, from the outside.

#![allow(clippy::unwrap_used)]

mod program;

use std::io::{BufRead, BufReader};

use program::{Place, exists};
use ringfence_testkit::processes::{empty_within_a_second, gone_within_a_second};

#[test]
fn the_first_minute_of_the_readme() {
    let place = Place::new();
    let ran = place.output(&[
        "run",
        "--",
        "bash",
        "-c",
        "echo hello from inside; touch ~/escaped",
    ]);
    assert_eq!(ran.stdout, "hello from inside\n");
    assert_eq!(ran.code, Some(1));
    let path = place.home().join("escaped");
    assert!(!exists(&path));
    assert!(
        ran.stderr
            .contains(&format!("denied: writing {}", path.display())),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("to allow it: --writable"),
        "{}",
        ran.stderr
    );
    // And the way that it names works.
    let home = place.home().display().to_string();
    let ran = place.output(&[
        "run",
        "--writable",
        &home,
        "--",
        "touch",
        &format!("{home}/escaped"),
    ]);
    assert_eq!((ran.code, exists(&path)), (Some(0), true), "{ran:?}");
}

#[test]
fn standard_input_is_passed_on_and_the_exit_code_is_the_commands() {
    let place = Place::new();
    let ran = place.output_given(&["run", "--", "wc", "-l"], "one\ntwo\n");
    assert_eq!(ran.stdout.trim(), "2", "{ran:?}");
    for code in [0, 3, 77] {
        let ran = place.output(&["run", "--", "bash", "-c", &format!("exit {code}")]);
        assert_eq!(ran.code, Some(code));
    }
    let killed = place.output(&["run", "--", "bash", "-c", "kill -TERM $$"]);
    assert_eq!(killed.code, Some(128 + 15));
}

#[test]
fn failures_have_their_own_exit_codes() {
    let place = Place::new();
    for (arguments, code) in [
        (&["run", "--", "no-such-program-here"][..], 127),
        (&["run", "--", "/etc/passwd"][..], 126),
        (&["run", "--", "rm", "-rf", "/"][..], 126),
        (&["run", "--cwd", "/no/such/folder", "--", "true"][..], 125),
        (&["run", "--timeout", "1", "--", "sleep", "30"][..], 124),
        (&["run"][..], 2),
    ] {
        let ran = place.output(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_killed_ringfence_leaves_nothing_running() {
    let place = Place::new();
    let mark = format!("7{}", std::process::id());
    let script = format!(
        "sleep {mark}1 & setsid sleep {mark}2 & nohup sleep {mark}3 >/dev/null 2>&1 & \
         (setsid sh -c 'sleep {mark}4 & sleep {mark}5' &) ; echo ready; sleep {mark}6"
    );
    let mut child = place.spawn(&["run", "--", "bash", "-c", &script]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(gone_within_a_second(&format!("sleep {mark}")), Ok(()));
    assert_eq!(empty_within_a_second(&place.work()), Ok(()));
}

#[test]
fn a_time_out_kills_whatever_was_started() {
    let place = Place::new();
    let mark = format!("8{}", std::process::id());
    let script = format!(
        "setsid sleep {mark}1 & nohup sleep {mark}2 >/dev/null 2>&1 & \
         (setsid sh -c 'setsid sleep {mark}3 &' &) ; echo started; sleep {mark}4"
    );
    let ran = place.output(&["run", "--timeout", "1", "--", "bash", "-c", &script]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(124), "started\n"),
        "{ran:?}"
    );
    assert_eq!(gone_within_a_second(&format!("sleep {mark}")), Ok(()));
}

#[test]
fn a_reader_that_goes_away_ends_the_command() {
    let place = Place::new();
    let mut child = place.spawn(&["run", "--", "yes"]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "y\n");
    assert!(child.wait().unwrap().code().is_some());
}

#[test]
fn a_workspace_below_tmp_works_and_gets_no_litter() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let path = folder.path().display().to_string();
    let place = Place::new();
    let ran = place.output(&[
        "run",
        "--cwd",
        &path,
        "--",
        "bash",
        "-c",
        "pwd; echo x > made; ls -A /tmp",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with(&format!("{path}\n")), "{ran:?}");
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["made"]);
}

#[test]
fn the_environment_is_built_from_the_policy() {
    let place = Place::new();
    let mut command = place.ringfence(&["run", "--", "env"]);
    command
        .env("GITHUB_TOKEN", "hidden")
        .env("LD_PRELOAD_X", "x")
        .env("LANG", "C.UTF-8");
    command
        .env("LD_LIBRARY_PATH", "/nowhere")
        .env("SOMETHING", "else");
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "RINGFENCE_SANDBOX=native\n",
        "RINGFENCE_SANDBOX_NETWORK_DISABLED=1\n",
        "LANG=C.UTF-8\n",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    for unexpected in ["GITHUB_TOKEN", "LD_LIBRARY_PATH", "SOMETHING"] {
        assert!(!text.contains(unexpected), "{text}");
    }
}

#[test]
fn what_a_command_changes_of_gits_set_up_is_put_back_and_told() {
    let place = Place::new();
    let git = |words: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(words)
            .current_dir(place.work())
            .env("HOME", place.home())
            .output()
            .unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    let script = "rm .git/HEAD; echo ../x > .git/commondir; git init -q --template= made; \
                  printf '[core]\\nfsmonitor = /x\\n' >> made/.git/config; echo > .inputrc";
    // From a file: the judgement would ask about such a command.
    std::fs::write(place.work().join("script.sh"), script).unwrap();
    let ran = place.output(&["run", "--", "bash", "script.sh"]);
    for path in [
        ".git/HEAD",
        ".git/commondir",
        "made/.git/config",
        ".inputrc",
    ] {
        let path = place.work().join(path);
        let shown = format!("{}: ", path.display());
        assert!(ran.stderr.contains(&shown), "{shown}\n{}", ran.stderr);
    }
    git(&["status"]);
    let log = place.output(&["audit", "show"]).stdout;
    assert!(log.contains("put back: "), "{log}");
}
