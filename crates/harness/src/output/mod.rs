//! What a command printed: kept in bounds while it runs, cut to size for the reply.
//!
//! - `HeadTail`: the first and the last bytes of a stream of any length
//! - `Transcript`: standard output, standard error and both in the order they came, and the file
//!   that the whole goes to when it is long
//! - `Outputs`: the folder of such files, which outlives the engine
//! - `Deltas`: pieces of text that are handed on while it comes
//! - `Screen`: what somebody who looked at a terminal would see
//! - `Excerpt`: text for a reply, cut at character and line borders
//! - `Kind`, `Image`, `Strip`: what else than text there is in it
//! - `StreamView`: a stream as a reply has it, as text and as blocks
//! - `OutputProcessor`: whoever may change the text of replies

mod ansi;
mod delta;
mod excerpt;
mod frame;
mod head_tail;
mod image;
mod kind;
mod mixed;
mod outputs;
mod processor;
#[cfg(feature = "commands")]
mod screen;
mod spill;
mod stream_view;
mod text;
mod transcript;

pub use ansi::Ansi;
pub(crate) use ansi::Strip;
pub(crate) use excerpt::Excerpt;
pub use head_tail::{Drain, HeadTail};
pub(crate) use image::Image;
pub(crate) use kind::{BinaryKind, ImageFormat, Kind};
pub use processor::OutputProcessor;
#[cfg(feature = "commands")]
pub(crate) use screen::TERM;
pub use spill::OutputFile;
pub(crate) use stream_view::{Block, StreamView, ViewOptions};
pub use transcript::{Captured, Stream};

// What the benchmarks and tests of this project look at from outside. No part of the interface.
#[doc(hidden)]
pub use delta::{Delta, DeltaLimits, Deltas};
#[doc(hidden)]
pub use outputs::{Outputs, Retention};
#[cfg(feature = "commands")]
#[doc(hidden)]
pub use screen::{Face, Screen};
#[doc(hidden)]
pub use spill::SpillOptions;
#[doc(hidden)]
pub use transcript::{Transcript, TranscriptLimits};
