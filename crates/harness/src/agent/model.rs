//! How a model is reached: whoever sends a request and gets the answer. A front end brings one along; the library opens no
//! connection of its own for it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::Stream;
use ringfence_dialect::provider::{ApiError, Provider};
use thiserror::Error;

/// Somebody who sends requests to a model. Trying again what failed before an answer began (nobody there, a 429 or a 5xx, with
/// what a `retry-after` says) is its business: what it returns is what came of it in the end. An answer that breaks off is
/// asked for again by the loop.
pub trait ModelClient: Send + Sync {
    /// Sends a request.
    fn send(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelAnswer, SendError>> + Send;
}

impl<C: ModelClient + ?Sized> ModelClient for &C {
    fn send(
        &self,
        request: ModelRequest,
    ) -> impl Future<Output = Result<ModelAnswer, SendError>> + Send {
        (**self).send(request)
    }
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequest {
    /// The API that it is for. [`Provider::path`] says where it goes.
    pub provider: Provider,
    /// The body, in JSON.
    pub body: String,
    /// Whether the answer is to come as events.
    pub stream: bool,
}

/// Pieces of an answer, as they come.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<Vec<u8>, SendError>> + Send>>;

/// The answer of a model, not read yet.
pub enum ModelAnswer {
    /// The body, whole. A server may answer like this although it was asked for events.
    Whole(Vec<u8>),
    /// Server-sent events, in whatever pieces they come.
    Stream(ModelStream),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SendError {
    /// The API says no.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The server cannot be reached.
    #[error("the model cannot be reached: {why}")]
    Unreachable {
        /// Why not.
        why: String,
    },
    /// The connection broke in the middle of the answer.
    #[error("the model's answer broke off: {why}")]
    Broken {
        /// How.
        why: String,
    },
    /// The answer is none that could be taken in.
    #[error("the model's answer cannot be used: {why}")]
    Unusable {
        /// Why not.
        why: String,
    },
    /// Nothing came for too long.
    #[error("the model said nothing for {} s", after.as_secs_f64())]
    TimedOut {
        /// For how long.
        after: Duration,
    },
}

impl SendError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Api(error) => error.kind.code(),
            Self::Unreachable { .. } => "model_unreachable",
            Self::Broken { .. } => "model_broke_off",
            Self::Unusable { .. } => "model_answer_unusable",
            Self::TimedOut { .. } => "model_timed_out",
        }
    }

    /// Whether the same request may do better. What the client has given up on will not.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Api(_) | Self::Unreachable { .. } | Self::Unusable { .. } => false,
            Self::Broken { .. } | Self::TimedOut { .. } => true,
        }
    }
}
