//! What is answered to a request that goes no further: an error in the form of the API that was asked.

use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use ringfence::dialect::provider::Provider;
use ringfence_model::ModelError;
use serde_json::json;

use crate::outflow::Outflow;

/// Why a request goes no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// A stable name for programs to look at.
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
        }
    }

    /// As an answer by an API; that of most clients where none is known.
    pub(crate) fn answer(&self, provider: Option<Provider>) -> Response<Outflow> {
        let Self { code, message, .. } = self;
        let body = match provider {
            Some(Provider::AnthropicMessages) => {
                json!({"type": "error", "error": {"type": code, "message": message}})
            }
            _ => json!({"error": {"message": message, "type": code, "param": null, "code": code}}),
        };
        let mut answer = Response::new(Outflow::whole(body.to_string()));
        let status = StatusCode::from_u16(self.status);
        *answer.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = HeaderValue::from_static("application/json");
        answer.headers_mut().insert(CONTENT_TYPE, kind);
        answer
    }
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        let status = match &error {
            ModelError::Status { status, .. } => *status,
            ModelError::NoAnswer { .. } | ModelError::Silent { .. } => 504,
            _ => 502,
        };
        Self::new(status, error.code(), error.to_string())
    }
}
