//! `[output]`: how much output is kept, and how it is told.

use std::time::Duration;

use crate::config::declare::{settings, words};
use crate::output::Ansi;

settings! {
    /// How much output is kept, and how it is told.
    pub struct OutputConfig in "output" {
        /// Output of a command that is held in memory, head and tail.
        buffer_bytes: u64 = number(1024, 1 << 20), Higher;
        /// Output of a command that is kept in a file.
        spill_cap_bytes: u64 = number(0, 64 << 20), Higher;
        /// Bytes of such files of all sessions that are kept after their session has ended.
        kept_bytes: u64 = number(0, 1 << 30), Higher;
        /// Hours for which they are kept.
        kept_hours: u64 = number(0, 24), Higher;
        /// How long to read on after a command ended and others hold its output open.
        drain["drain_ms"]: Duration = millis(0, 2000), Higher;
        /// Whether escape sequences, such as colours, stay in replies.
        ansi: Ansi = word("remove"), Never;
        /// Size of all images in a reply; larger ones are only named.
        max_image_bytes: u64 = number(0, 3_750_000), Higher;
        /// Size of a piece of output that is told while a command runs.
        delta_bytes: u64 = number(4, 8192), Higher;
        /// Pieces of output of one call that are told while it runs.
        max_deltas: u64 = number(0, 10_000), Higher;
    }
}

words! { Ansi { Remove = "remove", Keep = "keep", } }
