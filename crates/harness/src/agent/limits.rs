//! How far a loop goes, and how it came to its end.

use std::time::Duration;

use ringfence_dialect::provider::Usage;
use serde::{Deserialize, Serialize};

/// How far a loop goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLimits {
    /// Turns of the model.
    pub max_turns: u32,
    /// The time that it may take.
    pub timeout: Duration,
    /// Tokens, read and written.
    pub max_tokens: Option<u64>,
    /// Failures in a row: requests that came to nothing, and turns in which nothing succeeded.
    pub max_failures: u32,
    /// Calls of one turn that run side by side.
    pub max_concurrent_calls: usize,
    /// What the results of one turn may come to, in characters.
    pub max_turn_output_chars: usize,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self {
            max_turns: 50,
            timeout: Duration::from_mins(30),
            max_tokens: None,
            max_failures: 5,
            max_concurrent_calls: 4,
            max_turn_output_chars: 100_000,
        }
    }
}

/// How a loop came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Ended {
    /// The model is done.
    Done,
    /// The model has had all its turns.
    TurnLimit,
    /// The time is over.
    TimeLimit,
    /// The tokens are used up.
    TokenLimit,
    /// Too much failed in a row.
    FailureLimit {
        /// What failed last.
        last: String,
    },
    /// The conversation is longer than the model can take.
    ContextFull,
    /// The model refused, or what it said was withheld.
    Refused,
    /// Somebody stopped it.
    Cancelled,
}

impl Ended {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::TurnLimit => "turn_limit",
            Self::TimeLimit => "time_limit",
            Self::TokenLimit => "token_limit",
            Self::FailureLimit { .. } => "failure_limit",
            Self::ContextFull => "context_full",
            Self::Refused => "refused",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What came of a loop.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentReport {
    /// How it came to its end.
    pub ended: Ended,
    /// What the model said last.
    pub text: String,
    /// Turns of the model.
    pub turns: u32,
    /// Calls and scripts that ran.
    pub steps: u32,
    /// Those of them that failed.
    pub failed_steps: u32,
    /// What it cost.
    pub usage: Usage,
    /// How long it took.
    pub duration: Duration,
    /// The files that changed, in the order in which they first did.
    pub changed_files: Vec<String>,
}
