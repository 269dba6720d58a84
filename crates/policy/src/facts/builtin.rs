//! Builtins of the shell that set variables, or evaluate what they are given.
//!
//! Which variable is set must be known, or it might be one that names programs; a name with an
//! index is evaluated, and so are the operands of comparisons in some shells.

use super::{
    bash::tree::Text,
    command::Assignment,
    follow::program_name,
    options::{Arguments, Grammar, Style, may_be_option},
    unclear::Obstacle,
    walk::Walker,
    word::{Piece, Word},
};
use crate::shell::ShellKind;

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
        "test" | "[" => {
            operators(walker, arguments);
            for pair in arguments.windows(2) {
                if pair[0].is("-v") || pair[0].is("-R") {
                    index_of(walker, &pair[1]);
                }
            }
            if walker.kind == ShellKind::Sh {
                comparisons(walker, arguments);
            }
        }
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

/// `-v name`: an index in it is evaluated.
fn index_of(walker: &mut Walker, word: &Word) {
    walker.hidden(std::slice::from_ref(word));
    if word.literal().and_then(plain_name).is_none() {
        walker.doubtful(Obstacle::EvaluatedValue, &word.text);
    }
}

/// Words of a test that may turn out to be its operators: `-v` evaluates an index.
fn operators(walker: &mut Walker, arguments: &[Word]) {
    for (at, word) in arguments.iter().enumerate() {
        if word.literal.is_some() {
            continue;
        }
        let next = arguments.get(at + 1).filter(|next| !next.is("]"));
        let compared = next.is_none_or(|next| {
            let sign = next.literal().unwrap_or_default();
            is_comparison(sign)
                || matches!(
                    sign,
                    "=" | "==" | "!=" | "<" | ">" | "-a" | "-o" | "-nt" | "-ot" | "-ef" | ")"
                )
        });
        if (splits(word) || !compared) && may_be_option(word) {
            // A number is no operator.
            walker.numbers.evaluates_word(word);
        }
    }
}

/// Whether an expansion in a word stands outside of quotes, so that it may become several words.
fn splits(word: &Word) -> bool {
    let (mut quoted, mut letters) = (false, word.text.chars());
    while let Some(next) = letters.next() {
        match next {
            '\\' => _ = letters.next(),
            '"' => quoted = !quoted,
            '$' | '`' | '*' | '?' | '[' if !quoted => return true,
            _ => {}
        }
    }
    false
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

/// The operands of `[[ … ]]`: `-eq` and its like evaluate both sides, `-v` its index.
pub(super) fn compared(walker: &mut Walker, texts: &[Text], words: &[Word]) {
    for (at, word) in words.iter().enumerate() {
        match word.literal() {
            Some("-v" | "-R") => {
                if let Some(name) = words.get(at + 1) {
                    index_of(walker, name);
                }
            }
            Some(sign) if is_comparison(sign) => {
                let sides = [at.checked_sub(1), Some(at + 1)];
                for side in sides.into_iter().flatten() {
                    let Some(text) = texts.get(side) else {
                        continue;
                    };
                    walker.hidden(&words[side..=side]);
                    walker.numbers.evaluates_text(text);
                }
            }
            _ => {}
        }
    }
}

/// Some of the shells that are called `sh` evaluate the operands of `[` as well.
fn comparisons(walker: &mut Walker, words: &[Word]) {
    for (at, word) in words.iter().enumerate() {
        if !word.literal().is_some_and(is_comparison) {
            continue;
        }
        let sides = [at.checked_sub(1), Some(at + 1)];
        for side in sides.into_iter().flatten().filter_map(|at| words.get(at)) {
            walker.numbers.evaluates_word(side);
        }
    }
}

fn is_comparison(sign: &str) -> bool {
    matches!(sign, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}
