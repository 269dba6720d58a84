//! Here-documents: their delimiters, and their bodies after the end of the line.

use std::{cell::OnceCell, rc::Rc};

use super::{Build, Parsed, Parser, tree::Text, words::Until};
use crate::facts::word::Word;

/// A here-document whose body has not been reached.
pub(super) struct Pending {
    delimiter: String,
    literal: bool,
    strip_tabs: bool,
    body: Rc<OnceCell<Text>>,
}

impl Parser<'_, '_> {
    /// `<<` or `<<-` was read: the delimiter follows.
    pub(super) fn here_document(&mut self, strip_tabs: bool) -> Parsed<Rc<OnceCell<Text>>> {
        self.blanks()?;
        if self.peek() == Some(b'#') {
            return self.syntax();
        }
        let Some(delimiter) = self.word(Until::Blank)? else {
            return self.syntax();
        };
        let Some(value) = delimiter.word.literal else {
            return self.syntax();
        };
        if value.contains('\n') {
            return self.syntax();
        }
        let body = Rc::new(OnceCell::new());
        self.pending.push(Pending {
            delimiter: value,
            literal: delimiter.quoted,
            strip_tabs,
            body: Rc::clone(&body),
        });
        Ok(body)
    }

    /// Consumes a newline at the end of a command, and the bodies that follow it.
    pub(super) fn newline(&mut self) -> Parsed<()> {
        self.at += 1;
        self.budget.spend(1)?;
        for pending in std::mem::take(&mut self.pending) {
            let body = self.body(&pending)?;
            // A cell is filled once: each belongs to one pending entry.
            let _ = pending.body.set(body);
        }
        Ok(())
    }

    fn body(&mut self, pending: &Pending) -> Parsed<Text> {
        let start = self.at;
        let text = self.text;
        let mut continued = false;
        loop {
            if self.at >= text.len() {
                return self.syntax();
            }
            let line_start = self.at;
            let line_end = text[line_start..]
                .find('\n')
                .map_or(text.len(), |n| line_start + n);
            // Nothing in a literal body is looked at but the beginnings and ends of its lines.
            let read = if pending.literal {
                1
            } else {
                line_end - line_start + 1
            };
            self.budget.spend(read)?;
            let line = &text[line_start..line_end];
            let bare = if pending.strip_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            self.at = (line_end + 1).min(text.len());
            if bare == pending.delimiter {
                // Bash would join this line to the one before.
                if continued && !pending.literal {
                    return self.syntax();
                }
                // What may be arithmetic or a subshell is read twice.
                if pending.literal && start >= self.bodies_until {
                    self.body_bytes += line_start - start;
                    self.bodies_until = line_start;
                }
                return self.expand(&text[start..line_start], pending.literal);
            }
            continued = line.ends_with('\\');
        }
    }

    fn expand(&mut self, body: &str, literal: bool) -> Parsed<Text> {
        if literal {
            return Ok(Text {
                word: Word::of(body),
                quoted: true,
                ..Text::default()
            });
        }
        let mut nested = self.nested(body)?;
        let mut build = Build::default();
        while nested.at < body.len() {
            nested.in_double(&mut build, false)?;
        }
        Ok(build.finish(body))
    }
}
