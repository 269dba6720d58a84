//! Reading redirections.

use super::{Parsed, Parser, tree::Redirect};
use crate::{facts::command::Direction, shell::ShellKind};

impl Parser<'_, '_> {
    /// A redirection, if one begins here.
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
            self.budget.spend(1)?;
        }
        if self.at == start && self.peek() == Some(b'{') {
            self.at += 1;
            let name = self.name()?;
            if name.is_empty() || !self.eat("}") || !matches!(self.peek(), Some(b'<' | b'>')) {
                self.at = start;
                return Ok(None);
            }
        }
        let process = matches!(self.peek(), Some(b'<' | b'>')) && self.peek_at(1) == Some(b'(');
        if process {
            self.at = start;
            return Ok(None);
        }
        let direction = if self.eat("<<<") {
            self.blanks()?;
            let Some(text) = self.separate_word()? else {
                return self.syntax();
            };
            return Ok(Some(Redirect::Here(std::rc::Rc::new(
                std::cell::OnceCell::from(text),
            ))));
        } else if self.eat("<<-") {
            return Ok(Some(Redirect::Here(self.here_document(true)?)));
        } else if self.eat("<<") {
            return Ok(Some(Redirect::Here(self.here_document(false)?)));
        } else if self.eat("<&") || self.eat(">&") {
            return self.duplicate(start).map(Some);
        } else if self.eat("<>") {
            Direction::ReadWrite
        } else if self.eat("<") {
            Direction::Read
        } else if self.eat(">>") {
            Direction::Append
        } else if self.eat(">|") || self.eat(">") {
            Direction::Write
        } else if self.at == start && self.eat("&>>") {
            Direction::Append
        } else if self.at == start && self.eat("&>") {
            Direction::Write
        } else {
            self.at = start;
            return Ok(None);
        };
        self.target(direction).map(Some)
    }

    fn target(&mut self, direction: Direction) -> Parsed<Redirect> {
        if self.kind == ShellKind::Zsh && matches!(self.peek(), Some(b'!' | b'|')) {
            return self.syntax();
        }
        self.blanks()?;
        let Some(target) = self.separate_word()? else {
            return self.syntax();
        };
        Ok(Redirect::File { direction, target })
    }

    /// What follows `>&`: a descriptor, `-`, or a file for both outputs.
    fn duplicate(&mut self, start: usize) -> Parsed<Redirect> {
        let writes = self.text[start..self.at].ends_with(">&");
        self.blanks()?;
        let Some(target) = self.separate_word()? else {
            return self.syntax();
        };
        match target.word.literal() {
            Some("-") => Ok(Redirect::Descriptor),
            Some(value) if is_descriptor(value) => Ok(Redirect::Descriptor),
            _ if writes => Ok(Redirect::File {
                direction: Direction::Write,
                target,
            }),
            _ => self.syntax(),
        }
    }
}

/// `1`, `12`, `1-` (which also closes the original).
fn is_descriptor(value: &str) -> bool {
    let digits = value.strip_suffix('-').unwrap_or(value);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}
