//! Commands made from tables of programs and options: none of the harmful ones is read-only or safe,
//! and how many of the harmless ones ask under each policy stands in the guide.

use ringfence_policy::{ShellKind, classify::Class, permissions::ApprovalPolicy};

#[path = "generated/mod.rs"]
mod tables;
mod verdicts;

use tables::{HARMFUL, HARMLESS, Made};
use verdicts::{asks, class};

/// What else stands around a command without changing what it is.
const FRAMES: &[&str] = &[
    "@",
    "@ | head",
    "@; echo done",
    "echo start && @",
    "time @",
    "( @ )",
    "if true; then @\nfi",
    "@ 2>&1 | tail -5",
    "bash -c 'Q'",
];

/// A thousand commands, evenly from the table and the frames.
fn thousand(table: &[Made]) -> Vec<String> {
    let mut plain = Vec::new();
    for row in table {
        for option in row.options {
            for operand in row.operands {
                let parts = [row.program, option, operand];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                plain.push(parts.join(" ").replace("./ ", "./"));
            }
        }
    }
    plain.sort();
    plain.dedup();
    let mut all = plain.clone();
    for (at, frame) in FRAMES.iter().enumerate().skip(1) {
        // Each frame around every third command, so that all of them stand in some.
        for command in plain.iter().skip(at % 3).step_by(3) {
            if command.contains("<(") || command.ends_with('&') {
                continue;
            }
            let quoted = command.replace('\'', "'\\''");
            all.push(frame.replace('@', command).replace('Q', &quoted));
        }
    }
    all.sort();
    all.dedup();
    assert!(all.len() >= 1000, "only {} commands", all.len());
    (0..1000)
        .map(|at| all[at * all.len() / 1000].clone())
        .collect()
}

#[test]
fn no_harmful_command_is_read_only_or_safe() {
    let mut wrong = Vec::new();
    for command in thousand(HARMFUL) {
        for kind in [ShellKind::Bash, ShellKind::Sh, ShellKind::Zsh] {
            let found = class(&command, kind);
            if found <= Class::Safe {
                wrong.push(format!("{kind:?} {found}: {command}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_guide_says_how_many_harmless_commands_ask() {
    let commands = thousand(HARMLESS);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command-classes.md");
    let page = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}"));
    for policy in ApprovalPolicy::ALL {
        let asking: Vec<&String> = commands.iter().filter(|c| asks(c, policy)).collect();
        let row = format!("| `{policy}` | {} |", asking.len());
        #[allow(clippy::print_stdout, reason = "the share is what the test is about")]
        {
            println!("of 1,000 harmless commands ask: {row}");
        }
        assert!(
            page.contains(&row),
            "the guide does not say {row}; asking are, among others:\n{:#?}",
            asking
                .iter()
                .step_by(1 + asking.len() / 60)
                .collect::<Vec<_>>()
        );
    }
}
