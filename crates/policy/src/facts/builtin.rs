//! Builtins of the shell that set variables, or evaluate what they are given.
//!
//! Which variable is set must be known, or it might be one that names programs; a name with an
//! index is evaluated, and so are the operands of comparisons in some shells.

mod condition;

use super::{
    command::Assignment,
    follow::program_name,
    options::{Arguments, Grammar, Style, may_be_option},
    unclear::Obstacle,
    walk::Walker,
    word::{Piece, Word},
};
use crate::shell::ShellKind;
pub(super) use condition::compared;

/// Whether the arguments of a builtin are assignments.
pub(super) fn declares(name: &str) -> bool {
    matches!(
        name,
        "export" | "declare" | "local" | "readonly" | "typeset"
    )
}

/// Looks at a command that was just noted, in case it is such a builtin.
pub(super) fn look(walker: &mut Walker, index: usize) {
    let command = &walker.facts.commands[index];
    if command
        .program()
        .is_none_or(|program| program.contains('/'))
    {
        return;
    }
    let (words, given) = (command.words.clone(), command.assignments.clone());
    let arguments = &words[1..];
    match program_name(&words) {
        "read" if walker.kind == ShellKind::Zsh => names(walker, read_by_zsh(arguments)),
        "read" => {
            let found = read("-r -s -e -a: -d: -i: -n: -N: -p: -t: -u:", arguments);
            names(walker, found.operands.iter().copied());
            names(walker, found.value(&["-a"]));
        }
        "mapfile" | "readarray" => {
            let found = read("-t -d: -n: -O: -s: -u: -c: -C:", arguments);
            names(walker, found.operands.iter().copied());
            if found.has(&["-C"]) || !found.unknown.is_empty() {
                walker.unclear(Obstacle::HiddenSubstitution, &words[0].text);
            }
        }
        "getopts" => names(walker, arguments.get(1)),
        "unset" => names(walker, read("-v -f -n", arguments).operands.iter().copied()),
        "wait" => names(walker, read("-f -n -p:", arguments).value(&["-p"])),
        "printf" => printf(walker, arguments),
        "let" => {
            walker.hidden(arguments);
            for word in arguments {
                walker.numbers.evaluates_word(word);
            }
        }
        "test" | "[" => condition::tested(walker, arguments),
        "exit" | "return" | "break" | "continue" | "shift" if walker.kind != ShellKind::Bash => {
            for word in arguments {
                walker.numbers.evaluates_word(word);
            }
        }
        name if declares(name) => declared(walker, arguments, &given),
        _ => {}
    }
}

fn read<'w>(options: &'static str, arguments: &'w [Word]) -> Arguments<'w> {
    let grammar = Grammar {
        options,
        style: Style::Posix,
    };
    let mut found = grammar.read(arguments);
    if found.rest < arguments.len() {
        found.operands = arguments[found.rest..].iter().collect();
    }
    found
}

/// What zsh evaluates of the words of `read`: all but letters of options, and what `-d` is given.
fn read_by_zsh(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    let mut words = arguments.iter();
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            let letters = word.literal().and_then(|word| word.strip_prefix('-'));
            let plain = |letters: &str| letters.bytes().all(|b| b.is_ascii_alphanumeric());
            match letters.filter(|letters| plain(letters)) {
                Some(letters) if letters.ends_with('d') => _ = words.next(),
                Some(_) => {}
                None => return Some(word),
            }
        }
    })
}

/// Variables that get a value which is not known.
fn names<'w>(walker: &mut Walker, words: impl IntoIterator<Item = &'w Word>) {
    for word in words {
        walker.hidden(std::slice::from_ref(word));
        let known = word.literal().map(|name| (plain_name(name), name));
        match known {
            Some((Some(name), _)) => {
                walker.sets(name);
                walker.numbers.is_computed(name);
            }
            Some((None, name)) => {
                let start = name.split('[').next().unwrap_or_default();
                if !start.is_empty() {
                    walker.sets(start);
                }
                walker.doubtful(Obstacle::ComputedName, &word.text);
            }
            None => {
                for value in word.supposed(4).into_iter().flatten() {
                    if let Some(name) = value.literal().and_then(plain_name) {
                        walker.sets(name);
                    }
                }
                walker.doubtful(Obstacle::ComputedName, &word.text);
            }
        }
    }
}

/// The variable that is named, if nothing has to be evaluated to tell: `name`, `name[1]`.
fn plain_name(text: &str) -> Option<&str> {
    let (name, index) = match text.split_once('[') {
        Some((name, index)) => (name, index.strip_suffix(']')?),
        None => (text, "0"),
    };
    let first = name.bytes().next()?;
    let plain = !first.is_ascii_digit()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && (matches!(index, "@" | "*") || index.bytes().all(|b| b.is_ascii_digit()));
    plain.then_some(name)
}

fn printf(walker: &mut Walker, arguments: &[Word]) {
    if let Some(format) = arguments.first().filter(|format| may_be_option(format)) {
        walker.doubtful(Obstacle::ComputedName, &format.text);
    }
    let named = match arguments.first() {
        Some(first) if first.is("-v") => arguments.get(1).cloned(),
        Some(first) if first.known_start().starts_with("-v") => {
            let mut pieces = first.as_pieces();
            if let Some(Piece::Text(text)) = pieces.first_mut() {
                *text = text.split_off(2);
            }
            Some(Word::from_pieces(first.text.clone(), pieces))
        }
        _ => None,
    };
    names(walker, named.as_ref());
    if walker.kind == ShellKind::Zsh {
        // There a number may be an expression.
        let plain = |word: &&Word| word.literal().is_some_and(|w| !w.contains('['));
        let numeric = arguments.first().is_none_or(|format| {
            format.literal().is_none_or(|f| {
                let kinds = f.split('%').skip(1);
                let mut kinds = kinds.filter_map(|k| k.chars().find(char::is_ascii_alphabetic));
                kinds.any(|kind| !"sbq".contains(kind))
            })
        });
        if numeric && let Some(word) = arguments.iter().skip(1).find(|word| !plain(word)) {
            walker.doubtful(Obstacle::EvaluatedValue, &word.text);
        }
    }
}

/// `export`, `declare` and their like. What the reader already took for an assignment is `given`.
fn declared(walker: &mut Walker, arguments: &[Word], given: &[Assignment]) {
    walker.hidden(arguments);
    for word in arguments {
        let start = word.known_start();
        if word.literal.is_some() && start.starts_with(['-', '+']) {
            if start.contains(['n', 'i', 'T', 'E', 'F']) && start.starts_with('-') {
                walker.doubtful(Obstacle::ChangedMeaning, &word.text);
            }
            continue;
        }
        let (name, value) = match start.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None if word.literal.is_some() => (start, None),
            None => ("", None),
        };
        let name = name.strip_suffix('+').unwrap_or(name);
        if given.iter().any(|assignment| assignment.name == name) {
            continue;
        }
        let Some(plain) = plain_name(name) else {
            let array = name.split('[').next().unwrap_or_default().to_owned();
            if !array.is_empty() {
                walker.sets(&array);
            }
            walker.doubtful(Obstacle::ComputedName, &word.text);
            continue;
        };
        let Some(value) = value else { continue };
        let mut pieces = vec![Piece::Text(value.to_owned())];
        pieces.extend(word.pieces.iter().skip(1).cloned());
        let assignment = Assignment {
            name: plain.to_owned(),
            value: Word::from_pieces(word.text.clone(), pieces),
        };
        walker.assign(plain, &assignment.value);
        walker.numbers.is_computed(plain);
        walker.facts.assignments.push(assignment);
    }
}
