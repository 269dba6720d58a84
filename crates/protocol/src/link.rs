//! What everything that has to do with one client shares.

use std::sync::{Arc, OnceLock, Weak};

use ringfence::Call;
use ringfence::event::{Event, Listener};
use serde_json::Value;

use crate::calls::{Calls, Most};
use crate::events::told;
use crate::handles::Handles;
use crate::outbox::{Outbox, Outgoing, Room, outbox};
use crate::requests::Requests;
use crate::rpc;
use crate::turns::Turns;
use crate::wire::{Capabilities, Happened, UnexpectedParams};

/// The link to a client.
pub(crate) struct Link {
    pub(crate) outbox: Outbox,
    pub(crate) requests: Arc<Requests>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) handles: Handles,
    pub(crate) turns: Turns,
    /// Known once the client has initialised.
    pub(crate) capabilities: OnceLock<Capabilities>,
}

impl Link {
    pub(crate) fn new(room: Room, most: Most, at_once: usize) -> (Arc<Self>, Outgoing) {
        let (outbox, outgoing) = outbox(room);
        let link = Self {
            outbox,
            requests: Arc::default(),
            calls: Arc::new(Calls::new(most)),
            handles: Handles::default(),
            turns: Turns::new(at_once),
            capabilities: OnceLock::new(),
        };
        (Arc::new(link), outgoing)
    }

    /// The client's id of a call, or of the call that makes it.
    pub(crate) fn id_of(&self, call: &Call) -> Option<Value> {
        let own = self.calls.id_of(&call.id);
        own.or_else(|| self.calls.id_of(call.parent.as_ref()?))
    }

    /// Tells the client that it answered what was not asked.
    pub(crate) fn unexpected(&self, id: Value, reason: &str) {
        let reason = reason.to_owned();
        let params = UnexpectedParams { id, reason };
        self.outbox
            .offer(&rpc::notification("unexpected_response", &params));
    }

    /// The client, as somebody who hears what happens.
    pub(crate) fn listener(self: &Arc<Self>) -> Arc<dyn Listener> {
        let link = Arc::downgrade(self);
        Arc::new(move |event: &Event<'_>| hear(&link, event))
    }
}

fn hear(link: &Weak<Link>, event: &Event<'_>) {
    let Some(link) = link.upgrade() else { return };
    if let Event::Begin {
        call,
        parent: Some(parent),
        ..
    } = event
    {
        link.calls.is_made_by(call, parent);
    }
    let wanted = link.capabilities.get().is_some_and(|client| client.events);
    if let Some(id) = link.calls.id_of(event.call()).filter(|_| wanted)
        && let Some(event) = told(event)
    {
        let happened = Happened { id, event };
        link.outbox.offer(&rpc::notification("event", &happened));
    }
}
