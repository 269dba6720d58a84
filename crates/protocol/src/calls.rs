//! The requests of the client that are under way, by the ids that it gave them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ringfence::Call;
use ringfence::audit::CallId;
use serde_json::Value;
use tokio::sync::Notify;

use crate::lineage::Lineage;
use crate::rpc::Id;
use crate::turns::Turn;
use crate::wire::{Fault, FaultKind};

/// How much may be under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    pub(crate) requests: usize,
    /// Bytes of their messages.
    pub(crate) bytes: usize,
}

/// The requests under way.
#[derive(Debug)]
pub(crate) struct Calls {
    most: Most,
    state: Mutex<State>,
    /// One has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<String, Open>,
    bytes: usize,
    /// The client's id of a call of ours.
    ids: Lineage<Value>,
}

#[derive(Debug)]
struct Open {
    bytes: usize,
    id: Value,
    /// Nothing for a request that is no call of a tool.
    call: Option<(Call, Turn)>,
}

impl Calls {
    pub(crate) fn new(most: Most) -> Self {
        Self {
            most,
            state: Mutex::default(),
            ended: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a request.
    pub(crate) fn begin(&self, id: &Id, bytes: usize) -> Result<(), Fault> {
        let mut state = self.state();
        if state.open.contains_key(&id.key()) {
            let message = "a request with this id is under way";
            let mut fault = Fault::new(FaultKind::InvalidRequest, message).code("id_in_use");
            fault.data.id = Some(id.value().clone());
            return Err(fault);
        }
        if state.open.len() >= self.most.requests || state.bytes + bytes > self.most.bytes {
            let message = format!(
                "{} requests are under way, and no more are taken before some are answered",
                state.open.len()
            );
            return Err(Fault::new(FaultKind::TooMuch, message));
        }
        state.bytes += bytes;
        let open = Open {
            bytes,
            id: id.value().clone(),
            call: None,
        };
        state.open.insert(id.key(), open);
        Ok(())
    }

    /// The request is a call of a tool.
    pub(crate) fn is_call(&self, id: &Id, call: &Call, turn: Turn) {
        let mut state = self.state();
        if let Some(open) = state.open.get_mut(&id.key()) {
            open.call = Some((call.clone(), turn));
        }
        state.ids.remember(call.id.clone(), id.value().clone());
    }

    /// A call that another makes is known by the id of that one's request.
    pub(crate) fn is_made_by(&self, call: &CallId, parent: &CallId) {
        self.state().ids.is_made_by(call, parent);
    }

    /// The request is about to be answered.
    pub(crate) fn end(&self, id: &Id) {
        let mut state = self.state();
        if let Some(open) = state.open.remove(&id.key()) {
            state.bytes -= open.bytes;
        }
        drop(state);
        self.ended.notify_waiters();
    }

    /// Does something with the call of this id; false if there is none.
    pub(crate) fn with(&self, id: &Value, act: impl FnOnce(&Call)) -> bool {
        let state = self.state();
        let open = state.open.get(&id.to_string());
        let call = open.and_then(|open| open.call.as_ref());
        call.map(|(call, _)| act(call)).is_some()
    }

    /// The client's id of a call.
    pub(crate) fn id_of(&self, call: &CallId) -> Option<Value> {
        self.state().ids.of(call)
    }

    /// The turn of a call.
    pub(crate) fn turn_of(&self, call: &CallId) -> Option<Turn> {
        let state = self.state();
        let mut calls = state.open.values().filter_map(|open| open.call.as_ref());
        calls
            .find(|(open, _)| open.id == *call)
            .map(|(_, turn)| turn.clone())
    }

    /// Cancels all calls, and gives back their ids.
    pub(crate) fn cancel_all(&self) -> Vec<Value> {
        let state = self.state();
        let mut cancelled = Vec::new();
        for open in state.open.values() {
            if let Some((call, _)) = &open.call {
                call.cancel.cancel();
                cancelled.push(open.id.clone());
            }
        }
        cancelled
    }

    /// Waits until no call is under way.
    pub(crate) async fn all_ended(&self) {
        loop {
            let ended = self.ended.notified();
            if !self.state().open.values().any(|open| open.call.is_some()) {
                return;
            }
            ended.await;
        }
    }
}
