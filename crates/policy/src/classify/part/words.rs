//! Which words of a command are its own, and how it is shown.

use crate::{
    classify::{table::Options, tables},
    facts::{
        SimpleCommand, Word, base_name,
        wrapper::{self, Runs},
    },
};

/// The words of a command that are its own: for a wrapper, those before what it runs.
pub(crate) fn own_words(command: &SimpleCommand) -> &[Word] {
    let words = &command.words;
    if !command.wrapper {
        return words;
    }
    let Some(program) = command.program() else {
        return words;
    };
    let Some(wrapper) = wrapper::find(base_name(program)) else {
        return words;
    };
    let rest = 1 + wrapper.options.read(&words[1..]).rest.min(words.len() - 1);
    let end = match wrapper.runs {
        Runs::Program { skip } => rest + skip,
        Runs::Locked => rest + 1,
        Runs::Supplied | Runs::Parallel | Runs::Joined { .. } | Runs::Flagged(_) => rest,
        Runs::Assignments => {
            rest + words[rest..]
                .iter()
                .take_while(|w| w.known_start().contains('='))
                .count()
        }
        Runs::Shell | Runs::Operand(_) => 1,
        Runs::Subcommand(_) => 2,
        Runs::Option(_) | Runs::Find | Runs::Alias => words.len(),
    };
    &words[..end.min(words.len())]
}

/// The words of a command without the options that stand before its subcommand, if it is known to
/// have such: `git -C folder push` as `git push`.
pub(crate) fn without_global_options(words: &[Word]) -> Option<Vec<Word>> {
    let name = base_name(words.first()?.literal()?);
    let mut tool = tables::find(name)?;
    let mut kept = vec![words[0].clone()];
    let mut rest = &words[1..];
    while !tool.subcommands.is_empty() {
        let at = match tool.options {
            Options::Known(grammar) => {
                let found = grammar.read(rest);
                match found.operands.first() {
                    Some(first) => rest.iter().position(|word| std::ptr::eq(word, *first))?,
                    None => break,
                }
            }
            Options::Any => rest
                .iter()
                .position(|w| !w.known_start().starts_with('-'))?,
        };
        kept.push(rest[at].clone());
        let next = rest[at]
            .literal()
            .and_then(|n| tool.subcommands.iter().find(|s| s.is_named(n)));
        rest = &rest[at + 1..];
        match next {
            Some(next) => tool = next,
            None => break,
        }
    }
    kept.extend_from_slice(rest);
    Some(kept)
}

/// Whether a program is known to have subcommands.
pub(crate) fn has_subcommands(name: &str) -> bool {
    tables::find(name).is_some_and(|tool| !tool.subcommands.is_empty())
}

/// The command as it was written.
pub(in crate::classify) fn shown(command: &SimpleCommand) -> String {
    let mut text = String::new();
    for word in &command.words {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word.text);
        if text.len() > 400 {
            break;
        }
    }
    text
}
