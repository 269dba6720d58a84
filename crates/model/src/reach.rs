//! A client as the loop of the harness uses one.

use futures_util::stream;
use hyper::header::HeaderMap;
use ringfence::agent::{ModelAnswer, ModelClient, ModelRequest, SendError};
use ringfence::dialect::provider::ApiError;

use crate::client::{Answer, Client};
use crate::error::ModelError;

/// A model that a loop asks: a client, and the headers that its API wants besides.
#[derive(Debug, Clone)]
pub struct Reach {
    client: Client,
    headers: HeaderMap,
}

impl Reach {
    /// By a client.
    pub fn new(client: Client, headers: HeaderMap) -> Self {
        Self { client, headers }
    }
}

impl ModelClient for Reach {
    async fn send(&self, request: ModelRequest) -> Result<ModelAnswer, SendError> {
        let path = request.provider.path();
        let sent = self.client.send(path, &self.headers, request.body);
        let answer = sent.await.map_err(given_up)?;
        if !answer.is_stream() {
            return Ok(ModelAnswer::Whole(answer.whole().await.map_err(broken)?));
        }
        let pieces = stream::unfold(Some(answer), async |answer: Option<Answer>| {
            let mut answer = answer?;
            match answer.next().await {
                Ok(Some(piece)) => Some((Ok(piece.to_vec()), Some(answer))),
                Ok(None) => None,
                // Nothing comes after an error.
                Err(error) => Some((Err(broken(error)), None)),
            }
        });
        Ok(ModelAnswer::Stream(Box::pin(pieces)))
    }
}

/// What came to nothing before an answer began, in the words of the loop: the client has tried again as often as it may.
fn given_up(error: ModelError) -> SendError {
    match error {
        ModelError::Status { status, body, .. } => ApiError::read(status, body.as_bytes()).into(),
        ModelError::NoAnswer { after, .. } => SendError::TimedOut { after },
        other => SendError::Unreachable {
            why: other.to_string(),
        },
    }
}

/// What became of an answer that had begun.
fn broken(error: ModelError) -> SendError {
    match error {
        ModelError::Silent { after, .. } => SendError::TimedOut { after },
        ModelError::TooLong { .. } => SendError::Unusable {
            why: error.to_string(),
        },
        other => SendError::Broken {
            why: other.to_string(),
        },
    }
}
