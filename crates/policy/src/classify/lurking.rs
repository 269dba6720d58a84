//! Commands that lurk among the words of a program that nobody knows: it may run them.
//!
//! `frobnicate rm -rf /` is refused although what `frobnicate` does is not known. Only dangers count:
//! a word that is the name of a program is mostly just a word.

use super::{Class, Findings, part, tables};
use crate::{
    facts::{Facts, SimpleCommand, Word, base_name, wrapper},
    ground::Ground,
    shell::ShellKind,
};

/// Programs that run what their arguments say, here or somewhere else.
const RUNNERS: &[&str] = &[
    "npx", "pnpx", "bunx", "uvx", "pipx", "tmux", "screen", "docker", "podman", "nerdctl",
    "kubectl", "oc", "ssh", "gdb", "lldb", "at", "batch", "rustup", "mise", "asdf", "direnv",
];

/// Of those, the ones that run it somewhere else: what is dangerous here is not so there.
const ELSEWHERE: &[&str] = &["docker", "podman", "nerdctl", "kubectl", "oc", "ssh"];

/// How many words are looked at.
const MAX_WORDS: usize = 12;

/// The places among the words of a command where another one may begin.
pub(crate) fn may_hold_a_command(words: &[Word]) -> Vec<usize> {
    let Some(program) = words.first().and_then(Word::literal) else {
        return Vec::new();
    };
    let name = base_name(program);
    if !RUNNERS.contains(&name) && is_known(name) {
        return Vec::new();
    }
    let begins = |word: &Word| word.literal().is_some_and(|w| is_known(base_name(w)));
    let found = words.iter().enumerate().skip(1).take(MAX_WORDS);
    found
        .filter(|(_, word)| begins(word))
        .map(|(at, _)| at)
        .collect()
}

fn is_known(name: &str) -> bool {
    tables::find(name).is_some()
        || wrapper::find(name).is_some()
        || ShellKind::of_program(name).is_some()
}

/// Judges a command that lurks in another one: only what it would destroy counts.
pub(super) fn judge(
    command: &SimpleCommand,
    facts: &Facts,
    ground: &Ground,
    findings: &mut Findings,
) {
    let host = command.via.and_then(|at| facts.commands.get(at));
    let host = host.and_then(SimpleCommand::program).map(base_name);
    let elsewhere = host.is_some_and(|name| ELSEWHERE.contains(&name));
    // `npm init`, `vagrant halt`: a name that is dangerous by itself is also just a word.
    let name = command.program().map(base_name).unwrap_or_default();
    let by_name = tables::find(name).is_some_and(|tool| tool.class == Class::Dangerous);
    let device = |word: &Word| word.known_start().starts_with("/dev/");
    if elsewhere || (by_name && !command.words.iter().any(device)) {
        return;
    }
    let mut inner = Findings::default();
    part::of_words(command, facts, ground, &mut inner);
    for reason in inner.finish().reasons {
        if reason.class == Class::Dangerous {
            findings.add(reason.class, &reason.part, reason.why);
        }
    }
}
