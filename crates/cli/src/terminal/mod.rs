//! The user's terminal. There is one, and several who want it: what a command prints, what a
//! person is asked, a line that says how long things take.
//!
//! - [`CONSOLE`]: who may write now
//! - [`Raw`]: every key handed on as it is, and the terminal as it was afterwards
//! - [`keyboard`]: what is typed, and the size of the window

mod console;
pub(crate) mod keyboard;
mod progress;
mod raw;

pub(crate) use console::{Asking, CONSOLE, is_dumb};
pub(crate) use raw::Raw;
