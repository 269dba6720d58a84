//! What a session knows of git: what was seen of repositories before, for as long as it is still so;
//! looks that are still under way; and what came of those.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Repair;
use super::known::{self, Known, Walked};
use super::reach::Reach;
use super::seen::Seen;

/// The most folders that are remembered. Beyond that all are looked at again.
const MOST: usize = 8192;
/// The most that is kept to be told.
const MOST_MENDED: usize = 256;
/// How long looks that are under way are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    seen: Mutex<HashMap<PathBuf, Arc<Seen>>>,
    walked: Mutex<Walked>,
    mended: Mutex<Vec<Repair>>,
    under_way: Mutex<usize>,
    ended: Condvar,
}

/// A look that is under way.
#[derive(Debug)]
pub(super) struct Pending(Arc<Memory>);

impl Memory {
    /// What is to be seen in a folder: what was, if nothing of that has changed.
    pub(super) fn look(&self, reach: &Reach, folder: &Path) -> Arc<Seen> {
        let mut kept = locked(&self.seen);
        if let Some(seen) = kept.get(folder)
            && seen.is_still_so(reach)
        {
            return Arc::clone(seen);
        }
        let seen = Arc::new(Seen::of(reach, folder));
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(folder.to_path_buf(), Arc::clone(&seen));
        seen
    }

    /// The repositories below a root, but for the root's own.
    pub(crate) fn known(&self, root: &Path) -> Vec<Known> {
        known::known(root, &mut locked(&self.walked))
    }

    /// Begins a look that is waited for at the session's end.
    pub(super) fn pending(self: &Arc<Self>) -> Pending {
        *locked(&self.under_way) += 1;
        Pending(Arc::clone(self))
    }

    /// Waits for looks that are under way.
    pub(crate) fn settle(&self) {
        let looks = locked(&self.under_way);
        let waited = self
            .ended
            .wait_timeout_while(looks, PATIENCE, |looks| *looks > 0);
        drop(waited);
    }

    /// Keeps what was mended when nobody waited, to be told with what comes next.
    pub(super) fn tell(&self, mended: Vec<Repair>) {
        let mut kept = locked(&self.mended);
        let room = MOST_MENDED.saturating_sub(kept.len());
        kept.extend(mended.into_iter().take(room));
    }

    /// Takes that.
    pub(crate) fn take_mended(&self) -> Vec<Repair> {
        std::mem::take(&mut *locked(&self.mended))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        *locked(&self.0.under_way) -= 1;
        self.0.ended.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
