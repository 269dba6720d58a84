//! Judging one simple command by the tables.

mod case;
mod options;
mod redirection;
mod variables;
mod windows;
mod words;

use super::{Class, Findings, exception, git, lurking, path::spread, tables, touch};
use crate::{
    facts::{
        Facts, SimpleCommand, Word, base_name,
        wrapper::{self, Runs},
    },
    ground::Ground,
    shell::ShellKind,
};

pub(in crate::classify) use case::Case;
pub(in crate::classify) use options::abbreviates;
pub(in crate::classify) use redirection::judge_redirection;
pub(in crate::classify) use variables::variables;
pub(in crate::classify) use words::shown;
pub(crate) use words::{has_subcommands, own_words, without_global_options};

/// Folders in which a program is the one that its name says.
const SYSTEM_FOLDERS: &[&str] = &[
    "/bin/",
    "/usr/bin/",
    "/usr/local/bin/",
    "/sbin/",
    "/usr/sbin/",
    "/usr/local/sbin/",
    "/opt/homebrew/bin/",
];

/// Judges a command and what it does to files.
pub(in crate::classify) fn judge(
    command: &SimpleCommand,
    facts: &Facts,
    ground: &Ground,
    findings: &mut Findings,
) {
    if command.lurking {
        return lurking::judge(command, facts, ground, findings);
    }
    variables(command, facts, ground, findings);
    of_words(command, facts, ground, findings);
}

/// Judges a command by its words alone.
pub(in crate::classify) fn of_words(
    command: &SimpleCommand,
    facts: &Facts,
    ground: &Ground,
    findings: &mut Findings,
) {
    let text = shown(command);
    if let Some(kind) = facts.shell.filter(|kind| !kind.is_bourne()) {
        windows::judge_windows(command, kind, &text, findings);
        return;
    }
    let Some(program) = command.program() else {
        return;
    };
    let name = base_name(program);
    let own = own_words(command);
    let case = Case {
        command,
        words: own,
        ground,
        text: &text,
    };
    let own_program = by_path(&case, program, findings);
    if exception::prints_version(command) && own_program != Some(false) {
        let why = "it prints its version or its usage";
        return findings.add(Class::Safe, &text, why);
    }
    let leaves = LEAVES_A_FILE.contains(&name);
    let transparent = |w: &wrapper::Wrapper| w.transparent && w.runs != Runs::Find;
    if command.wrapper && !leaves && wrapper::find(name).is_some_and(transparent) {
        return findings.add(
            Class::ReadOnly,
            &text,
            "it runs another program, which is judged itself",
        );
    }
    let history = |word: &Word| word.is("history") || word.is("ohistory");
    if matches!(name, "set" | "shopt" | "setopt" | "unsetopt") && own.iter().any(history) {
        findings.add(
            Class::Dangerous,
            &text,
            "it tampers with the shell's history",
        );
    }
    match tables::find(name) {
        Some(tool) if matches!(name, "find" | "gfind") => {
            case.tool(tool, &without_programs(&own[1..]), findings);
        }
        Some(tool) => {
            if name == "git" {
                git::folder(&case, tool, findings);
            }
            case.tool(tool, &own[1..], findings);
            case.module(tool, findings);
        }
        None if own_program == Some(true) => {}
        None if facts.functions.iter().any(|f| f.name == program) => {
            findings.add(
                Class::ReadOnly,
                &text,
                "it calls a function of the same text",
            );
        }
        None => findings.add(
            Class::Unknown,
            &text,
            format!("`{name}` is not a program that is known"),
        ),
    }
}

/// Wrappers that write a file of their own.
const LEAVES_A_FILE: &[&str] = &["flock", "script", "nohup"];

/// A program that is named by its path: whether it is one of the workspace, or none of a kind that is
/// known. Nothing if it is found by its name, or in a folder of the system.
fn by_path(case: &Case<'_>, program: &str, findings: &mut Findings) -> Option<bool> {
    if !program.contains('/') || is_system_program(program) {
        return None;
    }
    let place = spread(&case.command.words[0], &case.command.directory, case.ground);
    let (class, why) = touch::reading(&place, case.ground);
    let own = place.is_in(&case.ground.workspace);
    if !why.is_empty() {
        findings.add(class.max(Class::Unknown), case.text, why);
    } else if own {
        findings.add(Class::Safe, case.text, "it runs a program of the workspace");
    } else {
        findings.add(Class::Unknown, case.text, "it runs a program by its path");
    }
    Some(own)
}

/// Whether a part of the text is read by Zsh.
pub(in crate::classify) fn involves_zsh(facts: &Facts) -> bool {
    let zsh = |c: &SimpleCommand| c.program().is_some_and(|p| base_name(p).ends_with("zsh"));
    facts.shell == Some(ShellKind::Zsh) || facts.commands.iter().any(zsh)
}

/// Whether a program is named by its path in a folder of the system.
pub(crate) fn is_system_program(program: &str) -> bool {
    SYSTEM_FOLDERS
        .iter()
        .any(|folder| program.strip_prefix(folder) == Some(base_name(program)))
}

/// The words of `find` without the programs it runs, which are judged themselves.
fn without_programs(words: &[Word]) -> Vec<Word> {
    let mut kept = Vec::new();
    let mut inside = false;
    for (index, word) in words.iter().enumerate() {
        if inside {
            inside = !(word.is(";") || (word.is("+") && words[index - 1].is("{}")));
            continue;
        }
        inside = ["-exec", "-execdir", "-ok", "-okdir"]
            .iter()
            .any(|option| word.is(option));
        kept.push(word.clone());
    }
    kept
}
