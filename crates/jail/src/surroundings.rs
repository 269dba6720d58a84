//! What a session knows of the machine around its commands: repositories inside the writable roots.
//! That costs a look, so that what was found is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::git::{self, Known};

/// What a session knows.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    repositories: Mutex<BTreeMap<PathBuf, Vec<Known>>>,
    /// What was seen of git's set-up.
    pub(crate) git: Arc<git::Memory>,
}

impl Surroundings {
    /// The repositories inside a writable root that were there when it was first used and still
    /// are. What came later was made by commands that may do so, or by the user.
    pub(crate) fn repositories(&self, root: &Path) -> Vec<Known> {
        let mut kept = self
            .repositories
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        kept.entry(root.to_path_buf())
            .or_insert_with(|| git::known(root))
            .iter()
            .filter(|known| known.is_there())
            .cloned()
            .collect()
    }
}
