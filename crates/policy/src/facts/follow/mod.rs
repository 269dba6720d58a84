//! Following wrappers to what they run, and shells to what they read.

mod environment;
mod find;
mod shell;

use super::{
    command::Position,
    options::Arguments,
    unclear::Obstacle,
    walk::{Spot, Walker},
    word::{Piece, Word},
    wrapper::{self, Runs, Wrapper},
};
use crate::shell::ShellKind;

pub(crate) use find::find_starts;
pub(crate) use shell::{ShellInput, shell_input};

/// How many wrappers around one another are seen through.
const MAX_WRAPPERS: u8 = 16;

/// Follows a command that was just noted, if it is a wrapper.
pub(in crate::facts) fn wrapped(walker: &mut Walker, index: usize, spot: &Spot) {
    let command = &walker.facts.commands[index];
    if command.program().is_none() {
        return;
    }
    let words = command.words.clone();
    let Some(wrapper) = wrapper::find(program_name(&words)) else {
        return;
    };
    if spot.wrapped >= MAX_WRAPPERS {
        return walker.unclear(Obstacle::TooDeep, &words[0].text.clone());
    }
    let inside = Spot {
        via: Some(index),
        wrapped: spot.wrapped + 1,
        ..spot.clone()
    };
    let found = wrapper.options.read(&words[1..]);
    let followed = follow(walker, wrapper, &words, &found, &inside);
    walker.facts.commands[index].wrapper = followed == Followed::Through;
    split_words(walker, index);
    if followed == Followed::Hidden {
        let text = words
            .iter()
            .map(|w| w.text.as_str())
            .collect::<Vec<_>>()
            .join(" ");
        walker.unclear(Obstacle::WrapperOptions, &text);
    }
}

/// A wrapper's own words that the shell splits: what is left over of them is the program, unless
/// they are numbers.
fn split_words(walker: &mut Walker, index: usize) {
    let command = &walker.facts.commands[index];
    if command.wrapper {
        let own = crate::classify::own_words(command).iter();
        for word in own.filter(|word| word.several).cloned().collect::<Vec<_>>() {
            walker.numbers.evaluates_word(&word);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// It runs nothing else here: an ordinary program.
    Plain,
    Through,
    Hidden,
}

pub(in crate::facts) fn program_name(words: &[Word]) -> &str {
    crate::facts::base_name(words[0].literal().unwrap_or_default())
}

fn follow(
    walker: &mut Walker,
    wrapper: &Wrapper,
    words: &[Word],
    found: &Arguments<'_>,
    spot: &Spot,
) -> Followed {
    let unknown = !found.unknown.is_empty();
    let asks = words
        .get(1)
        .is_some_and(|w| matches!(w.literal(), Some("-v" | "-V" | "-pv" | "-pV")));
    if asks && program_name(words) == "command" {
        return Followed::Plain;
    }
    let only_asks = |w: &Word| w.is("--version") || w.is("--help");
    if words.len() == 2 && only_asks(&words[1]) {
        return Followed::Plain;
    }
    let rest = &words[1 + found.rest..];
    match wrapper.runs {
        Runs::Program { skip } => program(walker, rest, skip, unknown, spot),
        Runs::Assignments => environment::assignments(walker, words, rest, found, spot),
        Runs::Supplied => {
            let spot = Spot {
                supplied: true,
                ..spot.clone()
            };
            program(walker, rest, 0, unknown, &spot)
        }
        Runs::Parallel => parallel(walker, rest, unknown, spot),
        Runs::Joined { skip } => {
            joined(walker, rest.get(skip..).unwrap_or_default(), unknown, spot)
        }
        Runs::Option(names) => {
            let names: Vec<&str> = names.split(' ').collect();
            match found.value(&names) {
                Some(script) => text(walker, &script.clone(), spot),
                None if unknown => Followed::Hidden,
                None => Followed::Plain,
            }
        }
        Runs::Locked => match rest.get(1) {
            Some(flag) if flag.is("-c") || flag.is("--command") => match rest.get(2) {
                Some(script) if !unknown => text(walker, script, spot),
                _ => Followed::Hidden,
            },
            _ => program(walker, rest, 1, unknown, spot),
        },
        Runs::Operand(at) => match rest.get(at) {
            _ if unknown => Followed::Hidden,
            Some(script) if rest.len() > at + 1 && !script.is("-") => text(walker, script, spot),
            _ => Followed::Plain,
        },
        Runs::Shell => shell::shell(walker, words, spot),
        Runs::Find => find::find(walker, words, spot),
        Runs::Alias => {
            for operand in &found.operands {
                let value = operand.literal().and_then(|w| w.split_once('='));
                match value {
                    Some((_, script)) => _ = text(walker, &Word::of(script), spot),
                    None if operand.literal.is_none() => {
                        walker.unclear(Obstacle::ComputedScript, &operand.text);
                    }
                    None => {}
                }
            }
            Followed::Plain
        }
        Runs::Subcommand(name) => subcommand(walker, words, name, spot),
        Runs::Flagged(flag) if found.has(&[flag]) => program(walker, rest, 0, unknown, spot),
        Runs::Flagged(_) => Followed::Plain,
    }
}

/// A program and its arguments after the wrapper's own operands.
fn program(
    walker: &mut Walker,
    rest: &[Word],
    skip: usize,
    unknown: bool,
    spot: &Spot,
) -> Followed {
    match rest.get(skip..) {
        _ if unknown => Followed::Hidden,
        Some(inner) if !inner.is_empty() => {
            walker.command(inner.to_vec(), Vec::new(), spot);
            Followed::Through
        }
        _ => Followed::Plain,
    }
}

/// The rest, joined with blanks, is a script.
fn joined(walker: &mut Walker, rest: &[Word], unknown: bool, spot: &Spot) -> Followed {
    if unknown {
        return Followed::Hidden;
    }
    if rest.is_empty() {
        return Followed::Plain;
    }
    let mut pieces = Vec::new();
    for word in rest {
        if !pieces.is_empty() {
            pieces.push(Piece::Text(" ".into()));
        }
        pieces.extend(word.as_pieces());
    }
    let source = rest
        .iter()
        .map(|w| w.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    text(walker, &Word::from_pieces(source, pieces), spot)
}

/// A word that is a script.
fn text(walker: &mut Walker, script: &Word, spot: &Spot) -> Followed {
    let kind = if walker.kind.is_bourne() {
        walker.kind
    } else {
        ShellKind::Bash
    };
    script_text(walker, script, kind, Position::Script, spot);
    Followed::Through
}

pub(in crate::facts) fn script_text(
    walker: &mut Walker,
    script: &Word,
    kind: ShellKind,
    position: Position,
    spot: &Spot,
) {
    let spot = Spot {
        position,
        depth: spot.depth + 1,
        ..spot.clone()
    };
    if let Some(literal) = script.literal() {
        if spot.supplied && literal.contains("{}") {
            walker.unclear(Obstacle::SuppliedScript, &script.text);
        }
        walker.text(literal, kind, &spot);
        return;
    }
    walker.unclear(Obstacle::ComputedScript, &script.text);
    let spot = Spot {
        supposed: true,
        ..spot
    };
    for words in script.supposed(4) {
        let parts: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
        if let Some(parts) = parts {
            walker.text(&parts.join(" "), kind, &spot);
        }
    }
}

/// `parallel program ::: arguments`; the program may also be one word that holds a script.
fn parallel(walker: &mut Walker, rest: &[Word], unknown: bool, spot: &Spot) -> Followed {
    let end = rest
        .iter()
        .position(|w| w.known_start().starts_with(":::"))
        .unwrap_or(rest.len());
    let spot = Spot {
        supplied: true,
        ..spot.clone()
    };
    match &rest[..end] {
        _ if unknown => Followed::Hidden,
        [] => {
            walker.unclear(Obstacle::SuppliedScript, "parallel");
            Followed::Through
        }
        [script] if script.literal().is_none_or(|w| w.contains(' ')) => text(walker, script, &spot),
        inner => joined(walker, inner, false, &spot),
    }
}

/// `uv run program`.
fn subcommand(walker: &mut Walker, words: &[Word], name: &str, spot: &Spot) -> Followed {
    let Some(at) = words.iter().position(|w| w.is(name)) else {
        return Followed::Plain;
    };
    if at != 1 {
        return Followed::Plain;
    }
    match words.get(at + 1) {
        Some(first) if first.literal().is_some_and(|w| !w.starts_with('-')) => {
            walker.command(words[at + 1..].to_vec(), Vec::new(), spot);
            Followed::Through
        }
        Some(_) => Followed::Hidden,
        None => Followed::Plain,
    }
}
