//! What a command printed: kept in bounds while it runs, cut to size for the reply.
//!
//! - [`HeadTail`]: the first and the last bytes of a stream of any length
//! - [`Transcript`]: standard output, standard error and both in the order they came, and the file
//!   that the whole goes to when it is long
//! - [`Deltas`]: pieces of text that are handed on while it comes
//! - [`Screen`]: what somebody who looked at a terminal would see
//! - [`Excerpt`]: text for a reply, cut at character and line borders
//! - [`Kind`], [`Image`], [`Strip`]: what else than text there is in it
//! - [`Shown`]: a stream as a reply has it, as text and as blocks
//! - [`OutputProcessor`]: whoever may change the text of replies

mod ansi;
mod delta;
mod excerpt;
mod head_tail;
mod image;
mod kind;
mod processor;
mod screen;
mod shown;
mod spill;
mod text;
mod transcript;

pub use ansi::{Ansi, Strip};
pub use delta::{Delta, DeltaLimits, Deltas};
pub use excerpt::Excerpt;
pub use head_tail::{Drain, HeadTail};
pub use image::Image;
pub use kind::{BinaryKind, ImageFormat, Kind, SNIFFED_BYTES};
pub use processor::OutputProcessor;
pub use screen::{Cursor, Face, LARGEST as LARGEST_SCREEN, Picture, Screen, TERM};
pub use shown::{Block, Showing, Shown};
pub use spill::SpillPlace;
pub use transcript::{Captured, Stream, Transcript, TranscriptLimits};
