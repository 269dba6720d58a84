//! What a command printed: kept in bounds while it runs, cut to size for the reply.
//!
//! - [`HeadTail`]: the first and the last bytes of a stream of any length
//! - [`Transcript`]: standard output, standard error and both in the order they came, and the file
//!   that the whole goes to when it is long
//! - [`Excerpt`]: text for a reply, cut at character and line borders

mod excerpt;
mod head_tail;
mod spill;
mod transcript;

pub use excerpt::Excerpt;
pub use head_tail::HeadTail;
pub use spill::SpillPlace;
pub use transcript::{Captured, Stream, Transcript, TranscriptLimits};
