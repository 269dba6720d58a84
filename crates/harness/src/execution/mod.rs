//! A command from its start to its end: output taken in as fast as it comes, time bounded,
//! cancellation heeded.
//!
//! - [`Running`]: a started command and its output, step by step
//! - [`drive`]: the foreground, which follows one to its end or hands it over
//! - [`Stopwatch`]: the time that counts; it stands still while a person thinks
//! - [`Latch`] and [`Cancel`]: words from outside

mod drive;
mod latch;
mod running;
mod stopwatch;

use std::time::Duration;

use ringfence_jail::Exit;

use crate::output::Captured;

pub use drive::{DriveResult, OnTimeout, Outside, TerminalInput, Timing, drive};
pub use latch::{Cancel, Latch};
pub(crate) use running::Step;
pub use running::{Remaining, Running};
pub use stopwatch::{Paused, Stopwatch};

/// How a command came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    Exited,
    /// It took too long and was killed.
    TimedOut,
    /// It printed nothing for too long and was killed.
    FellSilent,
    /// It was cancelled and killed.
    Cancelled,
}

impl Ending {
    /// Whether a clock ended it.
    pub fn is_timeout(self) -> bool {
        matches!(self, Self::TimedOut | Self::FellSilent)
    }
}

/// A command that has run.
#[derive(Debug)]
pub struct Execution {
    /// How it came to its end.
    pub ending: Ending,
    /// The kernel's word on it.
    pub exit: Exit,
    /// What it printed.
    pub output: Captured,
    /// How long it took.
    pub duration: Duration,
    /// What it left running, if anything: the owner decides about its life.
    pub remaining: Option<Remaining>,
}

impl Execution {
    /// The exit code: 124 for a time-out, 137 for a cancellation, 128 and the number for a signal.
    pub fn exit_code(&self) -> i32 {
        exit_code(self.ending, &self.exit)
    }
}

/// The exit code of a command that came to its end in some way.
pub(crate) fn exit_code(ending: Ending, exit: &Exit) -> i32 {
    match ending {
        Ending::TimedOut | Ending::FellSilent => 124,
        Ending::Cancelled => 137,
        Ending::Exited => exit.code(),
    }
}
