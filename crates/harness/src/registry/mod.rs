//! The commands that live on between calls: open processes and background tasks.
//!
//! - [`KeptCommand`]: one of them, with the task that reads its output and sees its end
//! - [`Registry`]: all of them, by their ids: how many there may be, which one gives way, how long
//!   an end is remembered
//! - [`Until`]: what a call waits for
//!
//! **Invariants:** what is printed is handed out exactly once; the end of a process is reported
//! exactly once; a process that a call holds is never the one that gives way.

#[cfg(feature = "commands")]
mod ending;
mod id;
#[cfg(feature = "commands")]
mod input;
#[cfg(feature = "commands")]
mod keeper;
#[cfg(feature = "commands")]
mod kept_command;
#[cfg(feature = "commands")]
mod store;
#[cfg(feature = "commands")]
mod unread_output;
#[cfg(feature = "commands")]
mod wait;

#[cfg(feature = "commands")]
pub(crate) use ending::{End, State};
pub use id::{ProcessId, TaskId};
#[cfg(feature = "commands")]
pub(crate) use input::InputError;
#[cfg(feature = "commands")]
pub(crate) use keeper::{Charge, Epilogue, Lost, Timing};
#[cfg(feature = "commands")]
pub(crate) use kept_command::KeptCommand;
#[cfg(feature = "commands")]
pub(crate) use store::{Listed, Registry, RegistryLimits, Reserved};
#[cfg(feature = "commands")]
pub(crate) use unread_output::Layout;
#[cfg(feature = "commands")]
pub(crate) use wait::{Since, Until};
