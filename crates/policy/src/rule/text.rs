//! Matching a command's text by a glob or a regular expression.
//!
//! The text is the canonical one: words joined by single blanks, quoted only where needed. An
//! allowance must match the whole text of a simple command; a refusal may match any part of it, or
//! of the command as it was written.

use std::fmt;

use regex::Regex;

/// A pattern for a command's text.
#[derive(Clone, Debug)]
pub enum TextPattern {
    /// `*` stands for anything, `?` for one character.
    Glob(String),
    /// A regular expression.
    Regex {
        /// As it was written.
        written: String,
        /// It, searched for anywhere.
        anywhere: Regex,
        /// It, for the whole text.
        whole: Regex,
    },
}

impl TextPattern {
    /// Compiles a regular expression.
    pub(crate) fn regex(written: &str) -> Result<Self, String> {
        let build = |pattern: &str| {
            regex::RegexBuilder::new(pattern)
                .size_limit(1 << 20)
                .build()
                .map_err(|error| match error {
                    regex::Error::CompiledTooBig(_) => "it is too big".to_owned(),
                    other => other
                        .to_string()
                        .lines()
                        .last()
                        .unwrap_or_default()
                        .trim()
                        .to_owned(),
                })
        };
        Ok(Self::Regex {
            written: written.to_owned(),
            anywhere: build(written)?,
            whole: build(&format!("^(?:{written})$"))?,
        })
    }

    /// Whether the whole text matches.
    pub(crate) fn is_whole(&self, text: &str) -> bool {
        match self {
            Self::Glob(pattern) => glob(pattern, text),
            Self::Regex { whole, .. } => whole.is_match(text),
        }
    }

    /// Whether the text matches, for a refusal.
    pub(crate) fn is_found(&self, text: &str) -> bool {
        match self {
            Self::Glob(pattern) => glob(pattern, text),
            Self::Regex { anywhere, .. } => anywhere.is_match(text),
        }
    }

    /// Whether it names one text and no other.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, Self::Glob(pattern) if !pattern.contains(['*', '?']))
    }

    /// The number of words that are fixed.
    pub(crate) fn specificity(&self) -> usize {
        match self {
            Self::Glob(pattern) => pattern
                .split_whitespace()
                .filter(|word| !word.contains(['*', '?']))
                .count(),
            Self::Regex { .. } => 1,
        }
    }

    /// The program that the text must begin with, if that is fixed.
    pub(crate) fn first_word(&self) -> Option<&str> {
        match self {
            Self::Glob(pattern) => {
                let (first, _) = pattern.split_once(' ')?;
                (!first.contains(['*', '?', '\'', '"', '\\', '/'])).then_some(first)
            }
            Self::Regex { .. } => None,
        }
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Glob(pattern) => write!(f, "glob {pattern}"),
            Self::Regex { written, .. } => write!(f, "regex {written}"),
        }
    }
}

/// Whether a glob matches a whole text. `*` also matches nothing, blanks and slashes.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == b'?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, t));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}
