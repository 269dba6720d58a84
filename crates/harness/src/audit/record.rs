//! What is recorded: the life of a session and of each call in it.
//!
//! A call is an [`Intent`] before it runs and a [`CallEnded`] after, linked by the call's id;
//! questions to a person and their answers stand between. These are the log's own types: others
//! convert into them.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::outcome::CallEnded;

/// The id of one tool call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

/// The id of one session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(pub String);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T: Into<String>> From<T> for CallId {
    fn from(id: T) -> Self {
        Self(id.into())
    }
}

impl<T: Into<String>> From<T> for SessionId {
    fn from(id: T) -> Self {
        Self(id.into())
    }
}

/// One record of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Record {
    /// A session began.
    SessionStarted(SessionStarted),
    /// A session ended.
    SessionEnded(SessionEnded),
    /// A call was judged and, unless denied, is about to run.
    Intent(Intent),
    /// A person or their stand-in is asked.
    ApprovalAsked(ApprovalAsked),
    /// They answered, or did not in time.
    ApprovalAnswered(ApprovalAnswered),
    /// A call ended.
    Outcome(CallEnded),
    /// The connections of a run to a host ended.
    ConnectionEnded(ConnectionEnded),
}

/// A session began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionStarted {
    /// The session.
    pub session: SessionId,
    /// Where it works.
    pub cwd: PathBuf,
    /// Its sandbox policy.
    pub sandbox: String,
    /// Its approval policy.
    pub approval: String,
    /// The front end that opened it (`cli`, `mcp`, …).
    pub front: String,
    /// The version of Ringfence.
    pub version: String,
}

/// A session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionEnded {
    /// The session.
    pub session: SessionId,
    /// How many calls it made.
    pub calls: u64,
    /// Why it ended, where that is worth saying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A command as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Command {
    /// A shell script, a patch, a URL: one text.
    Line(String),
    /// A program and its arguments.
    Argv(Vec<String>),
}

/// What was decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs.
    Allow,
    /// It waits for an answer.
    Ask,
    /// It does not run.
    Deny,
}

/// A place in a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptSite {
    /// The script's id.
    pub id: String,
    /// The line, from 1.
    pub line: u32,
}

/// A call was judged. Written before anything runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// The call.
    pub call: CallId,
    /// Its session.
    pub session: SessionId,
    /// The call that made this one: a script's, or the one whose command wants a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// The place in a script that makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptSite>,
    /// The tool.
    pub tool: String,
    /// What it is to do.
    pub command: Command,
    /// The shell that reads it, where it is a text for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<PathBuf>,
    /// Where.
    pub cwd: PathBuf,
    /// How far it may reach: the sandbox policy's name, or `none` for no fence at all. What really held it
    /// is in the outcome.
    pub sandbox: String,
    /// What was decided.
    pub verdict: Decision,
    /// The class of a command: `read-only`, `safe`, `unknown`, `suspicious`, `dangerous`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Why.
    pub reason: String,
    /// The rule that decided, with file and line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Who approved it, where somebody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Why the model says that it needs this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub justification: Option<String>,
}

/// Somebody is asked about a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalAsked {
    /// The call.
    pub call: CallId,
    /// Its session.
    pub session: SessionId,
    /// What they are asked about.
    pub command: Command,
    /// Why they are asked.
    pub reason: String,
    /// The rule that an answer may save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_rule: Option<String>,
    /// Why the model says that it needs this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub justification: Option<String>,
}

/// The answers to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// This once.
    Approved,
    /// For the rest of the session.
    ApprovedForSession,
    /// From now on, by a rule that was saved.
    ApprovedWithRule,
    /// No.
    Denied,
    /// No, and stop the turn.
    Aborted,
    /// No answer in time.
    TimedOut,
}

/// A question was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalAnswered {
    /// The call.
    pub call: CallId,
    /// Its session.
    pub session: SessionId,
    /// The answer.
    pub answer: Answer,
    /// Who gave it (`terminal`, `console`, `scripted`, …).
    pub by: String,
    /// How long it took.
    pub waited_ms: u64,
    /// The rule that was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// The connections of a run to a host ended, and the run with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConnectionEnded {
    /// The call that let them through; its parent is the call of the run.
    pub call: CallId,
    /// Its session.
    pub session: SessionId,
    /// How many there were.
    pub connections: u64,
    /// Bytes that went out.
    pub sent_bytes: u64,
    /// Bytes that came in.
    pub received_bytes: u64,
    /// How long it was from the first to the end of the run.
    pub duration_ms: u64,
}

impl Record {
    /// The session that it belongs to.
    pub fn session(&self) -> &SessionId {
        match self {
            Self::SessionStarted(record) => &record.session,
            Self::SessionEnded(record) => &record.session,
            Self::Intent(record) => &record.session,
            Self::ApprovalAsked(record) => &record.session,
            Self::ApprovalAnswered(record) => &record.session,
            Self::Outcome(record) => &record.session,
            Self::ConnectionEnded(record) => &record.session,
        }
    }

    /// The call that it belongs to.
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Self::SessionStarted(_) | Self::SessionEnded(_) => None,
            Self::Intent(record) => Some(&record.call),
            Self::ApprovalAsked(record) => Some(&record.call),
            Self::ApprovalAnswered(record) => Some(&record.call),
            Self::Outcome(record) => Some(&record.call),
            Self::ConnectionEnded(record) => Some(&record.call),
        }
    }
}
