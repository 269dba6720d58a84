//! A parser for Bash, its POSIX subset, and Zsh as far as it agrees with them.
//!
//! It follows Bash's own reading of quotes, expansions, here-documents and compound commands, and
//! refuses whatever it is not sure of: a refusal ends the reading with a [`Trouble`] and keeps what
//! was read until then. It does not expand, look up or run anything.

mod arithmetic;
mod expansion;
mod grammar;
mod here;
mod redirects;
pub(crate) mod tree;
mod words;

use super::unclear::Obstacle;
use crate::shell::ShellKind;
use tree::{Script, Text};

/// How deep constructs may be nested.
pub(crate) const MAX_DEPTH: u8 = 8;
/// How much text is read, besides the bodies of here-documents in which nothing is expanded.
pub(crate) const MAX_BYTES: usize = 64 * 1024;
/// How much text is read in all.
const MAX_WITH_BODIES: usize = 2 * 1024 * 1024;
/// How many steps one command may cost; a step is about one character looked at, a word or a
/// command costs as much as several.
pub(crate) const MAX_STEPS: u32 = 200_000;

/// The work that one command may still cause.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u32,
    /// A part that was read although shells of the same family read it differently.
    doubt: Option<Trouble>,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self {
            left: MAX_STEPS,
            doubt: None,
        }
    }

    pub(crate) fn spend(&mut self, steps: usize) -> Parsed<()> {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        if let Some(left) = self.left.checked_sub(steps) {
            self.left = left;
            return Ok(());
        }
        self.left = 0;
        Err(Trouble {
            why: Obstacle::TooMuchWork,
            at: 0,
        })
    }

    pub(crate) fn spent(&self) -> u32 {
        MAX_STEPS - self.left
    }
}

/// Why reading stopped, and at which byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trouble {
    pub(crate) why: Obstacle,
    pub(crate) at: usize,
}

pub(crate) type Parsed<T> = Result<T, Trouble>;

/// Reads a text. What was read before a trouble is kept.
pub(crate) fn parse(
    text: &str,
    kind: ShellKind,
    depth: u8,
    budget: &mut Budget,
) -> (Script, Option<Trouble>) {
    const TOO_LONG: Trouble = Trouble {
        why: Obstacle::TooLong,
        at: 0,
    };
    let mut script = Script::default();
    if text.len() > MAX_WITH_BODIES {
        return (script, Some(TOO_LONG));
    }
    let mut parser = Parser::new(text, kind, depth, budget);
    let trouble = parser.whole(&mut script).err();
    if text.len() - parser.body_bytes > MAX_BYTES {
        return (Script::default(), Some(TOO_LONG));
    }
    let doubt = budget.doubt.take();
    (script, trouble.or(doubt))
}

/// The state of reading one text.
struct Parser<'s, 'b> {
    text: &'s str,
    at: usize,
    kind: ShellKind,
    depth: u8,
    budget: &'b mut Budget,
    pending: Vec<here::Pending>,
    /// Bytes of here-documents that were read as they are, each counted once however often it is read,
    body_bytes: usize,
    /// and where the last of them ends.
    bodies_until: usize,
}

impl<'s, 'b> Parser<'s, 'b> {
    fn new(text: &'s str, kind: ShellKind, depth: u8, budget: &'b mut Budget) -> Self {
        Self {
            text,
            at: 0,
            kind,
            depth,
            budget,
            pending: Vec::new(),
            body_bytes: 0,
            bodies_until: 0,
        }
    }

    /// A parser for another text at one more level of nesting, on the same budget.
    fn nested<'t>(&mut self, text: &'t str) -> Parsed<Parser<'t, '_>> {
        if self.depth >= MAX_DEPTH {
            return Err(self.trouble(Obstacle::TooDeep));
        }
        Ok(Parser::new(text, self.kind, self.depth + 1, self.budget))
    }

    fn trouble(&self, why: Obstacle) -> Trouble {
        Trouble { why, at: self.at }
    }

    /// Notes that other shells of the family read this part differently.
    fn doubt(&mut self) {
        let trouble = self.trouble(Obstacle::Syntax);
        self.budget.doubt.get_or_insert(trouble);
    }

    fn syntax<T>(&self) -> Parsed<T> {
        Err(self.trouble(Obstacle::Syntax))
    }

    /// Runs a reader one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.trouble(Obstacle::TooDeep));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn looking_at(&self, expected: &str) -> bool {
        self.text.as_bytes()[self.at..].starts_with(expected.as_bytes())
    }

    /// Consumes the next character, whatever it is.
    fn bump(&mut self) -> Parsed<char> {
        self.budget.spend(1)?;
        let Some(next) = self.text[self.at..].chars().next() else {
            return self.syntax();
        };
        if next == '\0' {
            return Err(self.trouble(Obstacle::StrangeCharacter));
        }
        if next == '\n' && !self.pending.is_empty() {
            // A here-document's body would start in the middle of another construct.
            return self.syntax();
        }
        self.at += next.len_utf8();
        Ok(next)
    }

    /// Consumes this text if it comes next.
    fn eat(&mut self, expected: &str) -> bool {
        let found = self.looking_at(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    fn expect(&mut self, expected: &str) -> Parsed<()> {
        if self.eat(expected) {
            Ok(())
        } else {
            self.syntax()
        }
    }

    /// Whether the line continuation at this place certainly only separates words. Bash removes a
    /// backslash-newline before it reads tokens, so one in the middle of a token would join it.
    fn continuation_separates(&self) -> bool {
        let bytes = self.text.as_bytes();
        let before = self.at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(self.at + 2);
        matches!(before, None | Some(b' ' | b'\t' | b'\n'))
            || matches!(after, None | Some(b' ' | b'\t' | b'\n'))
    }

    /// Skips blanks and line continuations.
    fn blanks(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => {
                    self.budget.spend(1)?;
                    self.at += 1;
                }
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => {
                    self.budget.spend(1)?;
                    if !self.continuation_separates() || !self.pending.is_empty() {
                        return self.syntax();
                    }
                    self.at += 2;
                }
                _ => return Ok(()),
            }
        }
    }
}

/// A word being put together.
#[derive(Default)]
struct Build {
    pieces: Vec<super::word::Piece>,
    text: Text,
    /// Whether a default in the expression that is read is computed.
    computed_default: bool,
    /// Whether an expansion in it may become several words.
    several: bool,
}

impl Build {
    fn push(&mut self, next: char) {
        use super::word::Piece;
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.push(next);
        } else {
            self.pieces.push(Piece::Text(next.to_string()));
        }
    }

    fn push_str(&mut self, part: &str) {
        use super::word::Piece;
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.push_str(part);
        } else {
            self.pieces.push(Piece::Text(part.to_owned()));
        }
    }

    fn piece(&mut self, piece: super::word::Piece) {
        self.pieces.push(piece);
    }

    /// An expansion; inside of quotes it is one word, unless it stands for each of several.
    fn expansion(&mut self, piece: super::word::Piece, quoted: bool) {
        let each = matches!(&piece, super::word::Piece::Parameter { name, .. } if name == "@");
        self.several |= each || (!quoted && piece.may_be_split());
        self.pieces.push(piece);
    }

    fn finish(mut self, source: &str) -> Text {
        let word = super::word::Word::from_pieces(source.to_owned(), self.pieces);
        self.text.word = word.splitting(self.several);
        self.text
    }

    /// Takes over the substitutions of another word.
    fn absorb(&mut self, other: &Text) {
        self.text.inner.extend(other.inner.iter().cloned());
        self.text.evaluated.extend(other.evaluated.iter().cloned());
        self.text.computed_default |= other.computed_default;
        self.text.sets.extend(other.sets.iter().cloned());
        self.several |= other.word.several;
    }
}
