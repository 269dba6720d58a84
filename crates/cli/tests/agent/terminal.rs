//! A model fixes a failing test, on a real terminal, with somebody who says yes and no; and goes on after it was killed.

use std::fs;
use std::process::Command;

use ringfence_testkit::model::{Answer, Api, Part};
use serde_json::json;

use crate::program::exists;
use crate::program::terminal::OnTerminal;
use crate::talk::{KEY, Talk, Way};

const PATCH: &str = "*** Begin Patch\n*** Update File: calc.py\n@@\n def add(a, b):\n-    return a - b\n+    return a + b\n*** End Patch\n";

/// From a failing test to one that passes; what throws work away is asked about, twice.
fn answers() -> Vec<Answer> {
    vec![
        Answer::of([
            Part::thinking("First I look."),
            Part::text(
                "I run the tests first, to see what is wrong with them before anything is changed in this project.\n",
            ),
            Part::call(
                "bash",
                json!({"command": "echo ran >> runs; python3 -B test.py"}),
            ),
        ]),
        Answer::of([
            Part::text("It subtracts."),
            Part::call("apply_patch", json!({"patch": PATCH})),
        ]),
        Answer::of([Part::call("bash", json!({"command": "git reset --hard"}))]),
        Answer::of([Part::call(
            "bash",
            json!({"command": "git clean -fdx junk"}),
        )]),
        Answer::of([
            Part::text("Once more.\n"),
            Part::script(
                "const r = await tools.exec({command: ['python3', '-B', 'test.py']}); return {message: r.stdout}",
            ),
        ]),
        Answer::of([Part::text("Fixed: `add` adds now.")]),
    ]
}

fn project(talk: &Talk) {
    let work = talk.place.work();
    fs::write(work.join("calc.py"), "def add(a, b):\n    return a - b\n").unwrap();
    let test = "from calc import add\nassert add(2, 2) == 4, add(2, 2)\nprint('all tests pass')\n";
    fs::write(work.join("test.py"), test).unwrap();
    for arguments in [
        &["init", "-q", "."] as &[&str],
        &["add", "."],
        &[
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@example.com",
            "commit",
            "-qm",
            "first",
        ],
    ] {
        let ran = Command::new("git")
            .args(arguments)
            .current_dir(&work)
            .output();
        assert!(ran.unwrap().status.success());
    }
    fs::create_dir(work.join("junk")).unwrap();
    fs::write(work.join("junk/old"), "x").unwrap();
}

/// The state that the work has to end in.
fn check(talk: &Talk, seen: &str) {
    let work = talk.place.work();
    assert_eq!(
        fs::read_to_string(work.join("calc.py")).unwrap(),
        "def add(a, b):\n    return a + b\n",
        "{seen}"
    );
    assert!(!exists(&work.join("junk")), "the yes was for this: {seen}");
    assert_eq!(
        fs::read_to_string(work.join("runs")).unwrap(),
        "ran\n",
        "once: {seen}"
    );
    let last = talk.model.requests().last().unwrap().body.clone();
    assert!(last.contains("all tests pass"), "{last}");
    assert_eq!(talk.model.left(), 0);
}

#[test]
fn a_failing_test_is_fixed_with_one_yes_and_one_no() {
    for api in Api::ALL {
        let talk = Talk::new(
            api,
            Way::Streamed,
            answers(),
            "[approval]\ntimeout_ms = 20000\n",
        );
        project(&talk);
        let mut terminal = OnTerminal::of(talk.command(&["fix the failing test"]));
        terminal.expect("`git reset --hard`: --hard");
        terminal.answer("no");
        terminal.expect("git clean -fdx junk");
        terminal.answer("yes");
        let (code, seen) = terminal.end();
        assert_eq!(code, Some(0), "{seen}");
        check(&talk, &seen);
        assert!(
            seen.contains("\u{1b}[32m+    return a + b\u{1b}[0m"),
            "{seen}"
        );
        let plain = without_colours(&seen);
        for expected in [
            "First I look.",
            // Broken where the line of 80 ends.
            "before anything is changed\r\nin this project.",
            "python3 -B test.py",
            "│ AssertionError: 0",
            "allowed · exit code 1",
            "-    return a - b",
            "+    return a + b",
            "✗ denied by you",
            "✓ approved by you · exit code 0",
            "Fixed: `add` adds now.",
            "done: 6 turns, 5 tool calls (",
            "tokens read, 120 written",
            "changed: runs, calc.py",
        ] {
            assert!(plain.contains(expected), "{api:?}: {expected}\n{plain}");
        }
        assert!(!seen.contains(KEY), "{seen}");
    }
}

#[test]
fn killed_in_the_middle_and_resumed_it_ends_the_same() {
    for api in Api::ALL {
        let talk = Talk::new(
            api,
            Way::Streamed,
            answers(),
            "[approval]\ntimeout_ms = 20000\n",
        );
        project(&talk);
        // Killed at a question, when the patch is applied and nothing is known of the third call.
        let mut terminal = OnTerminal::of(talk.command(&["fix the failing test"]));
        terminal.expect("`git reset --hard`: --hard");
        terminal.prompt();
        terminal.child.kill().unwrap();
        let (code, _) = terminal.end();
        assert_eq!(code, None);
        let asked = talk.model.requests().len();
        assert_eq!(asked, 3);
        let mut terminal = OnTerminal::of(talk.command(&["--resume"]));
        terminal.expect("git clean -fdx junk");
        terminal.answer("yes");
        let (code, seen) = terminal.end();
        assert_eq!(code, Some(0), "{seen}");
        check(&talk, &seen);
        // What was begun and not ended is told as that, and not done again.
        let told = talk.model.requests()[asked].body.clone();
        assert!(told.contains("It was not run again"), "{told}");
        assert!(
            !seen.contains("| git reset --hard"),
            "it was not asked about again: {seen}"
        );
    }
}

#[test]
fn ctrl_c_stops_the_turn_and_a_word_goes_on() {
    let stalls = Answer {
        stall_after: Some(0),
        ..Answer::of([Part::text("never")])
    };
    let talk = Talk::new(
        Api::Messages,
        Way::Streamed,
        vec![stalls, Answer::of([Part::text("As you like.")])],
        "",
    );
    let mut terminal = OnTerminal::of(talk.command(&["think for ever"]));
    terminal.expect("turn 1: waiting for the model");
    talk.model.wait_for_requests(1);
    terminal.press("\u{3}");
    terminal.expect("What instead?");
    terminal.press("something else\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("As you like."), "{seen}");
    let last = talk.model.requests().last().unwrap().body.clone();
    assert!(
        last.contains("think for ever") && last.contains("something else"),
        "{last}"
    );
}

#[test]
fn ctrl_c_twice_leaves() {
    let stalls = Answer {
        stall_after: Some(0),
        ..Answer::of([Part::text("never")])
    };
    let talk = Talk::new(Api::Chat, Way::Streamed, vec![stalls], "");
    let mut terminal = OnTerminal::of(talk.command(&["think for ever"]));
    terminal.expect("waiting for the model");
    terminal.press("\u{3}");
    terminal.expect("What instead?");
    terminal.press("\u{3}");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(137), "{seen}");
    assert!(
        seen.contains("to go on: ringfence agent --resume=conv_"),
        "{seen}"
    );
}

/// What was seen, in one colour.
fn without_colours(seen: &str) -> String {
    let mut plain = String::new();
    let mut parts = seen.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(0, |at| at + 1);
        plain.push_str(&part[end..]);
    }
    plain
}

#[test]
fn stop_at_a_question_stops_the_turn() {
    let talk = Talk::new(
        Api::Messages,
        Way::Streamed,
        vec![
            Answer::of([Part::call("bash", json!({"command": "git reset --hard"}))]),
            Answer::of([Part::text("never asked for")]),
        ],
        "[approval]\ntimeout_ms = 20000\n",
    );
    let mut terminal = OnTerminal::of(talk.command(&["lose everything"]));
    terminal.expect("`git reset --hard`: --hard");
    terminal.answer("stop");
    terminal.expect("What instead?");
    terminal.press("\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(137), "{seen}");
    assert_eq!(talk.model.requests().len(), 1, "{seen}");
}
