//! A word of a command: what was written, and what is known of the value it will have.
//!
//! A word is literal when its value is known from the text alone. Otherwise its pieces say which
//! part is known. A word never knows the file system: a glob stays a glob.

use serde::Serialize;

/// One word of a simple command, after quoting is undone as far as the text allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Word {
    /// The word as it was written.
    pub text: String,
    /// The value, if the text alone decides it.
    pub literal: Option<String>,
    /// The pieces of a word that is not literal; empty for a literal one.
    #[serde(skip)]
    pub pieces: Vec<Piece>,
    /// Whether the shell may make any number of any words of it: an expansion outside of quotes is
    /// split, and `"$@"` is one word per parameter.
    #[serde(skip)]
    pub several: bool,
}

/// Stands for the home folder in a value that a variable is supposed to have.
pub(crate) const HOME_MARK: char = '\u{f0010}';
/// Stands for the working directory there.
pub(crate) const FOLDER_MARK: char = '\u{f0011}';

/// A word with more pieces than this that stand for something else is not expanded.
const MAX_OPEN_PIECES: usize = 12;

/// A part of a word that is not literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that stands for itself.
    Text(String),
    /// `~` or `~user` at the start of a word.
    Home(Option<String>),
    /// An unquoted `*`, `?` or `[`.
    Glob(char),
    /// `$name` or `${name…}`, with the values that the same text is seen to give it.
    Parameter {
        /// The name: `HOME`, `1`, `@`; empty if the value is transformed.
        name: String,
        /// What the same text assigns to it. It may have another value at run time.
        values: Vec<String>,
    },
    /// `{a,b}`.
    Choice(Vec<Word>),
    /// `{1..9}`.
    Sequence,
    /// `$(…)` or backticks; what it contains is among the commands.
    Command,
    /// `<(…)` or `>(…)`; what it contains is among the commands.
    Process,
    /// `$((…))`: a number.
    Arithmetic,
    /// Input that another program supplies: an argument from `xargs`, `{}` of `find -exec`.
    Supplied,
}

impl Piece {
    /// Whether it is split where it is not quoted. Numbers that the shell keeps are not.
    pub(crate) fn may_be_split(&self) -> bool {
        match self {
            Self::Parameter { name, .. } => !matches!(name.as_str(), "#" | "?" | "$" | "!" | "-"),
            Self::Choice(words) => words.iter().any(|word| word.several),
            Self::Command => true,
            _ => false,
        }
    }
}

impl Word {
    /// A word whose value is its text.
    pub fn of(value: impl Into<String>) -> Self {
        let value = value.into();
        Self {
            text: value.clone(),
            literal: Some(value),
            pieces: Vec::new(),
            several: false,
        }
    }

    /// A word made of pieces; literal if they are all text. What is computed in it counts as not
    /// quoted.
    pub fn from_pieces(text: String, pieces: Vec<Piece>) -> Self {
        if pieces.iter().all(|piece| matches!(piece, Piece::Text(_))) {
            let mut value = String::new();
            for piece in &pieces {
                if let Piece::Text(part) = piece {
                    value.push_str(part);
                }
            }
            return Self {
                text,
                literal: Some(value),
                pieces: Vec::new(),
                several: false,
            };
        }
        let mut pieces = pieces;
        pieces.retain(|piece| !matches!(piece, Piece::Text(part) if part.is_empty()));
        let several = pieces.iter().any(Piece::may_be_split);
        Self {
            text,
            literal: None,
            pieces,
            several,
        }
    }

    /// The same word, of which it is known whether it is split.
    pub(crate) fn splitting(mut self, several: bool) -> Self {
        self.several = several && self.literal.is_none();
        self
    }

    /// Whether the shell may make several words of it, if only by the names of files.
    pub(crate) fn may_be_many(&self) -> bool {
        let many =
            |piece: &Piece| matches!(piece, Piece::Glob(_) | Piece::Choice(_) | Piece::Sequence);
        self.several || self.pieces.iter().any(many)
    }

    /// What is known of the value: the value, or the text that stands in it.
    pub(crate) fn known_text(&self) -> String {
        let texts = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            _ => "",
        });
        self.literal.clone().unwrap_or_else(|| texts.collect())
    }

    /// The value, if the text alone decides it.
    pub fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// Whether the value is known and is this.
    pub fn is(&self, value: &str) -> bool {
        self.literal.as_deref() == Some(value)
    }

    /// The known text that the value certainly begins with.
    pub fn known_start(&self) -> &str {
        match (&self.literal, self.pieces.first()) {
            (Some(value), _) | (None, Some(Piece::Text(value))) => value,
            _ => "",
        }
    }

    /// The words that this one stands for when `{a,b}` is expanded and parameters have the values
    /// that the text is seen to give them: alternatives, each a sequence of words. Only good for
    /// finding danger, because at run time the values may still be others.
    pub fn supposed(&self, limit: usize) -> Vec<Vec<Self>> {
        let is_open = |piece: &Piece| match piece {
            Piece::Choice(_) => true,
            Piece::Parameter { values, .. } => !values.is_empty(),
            _ => false,
        };
        let mut open = self
            .pieces
            .iter()
            .enumerate()
            .filter(|(_, piece)| is_open(piece));
        let Some((at, _)) = open.next() else {
            return vec![vec![self.clone()]];
        };
        if open.count() > MAX_OPEN_PIECES {
            return vec![vec![self.clone()]];
        }
        let with = |middle: &[Piece]| {
            let mut pieces = self.pieces[..at].to_vec();
            pieces.extend_from_slice(middle);
            pieces.extend_from_slice(&self.pieces[at + 1..]);
            Self::from_pieces(self.text.clone(), pieces).splitting(self.several)
        };
        let mut all: Vec<Vec<Self>> = Vec::new();
        match &self.pieces[at] {
            Piece::Choice(options) => {
                let mut sequence = Vec::new();
                for option in options.iter().take(limit) {
                    let pieces = option.as_pieces();
                    let mut first = with(&pieces).supposed(1);
                    sequence.append(&mut first.swap_remove(0));
                }
                all.push(sequence);
            }
            Piece::Parameter { values, .. } => {
                for value in values.iter().take(limit.max(1)) {
                    all.extend(
                        with(&[Piece::Text(value.clone())])
                            .split()
                            .supposed_each(limit),
                    );
                }
            }
            _ => {}
        }
        all.truncate(limit.max(1));
        all
    }

    /// The pieces, also of a literal word.
    pub fn as_pieces(&self) -> Vec<Piece> {
        match &self.literal {
            Some(value) => vec![Piece::Text(value.clone())],
            None => self.pieces.clone(),
        }
    }

    /// The word, or the words if its value holds blanks.
    fn split(self) -> Vec<Self> {
        match &self.literal {
            Some(value) if value.contains([' ', '\t', '\n']) => {
                value.split_whitespace().map(Self::of).collect()
            }
            _ => vec![self],
        }
    }
}

/// The alternatives of a sequence of words of which at most one is still open.
trait SupposedEach {
    fn supposed_each(self, limit: usize) -> Vec<Vec<Word>>;
}

impl SupposedEach for Vec<Word> {
    fn supposed_each(self, limit: usize) -> Vec<Vec<Word>> {
        match <[Word; 1]>::try_from(self) {
            Ok([word]) => word.supposed(limit),
            Err(words) => vec![words],
        }
    }
}
