//! Calls that wait for an answer which comes with another request.
//!
//! A handle is a number that nobody can guess, and says nothing: what it stands for stays here. It is good
//! for one use, by the caller that it was given to, for the same tool and arguments.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use thiserror::Error;

use crate::approver::Pending;
use crate::flight::Flight;
use crate::secret::secret;

/// As many calls wait; the one that has waited longest gives way, and is cancelled.
const MOST: usize = 256;
/// So long a call is kept. Its question is over before that.
const KEPT: Duration = Duration::from_mins(15);

/// The calls that wait.
#[derive(Default)]
pub(crate) struct Parked(Mutex<VecDeque<(String, Waiting)>>);

/// A call that waits.
pub(crate) struct Waiting {
    pub(crate) flight: Flight,
    /// What is asked, by the names that answers go by.
    pub(crate) asked: Vec<(String, Pending)>,
    pub(crate) binding: Binding,
    since: Instant,
}

/// What a handle is good for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Binding {
    /// Whose it is; nothing where there is one client.
    pub(crate) principal: Option<String>,
    pub(crate) tool: String,
    pub(crate) arguments: Map<String, Value>,
}

/// Why a handle is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum HandleError {
    #[error(
        "this requestState is not known: it was used before, its time is over, or it was never given out; nothing was run. \
         Make the call again without it"
    )]
    Unknown,
    #[error(
        "this requestState belongs to another call: repeat the request with the same tool and arguments"
    )]
    OtherCall,
    #[error("no handle could be made")]
    NoRandomness,
}

impl Waiting {
    pub(crate) fn new(flight: Flight, asked: Vec<(String, Pending)>, binding: Binding) -> Self {
        Self {
            flight,
            asked,
            binding,
            since: Instant::now(),
        }
    }
}

impl Parked {
    /// Keeps a call, and gives out its handle.
    pub(crate) fn park(&self, waiting: Waiting) -> Result<String, HandleError> {
        let handle = secret().map_err(|_| HandleError::NoRandomness)?;
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parked.retain(|(_, waiting)| waiting.since.elapsed() < KEPT);
        if parked.len() >= MOST {
            parked.pop_front();
        }
        parked.push_back((handle.clone(), waiting));
        Ok(handle)
    }

    /// Takes the call of a handle, which is used up by it. What does not fit uses up nothing.
    pub(crate) fn take(&self, handle: &str, binding: &Binding) -> Result<Waiting, HandleError> {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = parked.iter().position(|(known, _)| known == handle);
        let at = at.ok_or(HandleError::Unknown)?;
        let kept = &parked[at].1.binding;
        if kept.principal != binding.principal {
            // Whoever it does not belong to learns nothing of it.
            return Err(HandleError::Unknown);
        }
        if kept != binding {
            return Err(HandleError::OtherCall);
        }
        let (_, waiting) = parked.remove(at).ok_or(HandleError::Unknown)?;
        Ok(waiting)
    }

    /// Drops all of them: they are cancelled.
    pub(crate) fn clear(&self) {
        let mut parked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parked.clear();
    }
}
