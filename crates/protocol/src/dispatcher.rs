//! The dispatcher: takes what a client says, message by message, and sees to it that every request is answered once.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ringfence::{Engine, Latch};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::batch::{Reply, Responses};
use crate::calls::Most;
use crate::link::Link;
use crate::opener::Opener;
use crate::outbox::{Outgoing, Room};
use crate::rpc::{self, Id, Incoming};
use crate::wire::{ClosedParams, Closing, ClosingReason, Ended, Fault, FaultKind};

/// Bounds on messages. What is reached is told, and nothing else is lost.
#[derive(Debug, Clone, Copy)]
pub struct MessageLimits {
    /// The longest line that the transport takes, in bytes.
    pub line_bytes: usize,
    /// Requests that are under way.
    pub requests: usize,
    /// Bytes of the messages that they came in.
    pub request_bytes: usize,
    /// Calls that run at once.
    pub calls_at_once: usize,
    /// Bytes of replies and requests that wait for the client to read; no more is taken in then.
    pub waiting_bytes: usize,
    /// Bytes of events that wait for the client to read; more are dropped.
    pub event_bytes: usize,
    /// How long calls may take to end when they have been cancelled at the end of the session.
    pub closing: Duration,
}

impl Default for MessageLimits {
    fn default() -> Self {
        Self {
            line_bytes: 32 << 20,
            requests: 16_384,
            request_bytes: 64 << 20,
            calls_at_once: 64,
            waiting_bytes: 64 << 20,
            event_bytes: 4 << 20,
            closing: Duration::from_secs(10),
        }
    }
}

/// Serves one client. Must be used inside a tokio runtime.
pub struct Dispatcher {
    pub(crate) link: Arc<Link>,
    pub(crate) opener: Box<dyn Opener>,
    pub(crate) limits: MessageLimits,
    pub(crate) patience: Arc<OnceLock<Duration>>,
    state: Mutex<State>,
    tasks: Mutex<JoinSet<()>>,
    /// The client wants the session to end.
    ending: Latch,
    /// Who is told what ended with it.
    farewell: Mutex<Option<Reply>>,
}

/// How far the session is.
#[derive(Default)]
enum State {
    #[default]
    New,
    Open(Arc<Opened>),
    /// The engine is still there for the calls under way.
    Closing(Arc<Opened>),
    Closed,
}

/// An engine, and which of its tools the client may call.
pub(crate) struct Opened {
    pub(crate) engine: Engine,
    pub(crate) tools: Vec<String>,
}

impl Dispatcher {
    /// One for a client, and what it has to say to it.
    pub fn new(opener: impl Opener + 'static, limits: MessageLimits) -> (Self, Outgoing) {
        let room = Room {
            kept: limits.waiting_bytes,
            events: limits.event_bytes,
        };
        let most = Most {
            requests: limits.requests,
            bytes: limits.request_bytes,
        };
        let (link, outgoing) = Link::new(room, most, limits.calls_at_once);
        let dispatcher = Self {
            link,
            opener: Box::new(opener),
            limits,
            patience: Arc::default(),
            state: Mutex::default(),
            tasks: Mutex::default(),
            ending: Latch::new(),
            farewell: Mutex::default(),
        };
        (dispatcher, outgoing)
    }

    /// Takes a line of the client's.
    pub fn take(&self, line: &[u8]) {
        let alone = Responses::Alone(self.link.outbox.clone());
        match serde_json::from_slice(line) {
            Ok(Value::Array(messages)) if messages.is_empty() => {
                alone.say(
                    None,
                    Fault::new(FaultKind::InvalidRequest, "a batch is not empty"),
                );
            }
            Ok(Value::Array(messages)) => {
                let together = Responses::together(&self.link.outbox);
                let bytes = line.len() / messages.len();
                for message in messages {
                    self.message(message, bytes, &together);
                }
            }
            Ok(message) => self.message(message, line.len(), &alone),
            Err(error) => {
                let message = format!("the line is not JSON: {error}");
                alone.say(None, Fault::new(FaultKind::ParseError, message));
            }
        }
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
    }

    /// Tells the client that a line was too long to be taken.
    pub fn too_long(&self) {
        let most = self.limits.line_bytes;
        let message = format!("a line has at most {most} bytes; this one was left out");
        let fault = Fault::new(FaultKind::ParseError, message).code("line_too_long");
        Responses::Alone(self.link.outbox.clone()).say(None, fault);
    }

    /// Waits until the client has read enough for more to be taken.
    pub async fn ready(&self) {
        self.link.outbox.eased().await;
    }

    /// Waits until the client wants the session to end.
    pub async fn ended(&self) {
        self.ending.wait().await;
    }

    /// Ends the session: calls are cancelled and answered, what runs is killed, and the client is told.
    pub async fn close(&self, reason: ClosingReason) {
        let opened = self.shut();
        let mut closing = Closing {
            cancelled: self.link.calls.cancel_all(),
            ended: Vec::new(),
        };
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        let all = async { while tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.closing, all)
            .await
            .is_err()
        {
            tasks.shutdown().await;
        }
        if let Some(opened) = opened {
            closing.ended = still_running(&opened.engine).await;
            *lock(&self.state) = State::Closed;
            // The last to hold it: everything that it started ends here.
            drop(opened);
        }
        if let Some(reply) = lock(&self.farewell).take() {
            reply.send(Ok(json!(closing)));
        }
        let closed = ClosedParams { reason, closing };
        self.link.outbox.send(&rpc::notification("closed", &closed));
        self.link.outbox.finish();
    }

    /// Takes no more calls. Gives back the engine, if there was one.
    fn shut(&self) -> Option<Arc<Opened>> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, State::Closed) {
            State::Open(opened) | State::Closing(opened) => Some(opened),
            State::New | State::Closed => None,
        }
    }

    /// Ends the session once the calls under way have ended, or their time is over.
    pub(crate) fn begin_to_end(&self, reply: Reply, patience: Duration) {
        let mut state = lock(&self.state);
        if let State::Open(opened) = &*state {
            *state = State::Closing(Arc::clone(opened));
        }
        drop(state);
        let mut farewell = lock(&self.farewell);
        if farewell.is_some() {
            let fault = Fault::new(FaultKind::ShuttingDown, "the session is ending already");
            return reply.send(Err(fault));
        }
        *farewell = Some(reply);
        let (link, ending) = (Arc::clone(&self.link), self.ending.clone());
        tokio::spawn(async move {
            // Those that have not ended by then are cancelled.
            let _ = tokio::time::timeout(patience, link.calls.all_ended()).await;
            ending.set();
        });
    }

    /// The engine, for a new call.
    pub(crate) fn opened(&self) -> Result<Arc<Opened>, Fault> {
        match &*lock(&self.state) {
            State::Open(opened) => Ok(Arc::clone(opened)),
            State::New => {
                let message = "the first request is `initialize`";
                Err(Fault::new(FaultKind::NotInitialized, message))
            }
            State::Closing(_) | State::Closed => {
                let message = "the session is ending, and takes no more calls";
                Err(Fault::new(FaultKind::ShuttingDown, message))
            }
        }
    }

    /// Whether nothing has been opened yet.
    pub(crate) fn is_new(&self) -> bool {
        matches!(&*lock(&self.state), State::New)
    }

    pub(crate) fn open(&self, opened: Opened) {
        *lock(&self.state) = State::Open(Arc::new(opened));
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        lock(&self.tasks).spawn(task);
    }

    fn message(&self, message: Value, bytes: usize, responses: &Responses) {
        match rpc::read(message) {
            Ok(Incoming::Request { id, method, params }) => {
                self.request(id, bytes, responses, |reply| {
                    self.serve(&method, params, reply);
                });
            }
            Ok(Incoming::Notification { method, params }) => self.notice(&method, params),
            Ok(Incoming::Response { id, outcome }) => {
                if !self.link.requests.answered(&id, outcome) {
                    let reason = "no request with this id is open";
                    self.link.unexpected(id, reason);
                }
            }
            Err((id, fault)) => responses.say(id.as_ref(), fault),
        }
    }

    /// Begins a request whose id is free, if there is room for it.
    fn request(&self, id: Id, bytes: usize, to: &Responses, serve: impl FnOnce(Reply)) {
        match self.link.calls.begin(&id, bytes) {
            Ok(()) => serve(Reply::new(id, &self.link.calls, to.clone())),
            // The id belongs to the request that is under way, and so does the one response to it.
            Err(fault) if fault.data.code == "id_in_use" => to.say(None, fault),
            Err(fault) => to.say(Some(&id), fault),
        }
    }
}

/// What runs in the background of an engine.
pub async fn still_running(engine: &Engine) -> Vec<Ended> {
    let Ok(lists) = engine.call("bash_task_list", json!({})).await else {
        return Vec::new();
    };
    let lists = ["tasks", "processes"].map(|list| lists[list].as_array().cloned());
    let entries = lists.into_iter().flatten().flatten();
    let running =
        entries.filter(|entry| entry["exitCode"].is_null() && entry["status"] == "running");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    running
        .map(|entry| Ended {
            id: text(&entry["id"]),
            command: text(&entry["command"]),
        })
        .collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
