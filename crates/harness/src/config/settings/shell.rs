//! `[shell]`: the `shell` and `shell_command` tools.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::declare::settings;

settings! {
    /// The `shell` and `shell_command` tools.
    pub struct ShellConfig in "shell" {
        /// The shell that runs commands; found from the user's account when absent.
        path: Option<PathBuf> = path(), Always;
        /// Whether commands see the environment of a login shell.
        login: bool = switch(true), Never;
        /// Time-out of `shell` and `shell_command` when the call names none.
        timeout["timeout_ms"]: Duration = millis(1, 10_000), Higher;
        /// How long a command of `shell`, `shell_command` or `bash` may print nothing before it is stopped.
        silence["silence_timeout_ms"]: Option<Duration> = limit_millis(1, None), Higher;
    }
}
