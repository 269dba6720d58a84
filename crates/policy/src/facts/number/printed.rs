//! Scripts that certainly print a number.

use super::{Basis, is_number};
use crate::facts::bash::tree::{Body, Inner, Script, Text};

/// What it takes for a script to print a number: the program that prints it is the one of its name.
pub(super) fn printed_number(inner: &Inner) -> Option<Basis> {
    let program = last_program(&inner.script)?;
    let words: Option<Vec<&str>> = program.iter().map(|text| text.word.literal()).collect();
    let words = words?;
    let prints = match words.as_slice() {
        ["date", format] => is_date_in_digits(format),
        ["wc", "-l" | "-c" | "-w" | "-m"]
        | ["nproc"]
        | ["id", "-u" | "-g"]
        | ["git", "rev-list", "--count", _] => true,
        ["seq", all @ ..] => !all.is_empty() && all.iter().all(|word| is_number(word)),
        ["grep", options, _] | ["grep", options, _, _] => {
            let letters = options.strip_prefix('-').unwrap_or_default();
            letters.contains('c') && letters.chars().all(|c| "cEFivwx".contains(c))
        }
        _ => false,
    };
    prints.then(|| Basis {
        variables: Vec::new(),
        programs: vec![words[0].to_owned()],
    })
}

/// `+%s` and other formats that print nothing but digits.
fn is_date_in_digits(format: &str) -> bool {
    let mut letters = format.strip_prefix('+').unwrap_or_default().chars();
    let mut any = false;
    while let Some(next) = letters.next() {
        let kind = match (next, letters.next()) {
            ('%', Some(width)) if width.is_ascii_digit() => letters.next(),
            ('%', kind) => kind,
            _ => return false,
        };
        any = true;
        if !kind.is_some_and(|kind| "sNYmdHMSjuwy".contains(kind)) {
            return false;
        }
    }
    any
}

/// The words of the program whose output is that of the script.
fn last_program(script: &Script) -> Option<&[Text]> {
    let [statement] = script.statements.as_slice() else {
        return None;
    };
    match &statement.stages.last()?.body {
        Body::Simple { assignments, words } if assignments.is_empty() => Some(words),
        _ => None,
    }
}
