//! Why a call came to nothing. Each kind has a code for programs and a sentence for people.

use std::io;
use std::path::PathBuf;

use ringfence_jail::LaunchError;
use ringfence_policy::verdict::Denial;
use serde_json::{Value, json};
use thiserror::Error;

use crate::audit::AuditError;
use crate::patch::PatchError;
use crate::rules::RulesFileError;

/// A call that came to nothing. The next call works.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// There is no such tool.
    #[error("there is no tool `{name}`{}", suggested(suggestion.as_ref()))]
    UnknownTool {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        suggestion: Option<String>,
    },
    /// The arguments have a field that the tool does not know.
    #[error("`{tool}` has no field `{field}`{}; it takes {}", suggested(suggestion.as_ref()), known.join(", "))]
    UnknownField {
        /// The tool.
        tool: String,
        /// The field.
        field: String,
        /// What may have been meant.
        suggestion: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// The arguments do not fit the tool.
    #[error("the arguments of `{tool}` do not fit: {message}")]
    BadArguments {
        /// The tool.
        tool: String,
        /// What is wrong, and where.
        message: String,
    },
    /// The command is empty.
    #[error("the command is empty")]
    EmptyCommand,
    /// A time-out above the maximum.
    #[error("a timeout of {given} ms is above the maximum of {most} ms")]
    TimeoutTooLong {
        /// What was asked for.
        given: u64,
        /// The maximum.
        most: u64,
    },
    /// The working folder cannot be used.
    #[error("the working folder {} cannot be used: {reason}", path.display())]
    Workdir {
        /// The folder.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// Policy or a person said no.
    #[error("{0}")]
    Denied(Denial),
    /// The configuration asks for something that this version does not have.
    #[error("`{setting}` is not available in this version; {instead}")]
    NotAvailable {
        /// The setting and its value.
        setting: &'static str,
        /// What can be set instead.
        instead: &'static str,
    },
    /// The command could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The patch was not applied, nor any part of it.
    #[error("the patch was not applied: {0}")]
    Patch(#[from] PatchError),
    /// The record could not be kept, so nothing was run.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// An approved rule could not be kept, so nothing was run.
    #[error("the approved rule could not be kept: {0}")]
    Rule(#[from] RulesFileError),
    /// The command's output or end could not be read.
    #[error("the command could not be followed to its end: {0}")]
    Followed(#[from] io::Error),
}

fn suggested(suggestion: Option<&String>) -> String {
    suggestion
        .map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

impl CallError {
    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownTool { .. } => "unknown_tool",
            Self::UnknownField { .. } => "unknown_field",
            Self::BadArguments { .. } => "bad_arguments",
            Self::EmptyCommand => "empty_command",
            Self::TimeoutTooLong { .. } => "timeout_too_long",
            Self::Workdir { .. } => "workdir_unusable",
            Self::NotAvailable { .. } => "setting_not_available",
            Self::Denied(denial) => denial.code.name(),
            Self::Launch(error) => error.code(),
            Self::Patch(error) => error.code(),
            Self::Audit(_) => "audit_failed",
            Self::Rule(_) => "rule_not_kept",
            Self::Followed(_) => "io_failed",
        }
    }

    /// The error as it goes over the wire.
    pub fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code(), "message": self.to_string() });
        if let Self::Patch(patch) = self
            && let Some(details) = patch.details()
        {
            error["details"] = details;
        }
        json!({ "error": error })
    }
}
