//! What commands left running: tasks of the session, which live until they end or it does.

use std::sync::{Mutex, PoisonError};

use tokio::task::JoinHandle;

use crate::execution::Remaining;

/// The tasks of a session. Dropping it ends them all.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    kept: Mutex<Vec<JoinHandle<()>>>,
}

impl Tasks {
    /// Keeps a run alive and gives it an id.
    pub(crate) fn keep(&self, remaining: Remaining) -> String {
        let id = crate::identifier::random("task");
        let attended = tokio::spawn(async move {
            let _ = remaining.attend(|_, _| {}).await;
        });
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|task| !task.is_finished());
        kept.push(attended);
        id
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for task in self.kept.get_mut().unwrap_or_else(PoisonError::into_inner) {
            task.abort();
        }
    }
}
