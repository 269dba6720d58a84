//! What can go wrong with a script, as the model is told: a code of a closed list, the phase, and
//! where in the script it happened. How the error came about is the harness's business.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An error of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScriptError {
    /// What went wrong.
    pub code: ErrorCode,
    /// What went wrong, in words.
    pub message: String,
    /// When.
    pub phase: Phase,
    /// The tool that was being called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The call of that tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// Where in the script: its own lines only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Whatever else there is to know, such as `elapsedMs`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl ScriptError {
    /// An error with nothing but its code, phase and message.
    pub fn new(code: ErrorCode, phase: Phase, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            phase,
            tool_name: None,
            call_id: None,
            stack: None,
            metadata: Map::new(),
        }
    }

    /// The same error with one more thing to know.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(name.to_owned(), value.into());
        self
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for ScriptError {}

/// When an error happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the script ran.
    Parsing,
    /// While it ran.
    Executing,
    /// After its last line.
    Finalizing,
}

/// The closed list of what can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ErrorCode {
    /// It is not a script that can be run.
    ScriptSyntaxError,
    /// It threw something of its own.
    ScriptRuntimeError,
    /// It took too long.
    ScriptTimeoutError,
    /// Somebody cancelled it.
    ScriptCancelledError,
    /// It used too much memory.
    ScriptMemoryError,
    /// A person said no to one of its calls.
    ApprovalDeniedError,
    /// Nobody answered in time.
    ApprovalTimeoutError,
    /// A tool failed.
    ToolExecutionError,
    /// There is no tool of that name.
    ToolNotFoundError,
    /// The arguments of a call don't fit the tool.
    ToolValidationError,
    /// It made more calls than it may.
    ToolBudgetExceededError,
    /// Calls were still under way when it ended.
    DetachedPromiseError,
    /// The harness failed, not the script.
    HarnessInternalError,
    /// What it returned cannot be written as JSON, or is too large.
    SerializationError,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [Self; 14] = [
        Self::ScriptSyntaxError,
        Self::ScriptRuntimeError,
        Self::ScriptTimeoutError,
        Self::ScriptCancelledError,
        Self::ScriptMemoryError,
        Self::ApprovalDeniedError,
        Self::ApprovalTimeoutError,
        Self::ToolExecutionError,
        Self::ToolNotFoundError,
        Self::ToolValidationError,
        Self::ToolBudgetExceededError,
        Self::DetachedPromiseError,
        Self::HarnessInternalError,
        Self::SerializationError,
    ];

    /// The name on the wire, and the `name` of the error inside a script.
    pub fn name(self) -> &'static str {
        match self {
            Self::ScriptSyntaxError => "ScriptSyntaxError",
            Self::ScriptRuntimeError => "ScriptRuntimeError",
            Self::ScriptTimeoutError => "ScriptTimeoutError",
            Self::ScriptCancelledError => "ScriptCancelledError",
            Self::ScriptMemoryError => "ScriptMemoryError",
            Self::ApprovalDeniedError => "ApprovalDeniedError",
            Self::ApprovalTimeoutError => "ApprovalTimeoutError",
            Self::ToolExecutionError => "ToolExecutionError",
            Self::ToolNotFoundError => "ToolNotFoundError",
            Self::ToolValidationError => "ToolValidationError",
            Self::ToolBudgetExceededError => "ToolBudgetExceededError",
            Self::DetachedPromiseError => "DetachedPromiseError",
            Self::HarnessInternalError => "HarnessInternalError",
            Self::SerializationError => "SerializationError",
        }
    }

    /// The code of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
