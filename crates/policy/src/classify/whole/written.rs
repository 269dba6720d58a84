//! Files that the same text writes and runs.

use super::interprets;
use crate::{
    classify::{Class, Findings, part::shown},
    facts::{
        Facts, SimpleCommand, Word, base_name,
        follow::{ShellInput, shell_input},
    },
    shell::ShellKind,
};

/// A file that the same text writes and runs: what it does is not known from the file's own history.
pub(super) fn written_and_run(facts: &Facts, findings: &mut Findings) {
    let written = facts.redirections.iter().filter(|r| r.direction.writes());
    let written: Vec<&str> = written
        .filter_map(|r| r.target.literal())
        .chain(
            facts
                .commands
                .iter()
                .filter(|c| {
                    c.program().is_some_and(|p| {
                        matches!(base_name(p), "tee" | "cp" | "mv" | "install" | "dd" | "ln")
                    })
                })
                .flat_map(|c| c.words[1..].iter().filter_map(Word::literal)),
        )
        .map(|name| base_name(name.trim_start_matches("of=")))
        .filter(|name| !matches!(*name, "" | "null"))
        .collect();
    if written.is_empty() {
        return;
    }
    for command in &facts.commands {
        let run = run_names(command)
            .into_iter()
            .find(|name| written.contains(&name.as_str()));
        if let Some(name) = run {
            findings.whole(
                Class::Unknown,
                &shown(command),
                format!("it runs what the same text writes ({name})"),
            );
        }
    }
}

/// The names of the files that a command runs.
pub(super) fn run_names(command: &SimpleCommand) -> Vec<String> {
    let Some(program) = command.program() else {
        return Vec::new();
    };
    let mut names = Vec::new();
    if program.contains('/') {
        names.push(base_name(program).to_owned());
    }
    let loads = matches!(base_name(program), "chmod" | "install")
        && command
            .words
            .iter()
            .any(|w| w.known_start().contains('x') || w.known_start().starts_with('7'));
    let shell = ShellKind::of_program(base_name(program)).is_some_and(ShellKind::is_bourne);
    if shell {
        if let ShellInput::File(at) = shell_input(&command.words) {
            names.extend(
                command.words[at]
                    .literal()
                    .map(|file| base_name(file).to_owned()),
            );
        }
    } else if interprets(command) || loads {
        let operands = command.words[1..].iter().filter_map(Word::literal);
        let files = operands.filter(|w| !w.starts_with('-') && !w.contains(' '));
        names.extend(files.map(|w| base_name(w).to_owned()));
    }
    names
}
