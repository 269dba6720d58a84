//! What a session knows of the machine around its commands: repositories inside the writable roots.
//! That costs a look, so that what was found is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::repositories;

/// What a session knows.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    git_folders: Mutex<BTreeMap<PathBuf, Vec<PathBuf>>>,
}

impl Surroundings {
    /// The git folders inside a writable root that were there when it was first used and still
    /// are. What came later was made by commands that may do so, or by the user.
    pub(crate) fn git_folders(&self, root: &Path) -> Vec<PathBuf> {
        let mut kept = self
            .git_folders
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        kept.entry(root.to_path_buf())
            .or_insert_with(|| repositories::git_folders(root))
            .iter()
            .filter(|folder| folder.is_dir())
            .cloned()
            .collect()
    }
}
