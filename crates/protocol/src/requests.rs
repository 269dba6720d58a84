//! Requests that we make of the client, and their answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::outbox::Outbox;
use crate::rpc::{self, ClientError};

/// What the client answers.
pub(crate) type Answered = Result<Value, ClientError>;

/// The requests that are open.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    next: AtomicU64,
    open: Mutex<HashMap<String, oneshot::Sender<Answered>>>,
}

/// A request that is open. One that goes before its answer is withdrawn.
pub(crate) struct Asked {
    requests: Arc<Requests>,
    id: String,
    answer: oneshot::Receiver<Answered>,
    withdraw: Option<Box<dyn FnOnce(String) + Send>>,
}

impl Requests {
    fn open(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Answered>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a request. `withdraw` tells the client if it need not be answered any more.
    pub(crate) fn ask(
        self: &Arc<Self>,
        outbox: &Outbox,
        method: &str,
        params: &impl Serialize,
        withdraw: impl FnOnce(String) + Send + 'static,
    ) -> Asked {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("s{number}");
        let (sender, answer) = oneshot::channel();
        self.open().insert(id.clone(), sender);
        outbox.send(&rpc::request(&id, method, params));
        Asked {
            requests: Arc::clone(self),
            id,
            answer,
            withdraw: Some(Box::new(withdraw)),
        }
    }

    /// Hands on an answer; false if nobody waits for it.
    pub(crate) fn answered(&self, id: &Value, answered: Answered) -> bool {
        let Some(sender) = id.as_str().and_then(|id| self.open().remove(id)) else {
            return false;
        };
        sender.send(answered).is_ok()
    }

    /// How many are open.
    pub(crate) fn count(&self) -> usize {
        self.open().len()
    }
}

impl Asked {
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Waits for the answer.
    pub(crate) async fn answer(&mut self) -> Answered {
        let gone = |_| {
            Err(ClientError {
                message: "the session has ended".to_owned(),
                data: Value::Null,
            })
        };
        (&mut self.answer).await.unwrap_or_else(gone)
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // Whoever takes it out of the list has the word: the answer, or this.
        let open = self.requests.open().remove(&self.id).is_some();
        if let Some(withdraw) = self.withdraw.take().filter(|_| open) {
            withdraw(std::mem::take(&mut self.id));
        }
    }
}
