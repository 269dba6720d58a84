//! Reading a program's options by its grammar, as data.
//!
//! A grammar names every option that is known, and which of them take a value. Whatever it does
//! not name is reported as unknown, abbreviations of long options included.

use super::word::{Piece, Word};

/// The options a program knows, written as words:
///
/// | entry | value |
/// |---|---|
/// | `-a`, `--all` | none |
/// | `-n:`, `--lines=`, `-name:` | attached or the next word |
/// | `-i?`, `--color=?` | if one is attached |
/// | `--format=!` | attached; without it the option is none |
/// | `-L.` | the next word, or attached after `=`; whatever else is attached is not known |
/// | `-z#` | a number, attached up to the end of the word or the next word |
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grammar {
    pub(crate) options: &'static str,
    pub(crate) style: Style,
}

/// How a program reads its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// GNU: options anywhere, short ones in bundles.
    Gnu,
    /// POSIX: the first operand ends the options.
    Posix,
    /// Single-dash words are options as a whole, never bundles (`find`, `xxd`, `go`).
    Words,
}

/// Arguments read by a grammar.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'w> {
    pub(crate) options: Vec<(String, Option<Word>)>,
    pub(crate) operands: Vec<&'w Word>,
    /// The options that the grammar doesn't know.
    pub(crate) unknown: Vec<&'w Word>,
    /// A computed word that may turn out to be an option, or to hold one.
    pub(crate) open: bool,
    /// With [`Style::Posix`]: where the first operand stands.
    pub(crate) rest: usize,
}

impl Arguments<'_> {
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }

    pub(crate) fn value(&self, names: &[&str]) -> Option<&Word> {
        let found = self
            .options
            .iter()
            .rev()
            .find(|(name, _)| names.contains(&name.as_str()));
        found.and_then(|(_, value)| value.as_ref())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// A value, attached or next.
    Value,
    /// A value if it is attached.
    Attached,
    /// A value, which must be attached.
    Bound,
    /// A value, which is the next word.
    Next,
    /// A number, attached or next; nothing else may be attached.
    Number,
}

/// A bundle of more letters than this is none that anybody writes.
const MAX_BUNDLE: usize = 32;

impl Grammar {
    fn takes(&self, name: &str) -> Option<Takes> {
        let mut entries = self.options.split_ascii_whitespace();
        entries.find_map(|entry| {
            let (known, sign) = parts(entry);
            (known == name).then_some(match sign {
                "" => Takes::Nothing,
                ":" | "=" => Takes::Value,
                "?" | "=?" => Takes::Attached,
                "#" => Takes::Number,
                "." => Takes::Next,
                _ => Takes::Bound,
            })
        })
    }

    /// Reads the arguments of a command (the words after its name).
    pub(crate) fn read<'w>(&self, words: &'w [Word]) -> Arguments<'w> {
        let mut found = Arguments {
            rest: words.len(),
            ..Arguments::default()
        };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let start = word.known_start();
            let is_option = start.len() > 1 && start.starts_with('-');
            if !is_option {
                found.open |= may_be_option(word);
                found.operands.push(word);
                if self.style == Style::Posix {
                    found.rest = at - 1;
                    return found;
                }
                continue;
            }
            if start == "--" && word.literal.is_some() {
                found.operands.extend(&words[at..]);
                found.rest = at;
                return found;
            }
            found.open |= word.several;
            let next = words.get(at);
            match self.option(word, next, &mut found.options) {
                Some(true) => {
                    at += 1;
                    found.open |= self.style != Style::Words && next.is_some_and(looks_like_option);
                    // What is more than one word is a value and operands.
                    if let Some(value) = next.filter(|next| next.may_be_many()) {
                        found.open |= may_be_option(value);
                        found.operands.push(value);
                    }
                }
                Some(false) => {}
                None => found.unknown.push(word),
            }
        }
        found
    }

    /// Reads one option word; whether it took the next word, or nothing if it isn't known.
    fn option(
        &self,
        word: &Word,
        next: Option<&Word>,
        found: &mut Vec<(String, Option<Word>)>,
    ) -> Option<bool> {
        let start = word.known_start();
        if !start.starts_with("--") && self.style != Style::Words {
            return self.bundle(word, next, found);
        }
        let (name, attached) = match start.split_once('=') {
            Some((name, value)) => (name, Some(tail(word, name.len() + 1, value))),
            None if word.literal.is_some() => (start, None),
            None => return None,
        };
        match (self.takes(name), attached) {
            // `-l16`
            (None, None) => {
                let number = start.get(2..).filter(|number| is_number(number))?;
                let name = start.get(..2)?;
                let numeric = self.takes(name)? == Takes::Number;
                numeric.then(|| found.push((name.to_owned(), Some(Word::of(number)))))?;
                Some(false)
            }
            (None | Some(Takes::Nothing), Some(_)) | (Some(Takes::Bound), None) => None,
            (Some(Takes::Value | Takes::Number | Takes::Next), None) => {
                found.push((name.to_owned(), Some(next?.clone())));
                Some(true)
            }
            (_, attached) => {
                found.push((name.to_owned(), attached));
                Some(false)
            }
        }
    }

    /// Reads a word of options that are one letter each, of which the last may have a value.
    fn bundle(
        &self,
        word: &Word,
        next: Option<&Word>,
        found: &mut Vec<(String, Option<Word>)>,
    ) -> Option<bool> {
        let start = word.known_start();
        for (index, (at, letter)) in start.char_indices().skip(1).enumerate() {
            if index == MAX_BUNDLE {
                return None;
            }
            let name = format!("-{letter}");
            let rest = &start[at + letter.len_utf8()..];
            let value = !rest.is_empty() || word.literal.is_none();
            let value = value.then(|| tail(word, start.len() - rest.len(), rest));
            match (self.takes(&name)?, value) {
                (Takes::Nothing, Some(_)) if rest.is_empty() => return None,
                (Takes::Nothing, _) | (Takes::Attached, None) => found.push((name, None)),
                (Takes::Number, Some(value)) if !value.literal().is_some_and(is_number) => {
                    return None;
                }
                (Takes::Next, Some(_)) if !rest.starts_with('=') => return None,
                (_, Some(value)) => {
                    found.push((name, Some(value)));
                    return Some(false);
                }
                (Takes::Bound, None) => return None,
                (Takes::Value | Takes::Number | Takes::Next, None) => {
                    found.push((name, Some(next?.clone())));
                    return Some(true);
                }
            }
        }
        Some(false)
    }
}

/// An entry of a grammar: the option, and what says that it takes a value.
pub(crate) fn parts(entry: &str) -> (&str, &str) {
    let least = 2.min(entry.len());
    let option = entry[least..].trim_end_matches([':', '=', '?', '!', '#', '.']);
    let option = &entry[..least + option.len()];
    entry.split_at(option.len())
}

/// Whether a word that was taken for a value is an option to a program that takes none there: so
/// that a wrong entry does not hide one, it is read both ways.
fn looks_like_option(word: &Word) -> bool {
    let mut letters = word.known_start().bytes();
    let dash = letters.next() == Some(b'-');
    let name = letters.next();
    dash && name.is_some_and(|letter| letter == b'-' || letter.is_ascii_alphabetic())
}

fn is_number(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit())
}

/// The part of a word from a byte of its known start on.
fn tail(word: &Word, from: usize, known: &str) -> Word {
    if word.literal.is_some() {
        return Word::of(known);
    }
    let mut pieces = vec![Piece::Text(known.to_owned())];
    pieces.extend(word.pieces.iter().skip(1).cloned());
    if known.is_empty() {
        pieces.remove(0);
    }
    let text = word.text.get(from..).unwrap_or(&word.text).to_owned();
    Word::from_pieces(text, pieces).splitting(word.several)
}

/// Whether a word that is not literal may become an option when it is expanded, or hold one: what is
/// split begins new words.
pub(crate) fn may_be_option(word: &Word) -> bool {
    if word.literal.is_some() {
        return false;
    }
    word.several
        || match word.pieces.first() {
            Some(Piece::Text(start)) => start.starts_with('-') || start.is_empty(),
            // Numbers that the shell keeps.
            Some(Piece::Parameter { name, values }) if values.is_empty() => {
                !matches!(name.as_str(), "#" | "?" | "$" | "!")
            }
            Some(Piece::Home(_) | Piece::Process | Piece::Arithmetic | Piece::Sequence) | None => {
                false
            }
            _ => true,
        }
}
