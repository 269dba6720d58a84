//! What a session knows of the machine around its commands: sockets that somebody listens on, and
//! repositories inside the writable roots. Both cost a look, so that what was found is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::git::{self, Known};
use crate::plan;

/// How long a list of sockets is good for. Looking takes about a tenth of a millisecond, and one
/// more for every thousand sockets: nothing beside a pause, too much for commands in a row.
const SOCKETS_ARE_GOOD_FOR: Duration = Duration::from_secs(1);

/// What a session knows.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    sockets: Mutex<Option<(Instant, Vec<PathBuf>)>>,
    repositories: Mutex<BTreeMap<PathBuf, Vec<Known>>>,
    /// What was seen of git's set-up.
    pub(crate) git: Arc<git::Memory>,
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
