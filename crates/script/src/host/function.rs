//! Functions that cross: closures of the host that scripts call, and functions of scripts that the host calls.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

use crate::value::Value;

/// How a host function ends.
pub type HostResult = Result<Value, HostError>;

pub(crate) type HostFuture = Pin<Box<dyn Future<Output = HostResult> + Send>>;

/// An error of a host function. The script catches an ordinary error with this name and message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {message}")]
pub struct HostError {
    /// The error's `name` in the script.
    pub name: String,
    /// The error's `message` in the script.
    pub message: String,
}

/// A closure of the host that a script can call.
#[derive(Clone)]
pub struct HostFunction {
    name: Arc<str>,
    body: Body,
}

#[derive(Clone)]
enum Body {
    Sync(Arc<dyn Fn(Vec<Value>) -> HostResult + Send + Sync>),
    Async(Arc<dyn Fn(Vec<Value>) -> HostFuture + Send + Sync>),
    /// Takes its time here; the script waits for it.
    Waited(Arc<dyn Fn(Vec<Value>) -> HostFuture + Send + Sync>),
}

/// A future of the host that a script sees as a promise.
#[derive(Clone)]
pub struct HostPromise(Arc<Mutex<Option<HostFuture>>>);

/// A function of a script, callable while its run lives. Dropping the last handle lets the script forget it.
#[derive(Clone)]
pub struct ScriptFunction(Arc<Handle>);

struct Handle {
    number: u64,
    requests: mpsc::UnboundedSender<Request>,
}

/// What a handle asks of the run.
pub(crate) enum Request {
    Invoke {
        function: u64,
        arguments: Vec<Value>,
        answer: oneshot::Sender<HostResult>,
    },
    Release {
        function: u64,
    },
}

impl HostError {
    /// An `Error` with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self::named("Error", message)
    }

    /// An error with a name of its own.
    pub fn named(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            message: message.into(),
        }
    }
}

impl From<&str> for HostError {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<String> for HostError {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl HostFunction {
    /// A function that ends before it returns; the script gets its value, not a promise.
    ///
    /// It runs on the task that serves the run, so it must not block for long.
    pub fn sync(
        name: &str,
        body: impl Fn(Vec<Value>) -> HostResult + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            body: Body::Sync(Arc::new(body)),
        }
    }

    /// A function whose result the script awaits. Its future is dropped when the run ends.
    pub fn asynchronous<F>(
        name: &str,
        body: impl Fn(Vec<Value>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = HostResult> + Send + 'static,
    {
        let body = move |arguments| -> HostFuture { Box::pin(body(arguments)) };
        Self {
            name: name.into(),
            body: Body::Async(Arc::new(body)),
        }
    }

    /// A function that takes its time on the host and that the script waits for: it gets a value, not a
    /// promise, and nothing else in it goes on meanwhile, but for its functions that the host calls.
    pub fn waited<F>(name: &str, body: impl Fn(Vec<Value>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = HostResult> + Send + 'static,
    {
        let body = move |arguments| -> HostFuture { Box::pin(body(arguments)) };
        Self {
            name: name.into(),
            body: Body::Waited(Arc::new(body)),
        }
    }

    /// The name that the script sees.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_async(&self) -> bool {
        matches!(self.body, Body::Async(_))
    }

    /// Begins a call: its end, or the future of it.
    pub(crate) fn begin(&self, arguments: Vec<Value>) -> Result<HostResult, HostFuture> {
        match &self.body {
            Body::Sync(body) => Ok(body(arguments)),
            Body::Async(body) | Body::Waited(body) => Err(body(arguments)),
        }
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostFunction({})", self.name)
    }
}

impl HostPromise {
    /// A promise that settles as this future ends. It is polled once the value has been sent to a script.
    pub fn new(future: impl Future<Output = HostResult> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Some(Box::pin(future)))))
    }

    pub(crate) fn take(&self) -> Option<HostFuture> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for HostPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostPromise")
    }
}

impl ScriptFunction {
    pub(crate) fn new(number: u64, requests: mpsc::UnboundedSender<Request>) -> Self {
        Self(Arc::new(Handle { number, requests }))
    }

    /// Calls the function inside its run and awaits what it returns.
    pub async fn call(&self, arguments: Vec<Value>) -> HostResult {
        let gone = || HostError::new("the run has ended");
        let (answer, answered) = oneshot::channel();
        let request = Request::Invoke {
            function: self.0.number,
            arguments,
            answer,
        };
        self.0.requests.send(request).map_err(|_| gone())?;
        answered.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Whether its run has ended.
    pub fn is_gone(&self) -> bool {
        self.0.requests.is_closed()
    }

    /// The number in the run that this sender belongs to; `None` for another run's.
    pub(crate) fn number_in(&self, requests: &mpsc::UnboundedSender<Request>) -> Option<u64> {
        self.0
            .requests
            .same_channel(requests)
            .then_some(self.0.number)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // A run that has ended needs no word.
        let _ = self.requests.send(Request::Release {
            function: self.number,
        });
    }
}

impl fmt::Debug for ScriptFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScriptFunction({})", self.0.number)
    }
}
