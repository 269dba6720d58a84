//! What becomes of the program when somebody stops it: what the command gets to see, what is said,
//! and which exit code there is.

#![allow(clippy::unwrap_used)]

mod program;

use program::terminal::OnTerminal;
use program::{Place, RINGFENCE, Ran, exists};
use ringfence_testkit::processes::gone_within_a_second;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Prints when it is ready, and when it is interrupted.
const TIDY: &str = "trap 'echo tidied; exit 3' INT; echo ready; while :; do sleep 0.1; done";
/// Does not care.
const STUBBORN: &str = "trap 'echo heard' INT; echo ready; while :; do sleep 0.1; done";

#[test]
fn the_first_interrupt_is_the_commands_and_the_second_ends_it() {
    let place = Place::new();
    let mut run = OnTerminal::start(&place, &["run", "--", "bash", "-c", TIDY]);
    run.expect("ready");
    run.press("\x03");
    let (code, seen) = run.end();
    assert_eq!(code, Some(3), "{seen}");
    assert!(seen.contains("tidied"), "{seen}");

    let mut run = OnTerminal::start(&place, &["run", "--", "bash", "-c", STUBBORN]);
    run.expect("ready");
    run.press("\x03");
    run.expect("heard");
    run.press("\x03");
    let (code, seen) = run.end();
    assert_eq!(code, Some(137), "{seen}");
    assert!(seen.contains("the command was cancelled"), "{seen}");
}

#[test]
fn a_command_that_does_not_mind_has_its_time() {
    let place = Place::new();
    let mut run = OnTerminal::start(&place, &["run", "--", "bash", "-c", STUBBORN]);
    run.expect("ready");
    run.press("\x03");
    run.expect("heard");
    assert_eq!(run.end().0, Some(137));
    let mut run = OnTerminal::start(&place, &["run", "--", "sleep", "4711.25"]);
    run.expect("running for");
    run.press("\x03");
    assert_eq!(run.end().0, Some(130));
    gone_within_a_second("4711.25").unwrap();
}

#[test]
fn whatever_is_stopped_ends_with_the_same_code() {
    let place = Place::new();
    let script = "console.log('ready'); await tools.exec({command: ['sleep', '4711.75']});";
    std::fs::write(place.work().join("s.ts"), script).unwrap();
    std::fs::write(
        place.work().join("c.ts"),
        "console.log('ready'); for (;;) {}",
    )
    .unwrap();
    let sleeps = json!({"command": "touch started; sleep 4711.75"}).to_string();
    let call =
        json!({"id": 1, "tool": "bash", "arguments": {"command": "echo ready; sleep 4711.75"}});
    for (arguments, typed, ready) in [
        (
            &["run", "--", "bash", "-c", "echo ready; exec sleep 4711.75"][..],
            None,
            "ready",
        ),
        (&["run", "--", "touch", "/etc/no"], None, "answer> "),
        (&["script", "s.ts"], None, "▸ exec"),
        (&["code", "--import", "console", "c.ts"], None, "ready"),
        (
            &["session", "--events"],
            Some(call.to_string()),
            "\"output\"",
        ),
    ] {
        let mut terminal = OnTerminal::start(&place, arguments);
        if let Some(typed) = typed {
            terminal.press(&format!("{typed}\r"));
        }
        terminal.expect(ready);
        kill_process(Pid::from_child(&terminal.child), Signal::TERM).unwrap();
        let (code, seen) = terminal.end();
        assert_eq!(code, Some(137), "{arguments:?}: {seen}");
        assert!(
            !seen.contains("before the command started"),
            "{arguments:?}: {seen}"
        );
        gone_within_a_second("4711.75").unwrap();
    }
    let mut call = OnTerminal::start(&place, &["call", "bash", &sleeps]);
    while !exists(&place.work().join("started")) {
        std::thread::yield_now();
    }
    call.press("\x03");
    assert_eq!(call.end().0, Some(137));
}

#[test]
fn a_window_that_is_closed_at_a_question_stops_it() {
    let place = Place::new();
    let mut run = OnTerminal::start(&place, &["run", "--", "touch", "/etc/no"]);
    run.prompt();
    assert_eq!(run.close().wait().unwrap().code(), Some(137));
}

#[test]
fn what_is_refused_is_told_to_programs_too() {
    let place = Place::new();
    let ran = place.output(&["run", "--json", "--", "rm", "-rf", "/"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ran.code, Some(126), "{ran:?}");
    assert!(told["error"]["code"].is_string(), "{ran:?}");
}

#[test]
fn messages_say_what_to_do() {
    let place = Place::new();
    for (arguments, code, said) in [
        (&["run", "ls -la"][..], 127, "bash -c 'ls -la'"),
        (
            &["run", "--cwd", "/etc/passwd", "--", "true"],
            125,
            "not a folder",
        ),
        (
            &["run", "--cwd", "/", "--", "true"],
            125,
            "--sandbox read-only",
        ),
        (&["run", "--timeout", "0", "--", "true"], 2, "--timeout"),
        (
            &["run", "--timeout", "1", "--", "sleep", "30"],
            124,
            "--timeout",
        ),
    ] {
        let ran = place.output(arguments);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
        assert!(!ran.stderr.contains("killed:"), "{ran:?}");
    }
    let mut gone = std::process::Command::new("sh");
    let script = format!("mkdir gone; cd gone; rmdir ../gone; {RINGFENCE} run -- true");
    gone.args(["-c", &script]).current_dir(place.work());
    let ran = Ran::of(&gone.env("HOME", place.home()).output().unwrap());
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(ran.stderr.contains("the current folder is gone"), "{ran:?}");
}
