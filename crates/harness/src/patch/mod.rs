//! Patches: from a text to changed files, all of them or none.
//!
//! - `parse`, `envelope`, `unified`: the two forms of a patch; `change`: what it asks for
//! - `place`: where its paths really are; `draft`: what files will hold, worked out in memory;
//!   `amend`, `fit`, `text`: hunks on lines
//! - `swap`, `journal`, `folder`: all or nothing, also for a program that is killed in the middle
//!
//! Whether a patch may be applied is judged elsewhere; nothing is written here without a permit.

mod amend;
mod apply;
mod change;
mod draft;
mod envelope;
mod error;
mod fit;
mod folder;
mod journal;
mod location;
mod parse;
mod step;
mod swap;
mod text;
mod unified;

#[cfg(test)]
mod tests;

pub(crate) use apply::{
    Applied, ChangeKind, FileChange, Located, Workplace, apply, locate, recover,
};
pub use error::{HunkFailure, PatchError};
pub(crate) use location::Atlas;
pub(crate) use swap::{Became, Recovered};
