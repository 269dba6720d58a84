//! Reading a program's options by its grammar, as data.
//!
//! A grammar names every option that is known, and which of them take a value. Whatever it does
//! not name is reported as unknown, abbreviations of long options included.

use super::word::{Piece, Word};

/// The options a program knows, written as words: `-a`, `-n:` (takes a value, attached or next),
/// `-i?` (takes a value only when attached), `--all`, `--lines=` (takes a value, attached or
/// next), `--color=?` (takes a value only when attached), `-name:` for single-dash long options of
/// programs that have them.
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
    /// Single-dash words are options as a whole (`find`, `java`, `go`).
    Words,
}

/// Arguments read by a grammar.
#[derive(Debug, Default)]
pub(crate) struct Arguments<'w> {
    pub(crate) options: Vec<(String, Option<Word>)>,
    pub(crate) operands: Vec<&'w Word>,
    /// The options that the grammar doesn't know.
    pub(crate) unknown: Vec<&'w Word>,
    /// A computed word that may turn out to be an option.
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
    Value,
    Attached,
}

impl Grammar {
    fn takes(&self, name: &str) -> Option<Takes> {
        self.options.split_ascii_whitespace().find_map(|entry| {
            let (entry, takes) = if let Some(entry) = entry.strip_suffix("=?") {
                (entry, Takes::Attached)
            } else if let Some(entry) = entry.strip_suffix('?') {
                (entry, Takes::Attached)
            } else if let Some(entry) = entry.strip_suffix([':', '=']) {
                (entry, Takes::Value)
            } else {
                (entry, Takes::Nothing)
            };
            (entry == name).then_some(takes)
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
            let next = words.get(at);
            match self.option(word, next, &mut found.options) {
                Some(true) => at += 1,
                Some(false) => {}
                None => found.unknown.push(word),
            }
        }
        found
    }

    #[allow(clippy::match_same_arms, reason = "the arms are tried in order")]
    /// Reads one option word; whether it took the next word, or nothing if it isn't known.
    fn option(
        &self,
        word: &Word,
        next: Option<&Word>,
        found: &mut Vec<(String, Option<Word>)>,
    ) -> Option<bool> {
        let start = word.known_start();
        if start.starts_with("--") || self.style == Style::Words {
            let (name, attached) = match start.split_once('=') {
                Some((name, value)) => (name, Some(tail(word, name.len() + 1, value))),
                None if word.literal.is_some() => (start, None),
                None => return None,
            };
            return match (self.takes(name)?, attached) {
                (Takes::Nothing, Some(_)) => None,
                (Takes::Value, None) => {
                    found.push((name.to_owned(), Some(next?.clone())));
                    Some(true)
                }
                (_, attached) => {
                    found.push((name.to_owned(), attached));
                    Some(false)
                }
            };
        }
        let letters: Vec<char> = start.chars().skip(1).collect();
        for (index, letter) in letters.iter().enumerate() {
            let name = format!("-{letter}");
            let last = index + 1 == letters.len();
            let skip = 1 + letters[..=index]
                .iter()
                .map(|l| l.len_utf8())
                .sum::<usize>();
            match self.takes(&name)? {
                Takes::Nothing if last && word.literal.is_none() => return None,
                Takes::Nothing => found.push((name, None)),
                Takes::Value | Takes::Attached if !last || word.literal.is_none() => {
                    let value = tail(word, skip, &start[skip..]);
                    found.push((name, Some(value)));
                    return Some(false);
                }
                Takes::Value => {
                    found.push((name, Some(next?.clone())));
                    return Some(true);
                }
                Takes::Attached => found.push((name, None)),
            }
        }
        Some(false)
    }
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
    Word::from_pieces(text, pieces)
}

/// Whether a word that is not literal may become an option when it is expanded.
pub(crate) fn may_be_option(word: &Word) -> bool {
    word.literal.is_none()
        && match word.pieces.first() {
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
