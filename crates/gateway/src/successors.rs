//! Which response of the provider's a client means by an id.
//!
//! An answer that took several rounds has the id of the first one, as clients want it. A provider that keeps
//! conversations has to go on from the last one.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use ringfence::dialect::provider::{Raw, Request};

/// How many are remembered.
const MOST: usize = 4_096;

/// The field by which a client goes on from an answer.
const FIELD: &str = "previous_response_id";

/// The last responses of answers that took several.
#[derive(Debug, Default)]
pub(crate) struct Successors(Mutex<VecDeque<(String, String)>>);

impl Successors {
    /// Remembers by which id the provider knows the end of an answer.
    pub(crate) fn remember(&self, first: &str, last: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MOST {
            known.pop_front();
        }
        known.push_back((first.to_owned(), last.to_owned()));
    }

    /// Has a request go on from where its answer ended.
    pub(crate) fn follow(&self, request: &mut Request) {
        let Some(id) = request.fields.text(FIELD) else {
            return;
        };
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, last)) = known.iter().rev().find(|(first, _)| *first == id) {
            request.fields.set(FIELD, Raw::string(last));
        }
    }
}
