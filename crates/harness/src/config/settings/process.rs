//! `[process]`: processes that live on between calls.

use std::time::Duration;

use crate::config::declare::settings;

settings! {
    /// Processes that live on between calls.
    pub struct ProcessConfig in "process" {
        /// Processes of `exec_command` that are open at once.
        max: u64 = number(1, 64), Higher;
        /// Open processes from which on every reply warns.
        warn_at: u64 = number(1, 60), Higher;
        /// Open processes, last used, that never give way to a new one.
        keep_recent: u64 = number(0, 8), Higher;
        /// How long `exec_command` waits for output when the call does not say.
        yield_time["yield_ms"]: Duration = millis(0, 10_000), Higher;
        /// How long `write_stdin` waits for output when the call does not say.
        input_yield_time["input_yield_ms"]: Duration = millis(0, 250), Higher;
        /// How long a task that is stopped may take to end by itself before it is killed.
        stop_grace["stop_grace_ms"]: Duration = millis(0, 2000), Higher;
        /// The longest that a call may wait for a process or a task.
        max_wait["max_wait_ms"]: Duration = millis(0, 600_000), Higher;
    }
}
