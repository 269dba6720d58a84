//! Which variables certainly hold numbers.
//!
//! A shell evaluates the value of a variable that an expression names, and an index in that value
//! may hold a command: `x='a[$(command)]'; echo $((x))`. An expression is harmless only if all that
//! it names are numbers by everything that the text gives them.

mod printed;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    bash::tree::{Evaluated, Text},
    command::Function,
    word::{Piece, Word},
};
use printed::printed_number;

/// Parameters that the shell itself keeps as numbers.
const KEPT: &[&str] = &[
    "#",
    "?",
    "$",
    "!",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "EPOCHSECONDS",
    "BASHPID",
    "PPID",
    "UID",
    "EUID",
    "OPTIND",
];

/// Variables that hold numbers by themselves: what they are given is evaluated.
const INTEGERS: &[&str] = &[
    "BASHPID", "HISTCMD", "LINENO", "OPTIND", "RANDOM", "SECONDS", "SRANDOM",
];

/// The ones of Zsh besides.
const INTEGERS_OF_ZSH: &[&str] = &[
    "COLUMNS",
    "EGID",
    "ERRNO",
    "EUID",
    "FUNCNEST",
    "GID",
    "HISTSIZE",
    "KEYTIMEOUT",
    "LINES",
    "LISTMAX",
    "MAILCHECK",
    "SAVEHIST",
    "SHLVL",
    "TRY_BLOCK_ERROR",
    "TRY_BLOCK_INTERRUPT",
    "UID",
    "ZLE_RPROMPT_INDENT",
];

/// How many variables a value is followed through.
const MAX_COPIES: usize = 16;

/// What a value rests on: a number if these variables hold numbers, and if these programs are not
/// functions of the text.
#[derive(Clone, Debug, Default)]
struct Basis {
    variables: Vec<String>,
    programs: Vec<String>,
}

/// What the text gives to variables, and what it evaluates.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The bases of all values of a variable; nothing if one of them may be anything.
    given: BTreeMap<String, Option<Vec<Basis>>>,
    /// What is evaluated, and where it stands.
    evaluated: Vec<(Option<Basis>, String)>,
}

impl Numbers {
    /// Notes that a variable gets the value of a word.
    pub(super) fn gets(&mut self, name: &str, value: &Text) {
        self.note(name, basis(value));
    }

    /// Notes that a variable gets a value that may be anything.
    pub(super) fn is_computed(&mut self, name: &str) {
        self.note(name, None);
    }

    /// Notes that a variable gets these words one after the other.
    pub(super) fn loops_over(&mut self, name: &str, words: &[Text]) {
        if words.is_empty() {
            self.note(name, None);
        }
        for word in words {
            self.note(name, basis(word));
        }
    }

    /// Notes what an expression evaluates.
    pub(super) fn evaluates(&mut self, evaluated: &Evaluated, part: &str) {
        let basis = match evaluated {
            Evaluated::Set(name) => return self.note(name, Some(Basis::default())),
            Evaluated::Variable(name) => Some(Basis::of_variable(name)),
            Evaluated::Printed(script) => printed_number(script),
            Evaluated::Computed => None,
        };
        self.evaluated.push((basis, shortened(part)));
    }

    /// Notes that a word is evaluated as an expression.
    pub(super) fn evaluates_word(&mut self, word: &Word) {
        let mut basis = Some(Basis::default());
        for piece in word.as_pieces() {
            let part = match &piece {
                Piece::Text(text) => self.expression(text),
                Piece::Arithmetic => Some(Basis::default()),
                Piece::Parameter { name, values }
                    if !name.is_empty() && values.iter().all(|value| is_number(value)) =>
                {
                    Some(Basis::of_variable(name))
                }
                _ => None,
            };
            basis = basis.zip(part).map(|(a, b)| a.and(b));
        }
        self.evaluated.push((basis, shortened(&word.text)));
    }

    /// Notes that a word of `[[ … ]]` is evaluated as an expression.
    pub(super) fn evaluates_text(&mut self, text: &Text) {
        if let Some(value) = text.word.literal() {
            let basis = self.expression(value);
            self.evaluated.push((basis, shortened(&text.word.text)));
        } else {
            self.evaluated
                .push((basis(text), shortened(&text.word.text)));
        }
    }

    /// The names in the text of an expression; nothing if it is more than names and operators.
    fn expression(&mut self, text: &str) -> Option<Basis> {
        let mut basis = Basis::default();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = rest.find(|c| !word(c)).unwrap_or(rest.len());
            if next.is_ascii_alphabetic() || next == '_' {
                let (name, after) = rest.split_at(length);
                let after = after.trim_start();
                if after.starts_with('=') && !after.starts_with("==") {
                    self.note(name, Some(Basis::default()));
                } else {
                    basis.variables.push(name.to_owned());
                }
                rest = &rest[length..];
            } else if next.is_ascii_digit() {
                rest = &rest[length..];
            } else if "+-*/%<>=!&|^~?:,() \t".contains(next) {
                rest = &rest[1..];
            } else {
                return None;
            }
        }
        Some(basis)
    }

    fn note(&mut self, name: &str, basis: Option<Basis>) {
        let known = self
            .given
            .entry(name.to_owned())
            .or_insert_with(|| Some(Vec::new()));
        match (known.as_mut(), basis) {
            (Some(all), Some(basis)) if all.len() < 64 => all.push(basis),
            _ => *known = None,
        }
    }

    /// The parts whose evaluation may run something, in a text of which Zsh reads a part or not.
    pub(super) fn doubts(&self, functions: &[Function], zsh: bool) -> Vec<String> {
        let mut doubts = Vec::new();
        let of_zsh = INTEGERS_OF_ZSH.iter().filter(|_| zsh);
        for name in INTEGERS.iter().chain(of_zsh) {
            let sure = self.given.get(*name).is_none_or(|all| {
                let numbers = |basis| self.is_number(basis, functions, &mut BTreeSet::new());
                all.as_ref().is_some_and(|all| all.iter().all(numbers))
            });
            if !sure && doubts.len() < 8 {
                doubts.push((*name).to_owned());
            }
        }
        for (basis, part) in &self.evaluated {
            let sure = basis
                .as_ref()
                .is_some_and(|basis| self.is_number(basis, functions, &mut BTreeSet::new()));
            if !sure && !doubts.contains(part) && doubts.len() < 8 {
                doubts.push(part.clone());
            }
        }
        doubts
    }

    fn is_number<'n>(
        &'n self,
        basis: &'n Basis,
        functions: &[Function],
        seen: &mut BTreeSet<&'n str>,
    ) -> bool {
        let own = |program: &String| functions.iter().any(|f| f.name == *program);
        if basis.programs.iter().any(own) {
            return false;
        }
        basis.variables.iter().all(|name| {
            if seen.contains(name.as_str()) {
                return true;
            }
            if seen.len() >= MAX_COPIES {
                return false;
            }
            seen.insert(name);
            match self.given.get(name) {
                Some(Some(all)) => all
                    .iter()
                    .all(|basis| self.is_number(basis, functions, seen)),
                Some(None) => false,
                None => KEPT.contains(&name.as_str()),
            }
        })
    }
}

impl Basis {
    fn of_variable(name: &str) -> Self {
        Self {
            variables: vec![name.to_owned()],
            programs: Vec::new(),
        }
    }

    fn and(mut self, other: Self) -> Self {
        self.variables.extend(other.variables);
        self.programs.extend(other.programs);
        self
    }
}

/// What it takes for the value of a word to be a number, or several.
fn basis(text: &Text) -> Option<Basis> {
    if let Some(value) = text.word.literal() {
        return is_number(value).then(Basis::default);
    }
    if text.computed_default {
        return None;
    }
    let mut scripts = text.inner.iter().filter(|inner| inner.is_in_word());
    let mut basis = Basis::default();
    for piece in &text.word.pieces {
        let part = match piece {
            Piece::Text(digits) if is_number(digits) => continue,
            Piece::Arithmetic => continue,
            Piece::Sequence if is_range(&text.word.text) => continue,
            Piece::Parameter { name, values }
                if !name.is_empty() && values.iter().all(|value| is_number(value)) =>
            {
                Basis::of_variable(name)
            }
            Piece::Command => printed_number(scripts.next()?)?,
            _ => return None,
        };
        basis = basis.and(part);
    }
    Some(basis)
}

/// As much of a part as is shown of it: an expression names it once per variable.
fn shortened(part: &str) -> String {
    part.chars().take(80).collect()
}

fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix(['+', '-']).unwrap_or(value);
    digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_range(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_digit() || "{}.-".contains(c))
}
