//! Downloads that are run: by a pipe, by a substitution, or from a file that they were saved to.

use super::{downloads, lower_name, written::run_names};
use crate::{
    classify::{Class, Findings, part::shown},
    facts::{
        Direction, Facts, SimpleCommand, Word, base_name,
        follow::{ShellInput, shell_input},
    },
    shell::ShellKind,
};

/// A download that flows into something that runs it: by a pipe, or by a substitution in its
/// arguments.
pub(super) fn downloaded(
    facts: &Facts,
    sources: &[&SimpleCommand],
    runner: &SimpleCommand,
    findings: &mut Findings,
) {
    let takes = takes_input(runner);
    let by_pipe = || {
        let mut sources = sources.iter().copied();
        sources.find(|source| takes && source.feeds(runner))
    };
    let by_word = || {
        runner
            .holds
            .iter()
            .filter_map(|index| facts.commands.get(*index))
            .find(|source| downloads(source))
    };
    if let Some(source) = by_word().or_else(by_pipe) {
        let text = format!("{} … {}", shown(source), shown(runner));
        findings.whole(Class::Dangerous, &text, "it runs what it downloads");
    }
}

/// Whether an interpreter in a pipeline runs its standard input rather than a script of its own.
fn takes_input(runner: &SimpleCommand) -> bool {
    let name = lower_name(runner);
    if ShellKind::of_program(&name).is_some_and(ShellKind::is_bourne) {
        return match shell_input(&runner.words) {
            ShellInput::StandardInput | ShellInput::Unknown => true,
            // The script may run its input in turn; what it holds was followed.
            ShellInput::Script(_) => runner.supplied,
            ShellInput::File(_) => false,
        };
    }
    if runner.supplied {
        return true;
    }
    match name.as_str() {
        "source" | "." => runner.reads_script(),
        "eval" => false,
        _ => {
            // `python script.py` and `node -e …` treat the download as data.
            let mut rest = runner.words[1..].iter();
            !rest.any(|word| match word.literal() {
                Some("-" | "/dev/stdin" | "-s" | "-u" | "-i" | "-q") => false,
                Some(flag) if flag.starts_with('-') => matches!(
                    flag,
                    "-c" | "-e"
                        | "-m"
                        | "-p"
                        | "-r"
                        | "-E"
                        | "-n"
                        | "-ne"
                        | "-pe"
                        | "--eval"
                        | "--print"
                        | "-f"
                        | "-l"
                        | "-lne"
                        | "-lane"
                        | "-d"
                        | "-h"
                        | "-U"
                ),
                _ => true,
            })
        }
    }
}

/// A download that is saved to a file which the same text runs.
pub(super) fn saved_and_run(facts: &Facts, findings: &mut Findings) {
    let mut saved: Vec<(String, &SimpleCommand)> = Vec::new();
    for command in facts.commands.iter().filter(|command| downloads(command)) {
        saved.extend(saved_names(command).into_iter().map(|name| (name, command)));
        let written = facts.redirections.iter().filter(|r| {
            r.direction != Direction::Read
                && (r.pipeline == command.pipeline
                    || command.ancestry.iter().any(|(id, _)| *id == r.pipeline))
        });
        saved.extend(
            written
                .filter_map(|r| r.target.literal())
                .map(|name| (base_name(name).to_owned(), command)),
        );
        let sinks = facts.commands.iter().filter(|c| {
            c.program().is_some_and(|p| {
                matches!(
                    base_name(p),
                    "tee" | "dd" | "sponge" | "base64" | "tar" | "gunzip" | "unzip"
                )
            }) && command.feeds(c)
        });
        for sink in sinks {
            let names = sink.words[1..]
                .iter()
                .filter_map(Word::literal)
                .filter(|w| !w.starts_with('-'));
            saved.extend(names.map(|name| {
                (
                    base_name(name.trim_start_matches("of=")).to_owned(),
                    command,
                )
            }));
        }
    }
    saved.retain(|(name, _)| {
        !matches!(
            name.as_str(),
            "" | "null" | "-" | "stdout" | "stderr" | "tty"
        )
    });
    if saved.is_empty() {
        return;
    }
    for command in &facts.commands {
        for run in run_names(command) {
            if let Some((name, source)) = saved.iter().find(|(name, _)| *name == run) {
                let text = format!("{} … {}", shown(source), shown(command));
                findings.whole(
                    Class::Dangerous,
                    &text,
                    format!("it runs what it downloads ({name})"),
                );
            }
        }
    }
}

/// The names of the files that a download is saved to.
fn saved_names(command: &SimpleCommand) -> Vec<String> {
    let mut names = Vec::new();
    let mut words = command.words[1..].iter().peekable();
    while let Some(word) = words.next() {
        let Some(value) = word.literal() else {
            continue;
        };
        let takes_name = matches!(
            value,
            "-o" | "-O"
                | "--output"
                | "--output-document"
                | "-OutFile"
                | "-outfile"
                | "-d"
                | "--out"
        ) || (value.starts_with('-')
            && !value.starts_with("--")
            && value.ends_with(['o', 'O']));
        if takes_name {
            if let Some(next) = words.peek().and_then(|w| w.literal()) {
                names.push(base_name(next).to_owned());
            }
        } else if let Some((_, name)) = value
            .split_once('=')
            .filter(|(option, _)| option.starts_with("--output"))
        {
            names.push(base_name(name).to_owned());
        } else if let Some(name) = value
            .strip_prefix("-o")
            .or_else(|| value.strip_prefix("-O"))
        {
            names.push(base_name(name).to_owned());
        }
        if !value.starts_with('-') && value.contains('/') {
            let path = value.split(['?', '#']).next().unwrap_or(value);
            names.push(base_name(path.trim_end_matches('/')).to_owned());
        }
    }
    if matches!(lower_name(command).as_str(), "scp" | "rsync" | "sftp") {
        names.extend(
            command
                .words
                .last()
                .and_then(|w| w.literal())
                .map(|w| base_name(w).to_owned()),
        );
    }
    names
}
