//! What was answered about the hosts of requests, for as long as a script runs: a yes to a host is not one
//! to its first request only, and a no is not asked for again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ringfence_policy::judge::{ApprovalKey, SessionApprovals};
use ringfence_policy::verdict::Refusal;

/// What was answered about hosts.
#[derive(Debug, Default)]
pub(crate) struct HostAnswers(Mutex<Given>);

#[derive(Debug, Default)]
struct Given {
    approved: SessionApprovals,
    declined: BTreeMap<String, Refusal>,
}

impl HostAnswers {
    /// What was approved.
    pub(crate) fn approved(&self) -> SessionApprovals {
        self.given().approved.clone()
    }

    /// Why this was not, if that was said before.
    pub(crate) fn declined(&self, about: &str) -> Option<Refusal> {
        self.given().declined.get(about).cloned()
    }

    /// Keeps a yes.
    pub(crate) fn approve(&self, key: ApprovalKey) {
        self.given().approved.insert(key);
    }

    /// Keeps a no.
    pub(crate) fn decline(&self, about: &str, refusal: Refusal) {
        self.given().declined.insert(about.to_owned(), refusal);
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
