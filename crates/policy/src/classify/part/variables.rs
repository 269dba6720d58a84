//! The variables that are set for one command, or by it.

use super::involves_zsh;
use crate::{
    classify::{
        Findings,
        environment::{self, Seen, Setting},
    },
    facts::{Assignment, Facts, SimpleCommand},
    ground::Ground,
};

/// Builtins of the shell: what is set for one of them is seen by no program.
const BUILTINS: &[&str] = &[
    ":",
    "true",
    "false",
    "echo",
    "printf",
    "read",
    "mapfile",
    "readarray",
    "cd",
    "pwd",
    "test",
    "[",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "set",
    "shift",
    "exit",
    "return",
    "wait",
    "trap",
    "alias",
    "history",
    "type",
    "getopts",
    "let",
    "umask",
    "break",
    "continue",
];

/// The variables that are set for one command, or by it.
pub(in crate::classify) fn variables(
    command: &SimpleCommand,
    facts: &Facts,
    ground: &Ground,
    findings: &mut Findings,
) {
    let name = command.program().unwrap_or_default();
    let shells = |c: &SimpleCommand| is_builtin(c) || c.wrapper;
    let exports = exports(command) && !facts.commands.iter().all(shells);
    let splits = |name: &str| name == "IFS" && command.words[0].is("read");
    let mut setting = Setting {
        seen: Seen::Programs,
        zsh: involves_zsh(facts),
        directory: &command.directory,
        ground,
    };
    if !exports && BUILTINS.contains(&name) {
        setting.seen = Seen::Shell;
    }
    let given = command.assignments.iter();
    for assignment in given.filter(|assignment| !splits(&assignment.name)) {
        environment::judge(assignment, &setting, findings);
    }
    if exports {
        for word in &command.words[1..] {
            let named = word.known_start().split('=').next().unwrap_or_default();
            let option = named.starts_with(['-', '+']) || named.is_empty();
            let known = command.assignments.iter().any(|given| given.name == named);
            if !option && !known {
                let value = word.clone();
                let assignment = Assignment {
                    name: named.to_owned(),
                    value,
                };
                environment::judge(&assignment, &setting, findings);
            }
        }
    }
}

fn is_builtin(command: &SimpleCommand) -> bool {
    let name = command.program();
    name.is_some_and(|program| BUILTINS.contains(&program))
}

/// Whether a builtin hands variables on to programs.
fn exports(command: &SimpleCommand) -> bool {
    match command.program() {
        Some("export") => !command
            .words
            .iter()
            .any(|word| word.is("-n") || word.is("-p")),
        Some("declare" | "typeset" | "local" | "readonly") => command.words.iter().any(|word| {
            let start = word.known_start();
            start.starts_with('-') && start.contains('x')
        }),
        _ => false,
    }
}
