//! Where a response goes: to the client at once, or into the response to a batch, which goes when it is whole.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::calls::Calls;
use crate::outbox::Outbox;
use crate::rpc::{self, Id};
use crate::wire::{Fault, FaultKind};

/// Where responses go.
#[derive(Debug, Clone)]
pub(crate) enum Responses {
    Alone(Outbox),
    Together(Arc<Batch>),
}

/// The responses to a batch. They go out when nobody has one to add any more.
#[derive(Debug)]
pub(crate) struct Batch {
    outbox: Outbox,
    responses: Mutex<Vec<Value>>,
}

/// A request that is to be answered exactly once; if it is dropped, too.
#[derive(Debug)]
pub(crate) struct Reply {
    id: Id,
    calls: Arc<Calls>,
    /// Nothing once it has been answered.
    to: Option<Responses>,
}

impl Responses {
    pub(crate) fn together(outbox: &Outbox) -> Self {
        Self::Together(Arc::new(Batch {
            outbox: outbox.clone(),
            responses: Mutex::default(),
        }))
    }

    /// Says something about a message that is no request.
    pub(crate) fn say(&self, id: Option<&Id>, fault: Fault) {
        self.add(rpc::response(id, Err(fault)));
    }

    fn add(&self, response: Value) {
        match self {
            Self::Alone(outbox) => outbox.send(&response),
            Self::Together(batch) => {
                let responses = batch.responses.lock();
                responses
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(response);
            }
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let responses = self
            .responses
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let responses = std::mem::take(responses);
        // Notifications have none.
        if !responses.is_empty() {
            self.outbox.send(&Value::Array(responses));
        }
    }
}

impl Reply {
    pub(crate) fn new(id: Id, calls: &Arc<Calls>, to: Responses) -> Self {
        Self {
            id,
            calls: Arc::clone(calls),
            to: Some(to),
        }
    }

    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// Answers it.
    pub(crate) fn send(mut self, outcome: Result<Value, Fault>) {
        self.finish(outcome);
    }

    fn finish(&mut self, outcome: Result<Value, Fault>) {
        if let Some(to) = self.to.take() {
            // First: whoever reads the response may use the id again.
            self.calls.end(&self.id);
            to.add(rpc::response(Some(&self.id), outcome));
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        let message = "the session ended before there was an answer";
        self.finish(Err(
            Fault::new(FaultKind::CallFailed, message).code("abandoned")
        ));
    }
}
