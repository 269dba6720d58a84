//! How far the words of one command may be generalised.

use crate::{
    classify,
    facts::{SimpleCommand, Word, base_name, wrapper},
    rule::Prefix,
    sensitive::program::{self, Width},
    shell::ShellKind,
};

/// Words after which the next one says what is really meant.
const DEEPER: &[&str] = &[
    "run",
    "run-script",
    "exec",
    "x",
    "dlx",
    "compose",
    "remote",
    "tool",
    "-m",
    "stash",
    "submodule",
    "worktree",
    "pr",
    "issue",
    "container",
    "image",
    "network",
    "volume",
    "config",
    "install",
    "add",
];

/// Longest prefix that is still offered as the exact command.
const MAX_EXACT: usize = 12;

/// The prefixes to offer for a command, from narrow to broad; none if a word that matters is
/// computed.
pub(super) fn widths(command: &SimpleCommand) -> Vec<Prefix> {
    let Some(program) = command.program() else {
        return Vec::new();
    };
    let literal: Vec<&str> = command.words.iter().map_while(Word::literal).collect();
    if says_too_little(base_name(program), &literal) {
        return Vec::new();
    }
    let all_literal = literal.len() == command.words.len() && !command.supplied;
    let mut lengths = Vec::new();
    if all_literal
        && literal.len() <= MAX_EXACT
        && literal.iter().map(|w| w.len()).sum::<usize>() <= 400
    {
        lengths.push(literal.len());
    }
    let least = least_words(command, program, &literal);
    let broad = broad_words(&literal).max(least);
    let middle = (broad + 1).min(literal.len());
    let plain = |length: usize| {
        literal
            .get(length - 1)
            .is_some_and(|word| !word.starts_with('-') || DEEPER.contains(word))
    };
    if middle > broad && plain(middle) {
        lengths.push(middle);
    }
    if broad <= literal.len() {
        lengths.push(broad);
    }
    lengths.retain(|length| *length >= least && *length <= literal.len());
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    lengths.dedup();
    lengths
        .into_iter()
        .map(|length| Prefix::of(literal[..length].iter().copied()))
        .collect()
}

/// Commands that no prefix can be made from: what follows it decides what they do. `rm -r build` is
/// also how `rm -r build ~` begins, and `git -C folder` how every command of git does.
fn says_too_little(name: &str, literal: &[&str]) -> bool {
    let option_first = literal.get(1).is_some_and(|word| word.starts_with('-'));
    let container = matches!(name, "docker" | "podman" | "nerdctl" | "docker-compose");
    let runs = |word: &&str| matches!(*word, "run" | "exec" | "create");
    matches!(name, "rm" | "grm" | "rmdir" | "unlink" | "shred" | "dd")
        || (classify::has_subcommands(name) && option_first)
        || (container && literal.iter().any(runs))
}

/// How many words a rule must have at least.
fn least_words(command: &SimpleCommand, program: &str, literal: &[&str]) -> usize {
    let name = base_name(program);
    let width = program::width(name);
    if width != Width::Program {
        // An option says nothing about what is run: `python -c`, `sh -x script`.
        let operand = literal
            .iter()
            .skip(1)
            .position(|word| !word.starts_with('-'));
        let runs_text = literal.iter().any(|w| {
            matches!(
                *w,
                "-c" | "-e" | "-p" | "--eval" | "--print" | "-pe" | "-ne"
            ) || (w.starts_with('-')
                && !w.starts_with("--")
                && w.contains('c')
                && ShellKind::of_program(name).is_some())
        });
        return match operand {
            _ if runs_text || width == Width::Whole => command.words.len(),
            Some(at) => at + 2,
            None => command.words.len().max(2),
        };
    }
    if wrapper::find(name).is_some() {
        return classify::own_words(command).len() + 1;
    }
    if classify::has_subcommands(name) || matches!(name, "docker-compose" | "podman-compose") {
        return 2;
    }
    1
}

/// How many words name what the command is about.
fn broad_words(literal: &[&str]) -> usize {
    let is_word = |word: &str| {
        word.chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':'))
            && !word.starts_with('-')
    };
    match literal {
        [_, second, third, ..]
            if DEEPER.contains(second) && (is_word(third) || *second == "-m") =>
        {
            3
        }
        [_, second, ..]
            if is_word(second) && second.starts_with(|c: char| c.is_ascii_alphabetic()) =>
        {
            2
        }
        _ => 1,
    }
}
