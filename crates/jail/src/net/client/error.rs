//! Why a request came to nothing.

use std::error::Error as _;
use std::time::Duration;

use thiserror::Error;

use crate::net::gate::ConnectionRefusal;
use crate::net::upstream::Failure;

/// Why a request came to nothing. None of it holds a header's value.
#[derive(Debug, Error)]
pub enum SendError {
    /// Its host has no address that it may go to.
    #[error("{0}")]
    Refused(ConnectionRefusal),
    /// The host could not be found or reached.
    #[error("{0}")]
    Unreachable(ConnectionRefusal),
    /// TLS could not be agreed on; mostly the certificate is not one that is trusted.
    #[error("{place}: no secure connection: {reason}")]
    Tls {
        /// The host.
        place: String,
        /// Why.
        reason: String,
    },
    /// What came back is no answer.
    #[error("{place}: its answer cannot be used: {reason}")]
    Answer {
        /// The host.
        place: String,
        /// Why.
        reason: String,
    },
    /// The connection ended in the middle of the answer.
    #[error("{place}: the connection ended before the answer was whole")]
    CutOff {
        /// The host.
        place: String,
    },
    /// It took too long.
    #[error("{place}: the answer was not whole after {} ms; {received} bytes had come", after.as_millis())]
    TimedOut {
        /// The host.
        place: String,
        /// How long was waited.
        after: Duration,
        /// Bytes that had come by then.
        received: u64,
    },
    /// It cannot be written down.
    #[error("the request cannot be sent: {reason}")]
    Request {
        /// Why.
        reason: String,
    },
    /// The permit is for something else.
    #[error("the permit is for something else")]
    NotPermitted,
}

impl SendError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code,
            Self::Unreachable(refusal) => match refusal.code {
                "not_resolved" => "http_not_resolved",
                "timed_out" => "http_timed_out",
                _ => "http_unreachable",
            },
            Self::Tls { .. } => "http_tls_failed",
            Self::Answer { .. } => "http_bad_answer",
            Self::CutOff { .. } => "http_cut_off",
            Self::TimedOut { .. } => "http_timed_out",
            Self::Request { .. } => "http_bad_request",
            Self::NotPermitted => "http_not_permitted",
        }
    }

    /// What went wrong with an answer.
    pub(super) fn of_answer(place: String, error: &hyper::Error) -> Self {
        if error.is_incomplete_message() || is_end(error) {
            return Self::CutOff { place };
        }
        let mut reason = error.to_string();
        if let Some(source) = error.source() {
            reason = format!("{reason}: {source}");
        }
        Self::Answer { place, reason }
    }
}

/// Whether the stream ended, or was reset, where it should not have.
fn is_end(error: &hyper::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let source = error.source();
    let stream = source.and_then(|source| source.downcast_ref::<std::io::Error>());
    let ends = [
        UnexpectedEof,
        ConnectionReset,
        ConnectionAborted,
        BrokenPipe,
    ];
    stream.is_some_and(|error| ends.contains(&error.kind()))
}

impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(refusal) => Self::Refused(refusal),
            Failure::Unreachable(refusal) => Self::Unreachable(refusal),
        }
    }
}
