//! What a script said while it ran: lines of its console, and how it got on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a script said, as far as it is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// The lines of its console, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<LogLine>,
    /// How it got on, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<ProgressLine>,
    /// How much of it was not kept, because it came too fast or was too much.
    #[serde(default, skip_serializing_if = "Dropped::is_nothing")]
    pub dropped: Dropped,
}

/// A line of the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// The method that printed it.
    pub level: LogLevel,
    /// What it says.
    pub text: String,
}

/// The methods of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names of the methods")]
pub enum LogLevel {
    Log,
    Info,
    Warn,
    Error,
    Debug,
}

impl LogLevel {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Debug => "debug",
        }
    }
}

/// A word on how a script gets on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgressLine {
    /// Of which kind.
    pub kind: ProgressKind,
    /// What it says.
    pub text: String,
}

/// Of which kind a word on how a script gets on is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProgressKind {
    /// All is well.
    Info,
    /// Something to worry about.
    Warn,
}

/// How much of what a script said was not kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dropped {
    /// Lines of the console.
    #[serde(default)]
    pub logs: u64,
    /// Words on how it got on.
    #[serde(default)]
    pub progress: u64,
}

impl Dropped {
    /// Whether everything was kept.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
