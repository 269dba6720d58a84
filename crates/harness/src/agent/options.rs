//! How a loop goes about it, and why one breaks off.

use std::sync::Arc;

use ringfence_dialect::provider::{
    ApiErrorKind, History, Raw, ReadError, RequestOptions, ToolTable, Usage,
};
use thiserror::Error;

use super::journal::JournalError;
use super::limits::AgentLimits;
use super::model::SendError;
use crate::config::ScriptMode;

/// How a loop goes about it.
#[derive(Clone, Default)]
pub struct AgentOptions {
    /// What every request says: the model, what it is told first, whether answers come as events.
    pub request: RequestOptions,
    /// The tools that the model sees. Others it cannot call.
    pub tools: ToolTable,
    /// How far it goes.
    pub limits: AgentLimits,
    /// Who serves the model, as scripts and their settings name it (`openai`, `anthropic`, `ollama`).
    pub vendor: String,
    /// Whether scripts in the model's text run, if that is not left to the configuration.
    pub script_mode: Option<ScriptMode>,
    /// Who makes a shorter history of a long one.
    pub compaction: Option<Compaction>,
}

/// Looks at the history before every request, with what the last turn cost, and gives a shorter one if it is time.
pub type Compaction = Arc<dyn Fn(&History, Usage) -> Option<Vec<Raw>> + Send + Sync>;

/// Why a loop broke off. The conversation is in its journal, and can be gone on with.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The conversation cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The model cannot be asked, and asking again will not help.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The answer cannot be read, and asking again will not help.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl AgentError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Journal(error) => error.code(),
            Self::Send(error) => error.code(),
            Self::Read(error) => error.code(),
        }
    }

    /// Whether the same request may do better.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Journal(_) => false,
            Self::Send(error) => error.is_transient(),
            Self::Read(error) => error.is_transient(),
        }
    }

    /// Whether the conversation is longer than the model can take.
    pub(super) fn is_too_long(&self) -> bool {
        let (Self::Send(SendError::Api(error)) | Self::Read(ReadError::Api(error))) = self else {
            return false;
        };
        error.kind == ApiErrorKind::ContextTooLong
    }
}
