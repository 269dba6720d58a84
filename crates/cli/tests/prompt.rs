//! Questions on a terminal: what they show and offer, and where an answer leads.

#![allow(clippy::unwrap_used)]

mod program;

use program::terminal::OnTerminal;
use program::{Place, exists};
use serde_json::json;

#[test]
fn a_refused_command_may_run_again_outside_after_a_yes() {
    let place = Place::new();
    let target = place.home().join("escaped");
    let script = format!("echo hello from inside; touch {}", target.display());
    for (key, code, made) in [("n", 1, false), ("yes", 0, true)] {
        let mut terminal = OnTerminal::start(&place, &["run", "--", "bash", "-c", &script]);
        terminal.expect("May it run again OUTSIDE the fence?");
        assert!(!exists(&target));
        terminal.answer(key);
        let (ended, seen) = terminal.end();
        assert_eq!(
            (ended, exists(&target)),
            (Some(code), made),
            "{key}: {seen}"
        );
        assert!(seen.contains("hello from inside"), "{seen}");
    }
}

#[test]
fn the_question_shows_what_would_act_on_the_terminal() {
    let place = Place::new();
    let trick = "frobnicate \u{1b}[2K\u{1b}[1Gls";
    let mut terminal = OnTerminal::start(
        &place,
        &["run", "--approval", "on-request", "--", "bash", "-c", trick],
    );
    terminal.answer("n");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(126), "{seen}");
    assert!(seen.contains("\\u{1b}[2K"), "{seen}");
    assert!(!seen.contains("\u{1b}[2K"), "{seen}");
}

#[test]
fn a_yes_with_a_rule_is_not_asked_again() {
    let place = Place::new();
    let arguments = [
        "run",
        "--approval",
        "on-request",
        "--",
        "frobnicate",
        "--all",
    ];
    let mut terminal = OnTerminal::start(&place, &arguments);
    terminal.expect("yes, and always");
    terminal.answer("always 1");
    let (code, seen) = terminal.end();
    // It is allowed now; that there is no such program is another matter.
    assert_eq!(code, Some(127), "{seen}");
    let rules = std::fs::read_to_string(place.home().join(".config/ringfence/rules.toml")).unwrap();
    assert!(
        rules.contains("# Approved ") && rules.contains("frobnicate"),
        "{rules}"
    );
    let again = place.output(&arguments);
    assert_eq!(again.code, Some(127), "{again:?}");
    let record = place.output(&["audit", "show"]);
    assert!(
        record
            .stdout
            .contains("terminal said yes, by a rule from now on"),
        "{record:?}"
    );
}

/// Each of these would not be seen, or would move what is: what is shown instead, and what is not.
#[test]
fn a_command_cannot_hide_a_part_of_itself() {
    let long = "#\n".repeat(300);
    for (trick, shown, hidden) in [
        (
            "frobnicate a\u{202e}b".to_owned(),
            "a\\u{202e}b",
            "\u{202e}",
        ),
        (
            "frobnicate a\u{2067}b".to_owned(),
            "a\\u{2067}b",
            "\u{2067}",
        ),
        (
            "frobnicate a\u{200b}b".to_owned(),
            "a\\u{200b}b",
            "\u{200b}",
        ),
        (
            "frobnicate a\u{2063}b".to_owned(),
            "a\\u{2063}b",
            "\u{2063}",
        ),
        ("frobnicate a\u{ad}b".to_owned(), "a\\u{ad}b", "\u{ad}"),
        ("frobnicate a\u{a0}b".to_owned(), "a\\u{a0}b", "\u{a0}"),
        (
            "frobnicate a\u{3164}b".to_owned(),
            "a\\u{3164}b",
            "\u{3164}",
        ),
        (
            "frobnicate a\u{e0061}b".to_owned(),
            "a\\u{e0061}b",
            "\u{e0061}",
        ),
        (
            "frobnicate a\u{fe01}b".to_owned(),
            "a\\u{fe01}b",
            "\u{fe01}",
        ),
        (
            "frobnicate a\u{8}\u{8}b".to_owned(),
            "a\\u{8}\\u{8}b",
            "\u{8}",
        ),
        ("frobnicate a\u{85}b".to_owned(), "a\\u{85}b", "\u{85}"),
        (
            format!("frobnicate a{}other", "\n".repeat(90)),
            "[89 empty lines]",
            "\r\n\r\n\r\n",
        ),
        (
            format!("frobnicate a{};other", " ".repeat(900)),
            "[900 blanks]",
            "          ",
        ),
        // What it does last is shown whatever its length.
        (
            format!("frobnicate\n{long}other --last"),
            "  | other --last",
            "nothing of the kind",
        ),
        // No line of a command passes for one of the question's.
        (
            "frobnicate\n  may write: nothing".to_owned(),
            "  |   may write: nothing",
            "\n  may write: nothing",
        ),
    ] {
        let place = Place::new();
        let mut terminal = OnTerminal::start(
            &place,
            &[
                "run",
                "--approval",
                "on-request",
                "--",
                "bash",
                "-c",
                &trick,
            ],
        );
        terminal.answer("n");
        let (code, seen) = terminal.end();
        assert_eq!(code, Some(126), "{seen}");
        let asked = seen.split("May this run?").nth(1).unwrap();
        assert!(asked.contains(shown), "{trick:?}: {seen}");
        assert!(!asked.contains(hidden), "{trick:?}: {seen}");
    }
}

#[test]
fn what_is_too_long_for_a_question_is_shown_at_a_key() {
    let place = Place::new();
    let text = format!("frobnicate\n{}other", "echo line\n".repeat(100));
    let arguments = ["run", "--approval", "on-request", "--", "bash", "-c", &text];
    let mut terminal = OnTerminal::start(&place, &arguments);
    terminal.expect("lines are not shown here]");
    terminal.expect("show all of it");
    terminal.answer("v");
    terminal.answer("n");
    let (_, seen) = terminal.end();
    let times = seen.matches("  | echo line").count();
    assert!(times > 100, "{times}: {seen}");
}

/// What leaves the fence is offered for the session only where it is one literal command, of a program
/// that nobody inside can change what it does. The question says why not.
#[test]
fn little_is_offered_for_the_session_outside_the_fence() {
    let place = Place::new();
    let target = place.home().join("escaped");
    let plain = format!("touch {}", target.display());
    for text in [
        plain.clone(),
        format!("true; {plain}"),
        format!("X=1 {plain}"),
        format!("{plain}$((x))"),
        format!("echo > {}", target.display()),
        format!("env X=1 {plain}"),
    ] {
        let call =
            json!({"id": 1, "tool": "shell", "arguments": {"command": ["bash", "-c", text]}});
        let mut terminal = OnTerminal::start(&place, &["session"]);
        terminal.press(&format!("{call}\r"));
        terminal.expect("OUTSIDE the fence?");
        terminal.answer("session");
        terminal.answer("no");
        terminal.expect("{\"id\":1,\"reply\"");
        terminal.press("\x04");
        let (_, seen) = terminal.end();
        assert!(!seen.contains("yes, for this session"), "{text}: {seen}");
        assert!(seen.contains("a yes holds for once"), "{text}: {seen}");
        assert!(!exists(&target), "{text}: {seen}");
    }
    // The twin.
    let config = place.home().join(".config/ringfence");
    std::fs::create_dir_all(&config).unwrap();
    let asking = "[sandbox]\nallow_disable_sandbox = true\n";
    std::fs::write(config.join("config.toml"), asking).unwrap();
    let call = r#"{"command": ["uname", "-s"], "sandbox_permissions": "require_escalated"}"#;
    let mut terminal = OnTerminal::start(&place, &["call", "shell", call]);
    terminal.expect("OUTSIDE the fence?");
    terminal.expect("yes, for this session");
    terminal.answer("session");
    let (_, seen) = terminal.end();
    assert!(seen.contains("Linux"), "{seen}");
}

/// Where the session is the one command, that would say nothing more than a yes.
#[test]
fn one_command_is_no_session() {
    let place = Place::new();
    let target = place.home().join("escaped");
    let path = target.display().to_string();
    let mut terminal = OnTerminal::start(&place, &["run", "--", "touch", &path]);
    terminal.answer("session");
    terminal.answer("no");
    let (code, seen) = terminal.end();
    assert_eq!((code, exists(&target)), (Some(1), false), "{seen}");
    assert!(!seen.contains("for this session"), "{seen}");
}

/// A yes that is kept is one to all of a text, so that all of it has been shown.
#[test]
fn nothing_is_kept_that_was_not_shown() {
    let place = Place::new();
    let hidden = format!("frobnicate --all\n{}# the end", "# line\n".repeat(60));
    let arguments = [
        "run",
        "--approval",
        "on-request",
        "--",
        "bash",
        "-c",
        &hidden,
    ];
    let rules = place.home().join(".config/ringfence/rules.toml");
    let mut terminal = OnTerminal::start(&place, &arguments);
    terminal.expect("lines are not shown here]");
    terminal.answer("always 1");
    terminal.expect("That is all of it.");
    assert!(!exists(&rules));
    terminal.answer("always 1");
    let (code, seen) = terminal.end();
    assert_eq!((code, exists(&rules)), (Some(127), true), "{seen}");
    assert!(seen.matches("  | # line").count() > 60, "{seen}");
}
