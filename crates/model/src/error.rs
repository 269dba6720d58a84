//! Why a model could not be reached, or its answer not be taken in whole.

use std::time::Duration;

use thiserror::Error;

/// Why there is no answer, or no whole one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// The address cannot be used.
    #[error("the base URL of the model cannot be used: {reason}")]
    BaseUrl {
        /// Why not.
        reason: String,
    },
    /// The key cannot be sent.
    #[error("the key of the model cannot be sent: it contains characters that no header may have")]
    Key,
    /// The request cannot be written down.
    #[error("the request to the model cannot be sent: {reason}")]
    Request {
        /// Why.
        reason: String,
    },
    /// Nobody answers there.
    #[error("{place} cannot be reached: {reason}")]
    Unreachable {
        /// The host.
        place: String,
        /// Why.
        reason: String,
    },
    /// There is no answer in time.
    #[error("{place} did not begin to answer within {} s", after.as_secs())]
    NoAnswer {
        /// The host.
        place: String,
        /// How long was waited.
        after: Duration,
    },
    /// The answer stopped.
    #[error("{place} fell silent for {} s in the middle of its answer, after {received} bytes", after.as_secs())]
    Silent {
        /// The host.
        place: String,
        /// How long was waited.
        after: Duration,
        /// How much had come.
        received: u64,
    },
    /// The connection ended in the middle of the answer.
    #[error("{place} ended the connection in the middle of its answer, after {received} bytes")]
    CutOff {
        /// The host.
        place: String,
        /// How much had come.
        received: u64,
    },
    /// The answer is longer than any should be.
    #[error("the answer of {place} is longer than {most} bytes")]
    TooLong {
        /// The host.
        place: String,
        /// The bound.
        most: u64,
    },
    /// The answer is an error.
    #[error("{place} answers {status}{}: {message}{}", kind_of(kind.as_deref()), tries_of(*tries))]
    Status {
        /// The host.
        place: String,
        /// The status.
        status: u16,
        /// The provider's word for it.
        kind: Option<String>,
        /// What it says.
        message: String,
        /// All of it, as far as it was read.
        body: String,
        /// How often it was tried.
        tries: u32,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
}

fn kind_of(kind: Option<&str>) -> String {
    kind.map(|kind| format!(" ({kind})")).unwrap_or_default()
}

fn tries_of(tries: u32) -> String {
    match tries {
        0 | 1 => String::new(),
        many => format!(" (after {many} tries)"),
    }
}

impl ModelError {
    /// What went wrong, without what a server says about it.
    pub(crate) fn in_short(&self) -> String {
        match self {
            Self::Status {
                place,
                status,
                kind,
                ..
            } => format!("{place} answers {status}{}", kind_of(kind.as_deref())),
            other => other.to_string(),
        }
    }

    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BaseUrl { .. } => "model_base_url",
            Self::Key => "model_key",
            Self::Request { .. } => "model_request",
            Self::Unreachable { .. } => "model_unreachable",
            Self::NoAnswer { .. } => "model_no_answer",
            Self::Silent { .. } => "model_silent",
            Self::CutOff { .. } => "model_cut_off",
            Self::TooLong { .. } => "model_too_long",
            Self::Status { status, .. } => match status {
                401 | 403 => "model_unauthorised",
                429 => "model_rate_limited",
                500.. => "model_overloaded",
                _ => "model_refused",
            },
        }
    }
}
