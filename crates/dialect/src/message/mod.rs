//! A message of a model, taken apart: what is said, what is thought, and scripts, in order. Put
//! together again, the parts are the message, byte for byte.
//!
//! - `segment`: the parts; `position`: where they are
//! - `detector`: takes a message apart piece by piece as it comes in; `block`, `thought`: the parts with an end of their
//!   own; `mark`: the tags and fences; `inline`: code in a line; `comment`: what is between `<!--` and `-->`
//! - `source`: the script in a block, and whether it can be one; `lexer`: strings and comments in it, where marks are none
//!
//! Scripts are found, not understood: whether one is JavaScript is for the parser to say.

mod block;
mod comment;
mod detector;
mod inline;
mod lexer;
mod mark;
mod position;
mod segment;
mod source;
mod thought;

pub use detector::{Detector, detect, detect_at};
pub use position::Position;
pub use segment::{Form, Rejection, RejectionKind, Script, Segment, SegmentKind, joined};

/// What a script may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// Its size in bytes.
    pub max_source_bytes: u64,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self {
            max_source_bytes: 20_480,
        }
    }
}
