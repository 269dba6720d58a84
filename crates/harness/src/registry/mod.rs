//! The commands that live on between calls: interactive sessions and background tasks.
//!
//! - [`Attended`]: one of them, with the task that reads its output and sees its end
//! - [`Registry`]: all of them, by their ids: how many there may be, which one gives way, how long
//!   an end is remembered
//! - [`Until`]: what a call waits for
//!
//! **Invariants:** what is printed is handed out exactly once; the end of a session is reported
//! exactly once; a session that a call holds is never the one that gives way.

mod attended;
mod ending;
mod input;
mod store;
mod unread;
mod wait;

pub(crate) use attended::{Attended, Charge, Epilogue, Lost};
pub(crate) use ending::{End, State};
pub(crate) use input::InputError;
pub(crate) use store::{Listed, Registry, RegistryLimits, Reserved};
pub use store::{ProcessId, TaskId};
pub(crate) use unread::Layout;
pub(crate) use wait::Until;
