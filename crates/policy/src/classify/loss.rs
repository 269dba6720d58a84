//! Work that is lost for good: a source file that is emptied.
//!
//! A file that git does not know, or whose changes were not committed, comes back from nowhere.
//! What git itself throws away stands in its table.

use std::path::Path;

use super::{Class, Findings, part::shown, path::spread};
use crate::{
    facts::{Direction, Facts, Redirection, SimpleCommand, Word, base_name},
    ground::Ground,
};

/// Endings of files that somebody wrote.
#[rustfmt::skip]
const WRITTEN_BY_HAND: &[&str] = &[
    "rs", "py", "pyi", "ipynb", "js", "jsx", "mjs", "cjs", "ts", "tsx", "vue", "svelte", "go", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm",
    "java", "kt", "kts", "scala", "groovy", "clj", "cljs", "ex", "exs", "erl", "hs", "ml", "mli", "fs", "cs", "vb", "swift", "dart", "zig", "nim", "lua",
    "rb", "php", "pl", "pm", "r", "jl", "sh", "bash", "zsh", "fish", "ps1", "sql", "graphql", "proto", "html", "css", "scss", "sass", "less", "md", "rst",
    "adoc", "tex", "toml", "yaml", "yml", "json", "xml", "gradle", "cmake", "tf", "hcl", "nix", "bzl", "el", "vim",
];

/// Files without an ending that somebody wrote.
const BY_NAME: &[&str] = &[
    "Makefile",
    "Dockerfile",
    "Justfile",
    "justfile",
    "Gemfile",
    "Rakefile",
    "Procfile",
    "CMakeLists.txt",
    "LICENSE",
    "README",
    "go.mod",
    ".gitignore",
    ".env",
];

/// Looks for sources that are emptied.
pub(super) fn judge(facts: &Facts, ground: &Ground, findings: &mut Findings) {
    for redirection in &facts.redirections {
        if redirection.direction == Direction::Write
            && is_source(&redirection.target, ground, redirection)
        {
            let writer = redirection.command.and_then(|at| facts.commands.get(at));
            let why = if prints_nothing(writer) {
                "it empties a source file, and nothing brings back what was in it"
            } else if is_read_too(redirection, facts) {
                "it empties a source file before reading it, and nothing brings back what was in it"
            } else {
                continue;
            };
            findings.whole(
                Class::Suspicious,
                &format!("> {}", redirection.target.text),
                why,
            );
        }
    }
    for command in &facts.commands {
        if let Some(target) = emptied(command, facts)
            && is_source_of(&target, command, ground)
        {
            findings.whole(
                Class::Suspicious,
                &shown(command),
                "it empties a source file, and nothing brings back what was in it",
            );
        }
    }
}

fn is_source(word: &Word, ground: &Ground, redirection: &Redirection) -> bool {
    named_like_source(word) && spread(word, &redirection.directory, ground).is_in(&ground.workspace)
}

fn is_source_of(word: &Word, command: &SimpleCommand, ground: &Ground) -> bool {
    named_like_source(word) && spread(word, &command.directory, ground).is_in(&ground.workspace)
}

pub(super) fn named_like_source(word: &Word) -> bool {
    let Some(path) = word.literal().map(Path::new) else {
        return false;
    };
    let ending = path.extension().and_then(|ending| ending.to_str());
    let name = path.file_name().and_then(|name| name.to_str());
    ending.is_some_and(|ending| WRITTEN_BY_HAND.contains(&ending))
        || name.is_some_and(|name| BY_NAME.contains(&name))
}

/// Whether nothing comes out of a command, so that the file it is redirected to is empty.
fn prints_nothing(command: Option<&SimpleCommand>) -> bool {
    let Some(command) = command else { return true };
    let words: Option<Vec<&str>> = command.words.iter().map(Word::literal).collect();
    matches!(
        words.as_deref(),
        Some(
            [":" | "true" | "false", ..]
                | ["cat", "/dev/null"]
                | ["echo", "-n"]
                | ["echo", "-n", ""]
                | ["printf", ""]
        )
    )
}

/// Whether the same pipeline reads the file that is emptied for it.
fn is_read_too(redirection: &Redirection, facts: &Facts) -> bool {
    let Some(target) = redirection.target.literal() else {
        return false;
    };
    let target = target.trim_start_matches("./");
    let same = |word: &Word| {
        word.literal()
            .is_some_and(|w| w.trim_start_matches("./") == target)
    };
    let pipeline = redirection.pipeline;
    let by_word = facts.commands.iter().any(|command| {
        command.pipeline == pipeline
            && command.program().is_some_and(reads_its_words)
            && command.words[1..].iter().any(same)
    });
    let mut others = facts.redirections.iter();
    by_word
        || others.any(|other| {
            other.pipeline == pipeline && other.direction == Direction::Read && same(&other.target)
        })
}

/// Whether the words of a program are files that it reads, rather than text that it prints.
fn reads_its_words(program: &str) -> bool {
    !matches!(
        base_name(program),
        "echo" | "printf" | "test" | "[" | "true" | ":"
    )
}

/// The file that a command makes empty.
fn emptied(command: &SimpleCommand, facts: &Facts) -> Option<Word> {
    let words = &command.words;
    let last = || words.last().cloned();
    match base_name(command.program()?) {
        "cp" | "install" if words.iter().any(|word| word.is("/dev/null")) => last(),
        "dd" if words.iter().any(|word| word.is("if=/dev/null")) => {
            let mut targets = words.iter().filter_map(Word::literal);
            targets
                .find_map(|word| word.strip_prefix("of="))
                .map(Word::of)
        }
        "truncate" => {
            let zero = words.windows(2).any(|w| w[0].is("-s") && w[1].is("0"))
                || words.iter().any(|w| w.is("-s0") || w.is("--size=0"));
            last().filter(|_| zero)
        }
        "tee" => {
            let at = facts
                .commands
                .iter()
                .position(|c| std::ptr::eq(c, command))?;
            let mut inputs = facts.redirections.iter();
            let empty = inputs.any(|r| r.command == Some(at) && r.target.is("/dev/null"));
            last().filter(|_| empty && !words.iter().any(|w| w.is("-a") || w.is("--append")))
        }
        _ => None,
    }
}
