//! Which request of a client's a call belongs to, also when another call made it, and also when it is over.

use std::collections::VecDeque;

use ringfence::audit::CallId;

/// How many calls are remembered when they are over: what one has started may end much later.
const REMEMBERED: usize = 4096;

/// What calls belong to.
#[derive(Debug)]
pub struct Lineage<T> {
    /// Newest last.
    known: VecDeque<(CallId, T)>,
}

impl<T> Default for Lineage<T> {
    fn default() -> Self {
        Self {
            known: VecDeque::new(),
        }
    }
}

impl<T: Clone> Lineage<T> {
    /// A call belongs to this.
    pub fn remember(&mut self, call: CallId, of: T) {
        self.known.push_back((call, of));
        if self.known.len() > REMEMBERED {
            self.known.pop_front();
        }
    }

    /// A call that another makes belongs to what that one belongs to.
    pub fn is_made_by(&mut self, call: &CallId, parent: &CallId) {
        if let Some(of) = self.of(parent) {
            self.remember(call.clone(), of);
        }
    }

    /// What a call belongs to.
    pub fn of(&self, call: &CallId) -> Option<T> {
        let mut newest_first = self.known.iter().rev();
        newest_first
            .find(|(known, _)| known == call)
            .map(|(_, of)| of.clone())
    }
}
