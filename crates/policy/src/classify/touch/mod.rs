//! What it means to read, write or delete at a place.
//!
//! Which places hold secrets or run code later is in [`sensitive::path`](crate::sensitive::path); where a word points is
//! worked out in `path`.

mod deletion;
mod known;
mod reading;
mod tampering;
mod writing;

use super::Class;

pub(super) use deletion::deletion;
pub(super) use reading::{looking, reading};
pub(super) use writing::writing;

/// A verdict on one use of a path.
pub(super) type Finding = (Class, String);
