//! How a call ended, in one word, and what else is known of its end.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::record::{CallId, SessionId};

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it was to do; a command ended by itself with exit code 0.
    Ok,
    /// It came to nothing, or its command ended with another exit code.
    Failed,
    /// It was not permitted, and nothing ran.
    Refused,
    /// A clock ended it.
    TimedOut,
    /// Somebody stopped it.
    Cancelled,
    /// Whoever waited for it went away, or the session ended first.
    Abandoned,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::TimedOut => "timed out",
            Self::Cancelled => "stopped",
            Self::Abandoned => "abandoned",
        })
    }
}

/// What went over the wire for one HTTP request. Its method and its host are in the intent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpEnded {
    /// The status of the answer, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes that went out.
    pub sent_bytes: u64,
    /// Bytes that came in.
    pub received_bytes: u64,
}

/// A call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallEnded {
    /// The call.
    pub call: CallId,
    /// Its session.
    pub session: SessionId,
    /// How.
    pub outcome: Outcome,
    /// What really held it: `native`, `native degraded`, `bubblewrap`, `container podman`, `none`; `worker` or
    /// `in-process` for a script, `harness` for what the harness did itself. Nothing if it never ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<String>,
    /// The exit code, where a command ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// Whether the fence refused it something.
    pub denied_by_sandbox: bool,
    /// Bytes on its standard output.
    pub stdout_bytes: u64,
    /// Bytes on its standard error.
    pub stderr_bytes: u64,
    /// The code of the error, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What went over the wire, where a request was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpEnded>,
    /// What it had changed of git's set-up, and what was done about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<String>,
}

impl CallEnded {
    /// The end of a call of which nothing else is known.
    pub fn new(call: CallId, session: SessionId, outcome: Outcome) -> Self {
        Self {
            call,
            session,
            outcome,
            fence: None,
            exit_code: None,
            duration_ms: 0,
            denied_by_sandbox: false,
            stdout_bytes: 0,
            stderr_bytes: 0,
            error: None,
            http: None,
            mended: Vec::new(),
        }
    }
}
