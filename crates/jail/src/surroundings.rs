//! What a session knows of the machine around its commands: repositories inside the writable roots,
//! and what the last launch found there. Each costs a look, so that what was found is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::git::{self, Known};
use crate::survey::Survey;

/// What a session knows.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    repositories: Mutex<BTreeMap<PathBuf, Vec<Known>>>,
    /// What was seen of git's set-up.
    pub(crate) git: Arc<git::Memory>,
    /// What the last launch found.
    survey: Mutex<Option<Arc<Survey>>>,
}

impl Surroundings {
    /// What the last launch found.
    pub(crate) fn survey(&self) -> Option<Arc<Survey>> {
        let kept = self.survey.lock();
        kept.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps what a launch found.
    pub(crate) fn keep(&self, survey: &Arc<Survey>) {
        let mut kept = self.survey.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(Arc::clone(survey));
    }

    /// Begins to look for repositories in a root that will be used: whoever asks for them waits for
    /// what is left of it.
    pub(crate) fn look_ahead(self: &Arc<Self>, root: &Path) {
        let Ok(root) = root.canonicalize() else {
            return;
        };
        let surroundings = Arc::clone(self);
        // Without a thread they are looked for when they are asked for.
        let _ = std::thread::Builder::new()
            .name("ringfence-look".to_owned())
            .spawn(move || drop(surroundings.repositories(&root)));
    }

    /// The repositories inside a writable root that were there when it was first used and still
    /// are. What came later was made by commands that may do so, or by the user.
    pub(crate) fn repositories(&self, root: &Path) -> Vec<Known> {
        let mut kept = self
            .repositories
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        kept.entry(root.to_path_buf())
            .or_insert_with(|| self.git.known(root))
            .iter()
            .filter(|known| known.is_there())
            .cloned()
            .collect()
    }
}
