//! What a session knows of the machine around its commands: sockets that somebody listens on, and
//! repositories inside the writable roots. Both cost a look, so that what was found is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{plan, repositories};

/// How long a list of sockets is good for. Looking takes about a tenth of a millisecond, and one
/// more for every thousand sockets: nothing beside a pause, too much for commands in a row.
const SOCKETS_ARE_GOOD_FOR: Duration = Duration::from_secs(1);

/// What a session knows.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    sockets: Mutex<Option<(Instant, Vec<PathBuf>)>>,
    git_folders: Mutex<BTreeMap<PathBuf, Vec<PathBuf>>>,
}

impl Surroundings {
    /// The machine's sockets, looked up anew unless that was done a moment ago.
    pub(crate) fn sockets(&self) -> Vec<PathBuf> {
        let mut kept = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((when, sockets)) if when.elapsed() < SOCKETS_ARE_GOOD_FOR => sockets.clone(),
            _ => {
                let sockets = plan::machine_sockets();
                *kept = Some((Instant::now(), sockets.clone()));
                sockets
            }
        }
    }

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
