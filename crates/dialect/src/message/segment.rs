//! The parts of a message.

use std::fmt;

use super::position::Position;
use crate::item::Language;

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Byte for byte as it is in the message.
    pub raw: Vec<u8>,
    /// Where it begins.
    pub at: Position,
    /// What it is.
    pub kind: SegmentKind,
}

/// What a part of a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SegmentKind {
    /// Something said, code that is only shown included.
    Text,
    /// Something thought: the text between the tags.
    Thinking(String),
    /// A script.
    Script(Script),
    /// A block that is none, and is not run.
    Rejected(Rejection),
}

/// A script in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The script, without blanks around it.
    pub source: String,
    /// Where its first character is in the message.
    pub source_at: Position,
    /// What it is written in.
    pub language: Language,
    /// How it was marked.
    pub form: Form,
    /// How many bytes of the part there are up to the first mark that could have ended it, where that was taken for a
    /// part of a string or a comment. If the script is none, it ended there.
    pub could_end: Option<usize>,
}

/// How a script is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// `<tool-calls>` … `</tool-calls>`
    Tags,
    /// A fence with `ts tool-calls` behind it.
    Fence,
}

/// A block that cannot be a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Why not.
    pub kind: RejectionKind,
    /// Where the trouble is.
    pub at: Position,
}

/// Why a block cannot be a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RejectionKind {
    /// The message ends before the block does.
    Unclosed(Form),
    /// An end without a beginning.
    Unopened,
    /// A block in a block.
    Nested,
    /// A tag with something in it that is not understood.
    MalformedTag,
    /// There is nothing in it.
    Empty,
    /// It is not text.
    NotUtf8,
    /// It is too long.
    TooLong {
        /// How many bytes it has.
        size: u64,
        /// How many it may have.
        most: u64,
    },
    /// The message ends before the thought does; nothing in it is run.
    UnclosedThinking,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match &self.kind {
            RejectionKind::Unclosed(Form::Tags) => {
                write!(f, "the block that begins at {at} has no `</tool-calls>`")
            }
            RejectionKind::Unclosed(Form::Fence) => {
                write!(f, "the fence that begins at {at} is not closed")
            }
            RejectionKind::Unopened => {
                write!(f, "the `</tool-calls>` at {at} closes nothing")
            }
            RejectionKind::Nested => write!(
                f,
                "another block begins at {at}, inside a block; write one after the other"
            ),
            RejectionKind::MalformedTag => write!(
                f,
                "the mark at {at} is not understood; write `<tool-calls>` or ```ts tool-calls, and nothing else in it"
            ),
            RejectionKind::Empty => write!(f, "the block at {at} is empty"),
            RejectionKind::NotUtf8 => write!(f, "the script is not UTF-8 at {at}"),
            RejectionKind::TooLong { size, most } => write!(
                f,
                "the script at {at} has {size} bytes, and {most} are the most; split it"
            ),
            RejectionKind::UnclosedThinking => {
                write!(f, "the thought that begins at {at} is not closed")
            }
        }
    }
}

impl std::error::Error for Rejection {}

/// The same parts with texts that follow each other put together, which is how they come out
/// whatever pieces the message came in.
pub fn joined(segments: impl IntoIterator<Item = Segment>) -> Vec<Segment> {
    let mut all: Vec<Segment> = Vec::new();
    for segment in segments {
        match all.last_mut() {
            Some(last) if last.kind == SegmentKind::Text && segment.kind == SegmentKind::Text => {
                last.raw.extend(segment.raw);
            }
            _ => all.push(segment),
        }
    }
    all
}
