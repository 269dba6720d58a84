//! What was put back or set aside after a run, as it is told.

use std::path::PathBuf;

/// Something of git's set-up that a run had changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// What.
    pub path: PathBuf,
    /// What was done about it.
    pub amends: Amends,
    /// Why.
    pub reason: String,
}

/// What was done about a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Amends {
    /// It has this name now.
    SetAside(PathBuf),
    /// It is as it was before.
    PutBack {
        /// Where what was there is now.
        kept: Option<PathBuf>,
    },
    /// Nothing could be done.
    Failed(String),
    /// The run was ended.
    Ended,
}

impl Repair {
    /// What became of a run whose cover of a path was lost, and that may have used the moment.
    pub(crate) fn exposed(path: PathBuf) -> Self {
        Self {
            path,
            amends: Amends::Ended,
            reason: "somebody outside replaced it while a command ran that may have changed it \
                     before it was protected again"
                .to_owned(),
        }
    }
}
