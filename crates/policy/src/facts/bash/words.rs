//! Reading words: quotes, escapes, globs, tildes and brace expansion.

use super::{Build, Parsed, Parser, tree::Text};
use crate::{
    facts::{
        unclear::Obstacle,
        word::{Piece, Word},
    },
    shell::ShellKind,
};

/// Where a word ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// At a blank or an operator.
    Blank,
    /// At a blank; parentheses and bars belong to the word (the right side of `=~`).
    Pattern,
    /// At `}`, inside `${…}`.
    Brace,
    /// At the end of the text, which holds no operators (one alternative of `{a,b}`).
    End,
}

impl Parser<'_, '_> {
    /// Reads a word, or nothing if none begins here.
    pub(super) fn word(&mut self, until: Until) -> Parsed<Option<Text>> {
        self.budget.spend(4)?;
        let start = self.at;
        let mut build = Build::default();
        self.tilde(&mut build)?;
        if self.kind == ShellKind::Zsh && self.peek() == Some(b'=') {
            // `=program` is an expansion there.
            return self.syntax();
        }
        while self.piece(&mut build, until, start)? {}
        if self.at == start {
            return Ok(None);
        }
        Ok(Some(build.finish(&self.text[start..self.at])))
    }

    /// Reads one more piece of a word; false at its end.
    fn piece(&mut self, build: &mut Build, until: Until, start: usize) -> Parsed<bool> {
        let Some(next) = self.peek() else {
            return Ok(false);
        };
        match next {
            b' ' | b'\t' | b'\n' if until != Until::Brace => return Ok(false),
            b'}' if until == Until::Brace => return Ok(false),
            b'<' | b'>' if self.peek_at(1) == Some(b'(') => self.process(build)?,
            b';' | b'&' | b'<' | b'>' if matches!(until, Until::Blank | Until::Pattern) => {
                return Ok(false);
            }
            b'|' | b')' if until == Until::Blank => return Ok(false),
            b'(' if until == Until::Blank => return self.parenthesis(build, start),
            b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' if until == Until::End => {
                return self.syntax();
            }
            b'\\' => self.escape(build)?,
            b'\'' => self.single(build)?,
            b'"' => self.double(build)?,
            b'`' => self.backticks(build, false)?,
            b'$' => self.dollar(build, false)?,
            b'*' | b'?' => {
                self.at += 1;
                self.budget.spend(1)?;
                build.piece(Piece::Glob(char::from(next)));
            }
            b'[' => self.bracket(build)?,
            b'{' if until != Until::Brace => self.brace(build)?,
            _ => self.plain(build)?,
        }
        Ok(true)
    }

    /// An ordinary run of characters.
    fn plain(&mut self, build: &mut Build) -> Parsed<()> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(next) = bytes.get(self.at) {
            let ordinary = next.is_ascii_alphanumeric()
                || matches!(
                    next,
                    b'-' | b'.' | b'/' | b'_' | b'=' | b',' | b':' | b'+' | b'@' | b'%'
                );
            if !ordinary {
                break;
            }
            self.at += 1;
        }
        self.budget.spend(self.at - start)?;
        if self.at > start {
            build.push_str(&self.text[start..self.at]);
            return Ok(());
        }
        let next = self.bump()?;
        if next.is_control() || (!next.is_ascii() && is_strange(next)) {
            return Err(self.trouble(Obstacle::StrangeCharacter));
        }
        build.push(next);
        Ok(())
    }

    /// An unquoted `(` inside a word: only the end of a function's name.
    fn parenthesis(&mut self, _build: &mut Build, start: usize) -> Parsed<bool> {
        if self.at > start && self.peek_at(1) == Some(b')') {
            return Ok(false);
        }
        if self.at == start {
            return Ok(false);
        }
        self.syntax()
    }

    fn tilde(&mut self, build: &mut Build) -> Parsed<()> {
        if self.peek() != Some(b'~') {
            return Ok(());
        }
        let rest = &self.text.as_bytes()[self.at + 1..];
        let length = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'.'))
            .count();
        let ends = matches!(
            rest.get(length),
            None | Some(
                b'/' | b' '
                    | b'\t'
                    | b'\n'
                    | b';'
                    | b'&'
                    | b'|'
                    | b')'
                    | b'>'
                    | b'<'
                    | b':'
                    | b'}'
                    | b','
            )
        );
        if !ends {
            return Ok(());
        }
        self.budget.spend(length + 1)?;
        let user = &self.text[self.at + 1..self.at + 1 + length];
        build.piece(Piece::Home((!user.is_empty()).then(|| user.to_owned())));
        self.at += 1 + length;
        Ok(())
    }

    fn escape(&mut self, build: &mut Build) -> Parsed<()> {
        if self.peek_at(1) == Some(b'\n') {
            if !self.continuation_separates() || !self.pending.is_empty() {
                return self.syntax();
            }
            self.at += 2;
            return Ok(());
        }
        self.at += 1;
        let next = self.bump()?;
        if next == '\r' {
            return Err(self.trouble(Obstacle::StrangeCharacter));
        }
        build.text.quoted = true;
        build.push(next);
        Ok(())
    }

    fn single(&mut self, build: &mut Build) -> Parsed<()> {
        self.at += 1;
        build.text.quoted = true;
        build.push_str("");
        loop {
            match self.bump()? {
                '\'' => return Ok(()),
                next => build.push(next),
            }
        }
    }

    /// `"…"`, from the opening quote.
    pub(super) fn double(&mut self, build: &mut Build) -> Parsed<()> {
        self.at += 1;
        build.text.quoted = true;
        build.push_str("");
        loop {
            match self.peek() {
                None => return self.syntax(),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => self.in_double(build, true)?,
            }
        }
    }

    /// One piece inside double quotes, or of a here-document's body.
    pub(super) fn in_double(&mut self, build: &mut Build, quote: bool) -> Parsed<()> {
        match self.peek() {
            Some(b'\\') => {
                let dollar_before = self.at > 0 && self.text.as_bytes()[self.at - 1] == b'$';
                self.at += 1;
                match self.peek() {
                    // Bash joins the lines first: `$\<newline>(…)` is a substitution.
                    Some(b'\n') if dollar_before || !self.pending.is_empty() => {
                        return self.syntax();
                    }
                    Some(b'\n') => self.at += 1,
                    Some(b'$' | b'`' | b'\\') => {
                        let next = self.bump()?;
                        build.push(next);
                    }
                    Some(b'"') if quote => {
                        let next = self.bump()?;
                        build.push(next);
                    }
                    _ => build.push('\\'),
                }
            }
            Some(b'$') => self.dollar(build, true)?,
            Some(b'`') => self.backticks(build, true)?,
            _ => {
                let next = self.bump()?;
                build.push(next);
            }
        }
        Ok(())
    }

    /// `[`: a glob if it is closed within the word, otherwise itself.
    fn bracket(&mut self, build: &mut Build) -> Parsed<()> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        let closed = rest
            .iter()
            .take_while(|b| !matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|'))
            .any(|b| *b == b']');
        self.budget.spend(1 + rest.len().min(64))?;
        self.at += 1;
        if closed {
            build.piece(Piece::Glob('['));
        } else {
            build.push('[');
        }
        Ok(())
    }

    /// `{`: brace expansion if it is one, otherwise itself.
    fn brace(&mut self, build: &mut Build) -> Parsed<()> {
        let Some(found) = self.brace_extent()? else {
            self.at += 1;
            build.push('{');
            return Ok(());
        };
        let Braces {
            end,
            commas,
            sequence,
        } = found;
        let text = self.text;
        if commas.is_empty() {
            debug_assert!(sequence, "a brace expansion has a comma or a range");
            build.piece(Piece::Sequence);
        } else {
            let mut options: Vec<Word> = Vec::new();
            let mut from = self.at + 1;
            for to in commas.into_iter().chain([end]) {
                self.budget.spend(16)?;
                let mut nested = self.nested(&text[from..to])?;
                let option = nested.word(Until::End)?;
                if nested.at != nested.text.len() {
                    return self.syntax();
                }
                let option = option.unwrap_or_default();
                build.absorb(&option);
                options.push(option.word);
                from = to + 1;
            }
            build.piece(Piece::Choice(options));
        }
        self.at = end + 1;
        Ok(())
    }

    #[allow(clippy::match_same_arms, reason = "the arms are tried in order")]
    /// The extent of a brace expansion that begins here, without reading its alternatives.
    fn brace_extent(&mut self) -> Parsed<Option<Braces>> {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (self.at + 1, 0_u32);
        let (mut commas, mut sequence) = (Vec::new(), false);
        let mut quote = None;
        while let Some(&next) = bytes.get(at) {
            self.budget.spend(1)?;
            match (quote, next) {
                (Some(open), _) if next == open => quote = None,
                (Some(b'"'), b'$' | b'`') | (None, b'`') => return self.syntax(),
                (None, b'$') if bytes.get(at + 1) == Some(&b'(') => return self.syntax(),
                (Some(b'"') | None, b'\\') => at += 1,
                (Some(_), _) => {}
                (None, b'\'' | b'"') => quote = Some(next),
                (None, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')') => {
                    return Ok(None);
                }
                (None, b'{') => depth += 1,
                (None, b'}') if depth > 0 => depth -= 1,
                (None, b'}') => {
                    let found = !commas.is_empty() || sequence;
                    return Ok(found.then_some(Braces {
                        end: at,
                        commas,
                        sequence,
                    }));
                }
                (None, b',') if depth == 0 => commas.push(at),
                (None, b'.') if depth == 0 && bytes.get(at + 1) == Some(&b'.') => sequence = true,
                _ => {}
            }
            at += 1;
        }
        Ok(None)
    }
}

struct Braces {
    end: usize,
    commas: Vec<usize>,
    sequence: bool,
}

/// Characters that look like a blank, or like nothing, and that change how a text reads.
fn is_strange(next: char) -> bool {
    next.is_whitespace()
        || matches!(next,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
