//! What commands left running: tasks of the session, which live until they end or it does.

use std::sync::{Mutex, PoisonError};

use ringfence_jail::Process;

/// The tasks of a session. Dropping it ends them all.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    kept: Mutex<Vec<(String, Process)>>,
}

impl Tasks {
    /// Keeps a run alive and gives it an id.
    pub(crate) fn keep(&self, process: Process) -> String {
        let id = crate::identifier::random("task");
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((id.clone(), process));
        id
    }
}
