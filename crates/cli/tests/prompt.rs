//! Questions on a terminal: the program is given one, and a key is pressed.

#![allow(clippy::unwrap_used)]

mod program;

use program::terminal::OnTerminal;
use program::{Place, exists};

#[test]
fn a_refused_command_may_run_again_outside_after_a_yes() {
    let place = Place::new();
    let target = place.home().join("escaped");
    let script = format!("echo hello from inside; touch {}", target.display());
    for (key, code, made) in [("n", 1, false), ("y", 0, true)] {
        let mut terminal = OnTerminal::start(&place, &["run", "--", "bash", "-c", &script]);
        terminal.expect("May it run again OUTSIDE the fence?");
        terminal.expect("> ");
        assert!(!exists(&target));
        terminal.press(key);
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
    terminal.expect("> ");
    terminal.press("n");
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
    terminal.expect("[1] yes, and always");
    terminal.expect("> ");
    terminal.press("1");
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
        record.stdout.contains("ApprovedWithRule by terminal"),
        "{record:?}"
    );
}
