//! Reading what a shell evaluates as an expression: `$((…))`, an index, an offset.
//!
//! The value of a variable that an expression names is evaluated in its turn, and an index in such a
//! value may hold a command. So every name that is evaluated is noted.

use super::{
    Build, Parsed, Parser,
    tree::{Evaluated, Inner, Text},
};
use crate::facts::word::Piece;

impl Parser<'_, '_> {
    /// Arithmetic up to `))`, which is consumed. Only what certainly is arithmetic is accepted.
    pub(super) fn arithmetic(&mut self, build: &mut Build, semicolons: bool) -> Parsed<()> {
        let (pieces, inner) = (build.pieces.len(), build.text.inner.len());
        let mut depth = 0_u32;
        loop {
            let Some(next) = self.peek() else {
                return self.syntax();
            };
            match next {
                b'(' => {
                    depth += 1;
                    self.at += 1;
                }
                b')' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b')' => {
                    self.expect("))")?;
                    evaluates_pieces(build, pieces, inner);
                    build.piece(Piece::Arithmetic);
                    return Ok(());
                }
                b'$' => self.dollar(build, true)?,
                b'`' => self.backticks(build, true)?,
                b';' if semicolons => self.at += 1,
                b'\n' => {
                    self.bump()?;
                }
                next if next.is_ascii_digit() => self.number()?,
                next if next.is_ascii_alphabetic() || next == b'_' => {
                    let name = self.name()?;
                    let found = self.assigned_or_evaluated(name);
                    build.text.evaluated.push(found);
                }
                b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|'
                | b'^' | b'~' | b'?' | b':' | b',' | b' ' | b'\t' | b'#' | b'[' | b']' => {
                    self.at += 1;
                }
                _ => return self.syntax(),
            }
            self.budget.spend(1)?;
        }
    }

    /// A number in any base: `10`, `0x1f`, `16#ff`.
    fn number(&mut self) -> Parsed<()> {
        while self
            .peek()
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'#' | b'@' | b'_'))
        {
            self.at += 1;
            self.budget.spend(1)?;
        }
        Ok(())
    }

    /// What a name in an expression is: set there, or evaluated.
    fn assigned_or_evaluated(&self, name: String) -> Evaluated {
        let rest = self.text[self.at..].trim_start_matches([' ', '\t']);
        if rest.starts_with('=') && !rest.starts_with("==") {
            Evaluated::Set(name)
        } else {
            Evaluated::Variable(name)
        }
    }

    /// `[…]` after a name, if it is a plain index. Bash evaluates an index.
    pub(super) fn subscript(&mut self, text: &mut Text) -> Parsed<bool> {
        if self.peek() != Some(b'[') {
            return Ok(false);
        }
        self.at += 1;
        while let Some(next) = self.peek() {
            self.budget.spend(1)?;
            match next {
                b']' => {
                    self.at += 1;
                    return Ok(true);
                }
                b'@' | b'*' | b'-' | b'+' | b'#' => self.at += 1,
                b'$' if self.peek_at(1).is_some_and(|b| b.is_ascii_alphabetic()) => self.at += 1,
                next if next.is_ascii_digit() => self.number()?,
                next if next.is_ascii_alphabetic() || next == b'_' => {
                    let name = self.name()?;
                    text.evaluated.push(Evaluated::Variable(name));
                }
                _ => return self.syntax(),
            }
        }
        self.syntax()
    }

    /// `:offset:length}`.
    pub(super) fn substring(&mut self, build: &mut Build) -> Parsed<()> {
        let (pieces, inner) = (build.pieces.len(), build.text.inner.len());
        loop {
            self.budget.spend(1)?;
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    evaluates_pieces(build, pieces, inner);
                    return Ok(());
                }
                Some(b'$') => self.dollar(build, true)?,
                Some(next) if next.is_ascii_alphabetic() || next == b'_' => {
                    let name = self.name()?;
                    build.text.evaluated.push(Evaluated::Variable(name));
                }
                Some(b'0'..=b'9' | b':' | b' ' | b'-' | b'+' | b'*' | b'/' | b'(' | b')') => {
                    self.at += 1;
                }
                _ => return self.syntax(),
            }
        }
    }

    /// The key of an element in `name=([key]=value)`, which is evaluated.
    pub(super) fn element_key(&self, text: &mut Text) {
        let Some(key) = self.text[self.at..].strip_prefix('[') else {
            return;
        };
        let after = key.trim_start_matches(|c: char| c.is_ascii_digit());
        if !after.starts_with(']') {
            text.evaluated.push(Evaluated::Computed);
        }
    }
}

/// Turns the pieces that expansions in an expression left into what is evaluated.
fn evaluates_pieces(build: &mut Build, pieces: usize, inner: usize) {
    let mut scripts = build.text.inner[inner..].iter();
    let mut found = Vec::new();
    for piece in build.pieces.drain(pieces..) {
        found.push(match piece {
            Piece::Arithmetic => continue,
            Piece::Parameter { name, values } if !name.is_empty() && values.is_empty() => {
                Evaluated::Variable(name)
            }
            Piece::Command => match scripts.next() {
                Some(script) => Evaluated::Printed(script.clone()),
                None => Evaluated::Computed,
            },
            _ => Evaluated::Computed,
        });
    }
    if std::mem::take(&mut build.computed_default) {
        found.push(Evaluated::Computed);
    }
    build.text.evaluated.extend(found);
    for script in &build.text.inner[inner..] {
        script.inside_arithmetic.set(true);
    }
}

impl Inner {
    /// Whether its output is a part of the word, rather than of an expression in it.
    pub(crate) fn is_in_word(&self) -> bool {
        !self.inside_arithmetic.get()
    }
}
