//! Agents with somebody in front of them, who answers what is asked about a command.

use std::fs;

use ringfence_testkit::model::Part;
use ringfence_testkit::require::{has_program, missing};
use serde_json::json;

use crate::agent::{Agent, OwnShell, Use};
use crate::program::exists;
use crate::scene::Scene;
use crate::screen::Screen;

/// What is seen, and the key that is pressed then.
type Steps = &'static [(&'static str, &'static str)];

const CODEX_YES: Steps = &[("› 1. yes, this once", "Enter")];
const CODEX_NO: Steps = &[
    ("› 1. yes, this once", "Down"),
    ("› 2. yes, for this session", "Down"),
    ("› 3. no", "Enter"),
];
const CLAUDE_YES: Steps = &[
    ("❯ * Your answer: ▸ not set", "Right"),
    ("❯ ◯ yes, this once", "Enter"),
    ("❯ Accept", "Enter"),
];
const CLAUDE_NO: Steps = &[("❯ * Your answer: ▸ not set", "Up"), ("❯ Decline", "Enter")];

#[test]
fn somebody_says_yes_to_codex() {
    answered(Agent::Codex, CODEX_YES, Some("\\\"exitCode\\\":0"));
}

#[test]
fn somebody_says_no_to_codex() {
    answered(Agent::Codex, CODEX_NO, None);
}

#[test]
fn somebody_says_yes_to_claude() {
    answered(Agent::Claude, CLAUDE_YES, Some("exitCode"));
}

#[test]
fn somebody_says_no_to_claude() {
    answered(Agent::Claude, CLAUDE_NO, None);
}

/// A command that is asked about; it has run if `ran` is what the model is told.
fn answered(agent: Agent, steps: Steps, ran: Option<&str>) {
    if !has_program("tmux") {
        return missing("tmux", "agents want a terminal with a screen");
    }
    let command = json!({"command": "echo asked > answered"});
    let turns = vec![agent.call("bash", &command, 1), Part::text("finished")];
    let flags = ["--approval", "unless-trusted"];
    let scene = Scene::new(agent, OwnShell::Off, turns, &flags);
    let Some(program) = scene.command(Use::AtTerminal) else {
        return;
    };
    let mut screen = Screen::start(&scene.place, &program);
    screen.expect("May this run?");
    screen.expect("| echo asked > answered");
    let file = scene.place.work().join("answered");
    for (seen, key) in steps {
        screen.expect(seen);
        assert!(!exists(&file), "nothing runs before the answer");
        screen.press(key);
    }
    screen.expect("finished");
    let asked = scene.asked();
    let told = &asked.last().unwrap().body;
    if let Some(text) = ran {
        assert_eq!(fs::read_to_string(&file).unwrap(), "asked\n");
        assert!(told.contains(text), "{told}");
    } else {
        assert!(!exists(&file));
        assert!(told.contains("denied_by_user: the user said no"), "{told}");
    }
}
