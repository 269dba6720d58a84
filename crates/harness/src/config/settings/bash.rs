//! `[bash]`: the `bash` tool.

use std::time::Duration;

use crate::config::declare::{settings, words};

settings! {
    /// The `bash` tool.
    pub struct BashConfig in "bash" {
        /// Time-out of `bash` when the call names none.
        default_timeout["default_timeout_ms"]: Duration = millis(1, 120_000), Higher;
        /// The longest time-out that a call of `bash` may name.
        max_timeout["max_timeout_ms"]: Duration = millis(1, 600_000), Higher;
        /// Characters of output in a reply; the whole goes to a file.
        max_output_chars: u64 = number(1, 30_000), Higher;
        /// Background tasks of a session at once.
        max_background_tasks: u64 = number(0, 10), Higher;
        /// How long an ended task's output is kept.
        task_retention["task_retention_hours"]: Duration = hours(0, 1), Higher;
        /// Ended tasks that are kept at most.
        max_ended_tasks: u64 = number(0, 64), Higher;
        /// What happens to a command that takes too long.
        on_timeout: OnTimeout = word("kill"), Later;
    }
}

words! {
    /// What happens to a command that takes too long.
    pub enum OnTimeout {
        /// It is killed.
        Kill = "kill",
        /// It becomes a background task.
        Background = "background",
    }
}
