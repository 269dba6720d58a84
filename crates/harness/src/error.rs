//! Why a call came to nothing. Each kind has a code for programs and a sentence for people.

use std::io;
use std::path::PathBuf;

use ringfence_jail::LaunchError;
use ringfence_policy::verdict::Refusal;
use serde_json::{Value, json};
use thiserror::Error;

use crate::audit::AuditError;
#[cfg(feature = "commands")]
use crate::http::HttpError;
#[cfg(feature = "commands")]
use crate::network::InjectError;
use crate::patch::PatchError;
use crate::registry::{ProcessId, TaskId};
use crate::rules::RulesFileError;
use crate::shell::ShellError;

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
    /// Something that would have to outlive the one call that the engine was opened for.
    #[error(
        "it would end with this call, which is the only one here; start what goes on in the background in \
         a session of several calls (`ringfence session`)"
    )]
    EndsWithCall,
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
    /// The folder for state that is used where none is named cannot be.
    #[error(
        "{} cannot be used: {reason}; name a state folder",
        path.display()
    )]
    State {
        /// The folder.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// The shell is none of the machine's, or one that commands could change.
    #[error(transparent)]
    Shell(#[from] ShellError),
    /// Policy or a person said no.
    #[error("{0}")]
    Refused(Refusal),
    /// The configuration asks for something that this version does not have.
    #[error("`{setting}` is not available in this version; {instead}")]
    NotAvailable {
        /// The setting and its value.
        setting: &'static str,
        /// What can be set instead.
        instead: &'static str,
    },
    /// The call was cancelled before its command started.
    #[error("the call was cancelled before the command started")]
    Cancelled,
    /// The command was moved to the background, where the caller wanted its end.
    #[error("the command goes on in the background as {task}")]
    Moved {
        /// The task.
        task: TaskId,
    },
    /// The id that a session shall have is taken.
    #[error(
        "there is a process `{id}` already; write to it with `write_stdin`, or choose another id"
    )]
    ProcessIdInUse {
        /// The id.
        id: ProcessId,
    },
    /// There is no such session.
    #[error("there is no process `{id}`; {}", there_are(known))]
    NoSuchProcess {
        /// What was asked for.
        id: ProcessId,
        /// What there is.
        known: Vec<String>,
    },
    /// The session has ended, and that has been reported.
    #[error("process `{id}` has ended{}, which was reported before", with_code(*exit_code))]
    ProcessEnded {
        /// The id.
        id: ProcessId,
        /// Its exit code.
        exit_code: Option<i32>,
    },
    /// The session was ended to make room.
    #[error(
        "process `{id}` was ended to make room: at most {most} are kept, and it had not been used for longest"
    )]
    ProcessGaveWay {
        /// The id.
        id: ProcessId,
        /// How many there may be.
        most: usize,
    },
    /// All sessions are in use.
    #[error("{most} processes are open, and all of them are in use; end one first")]
    TooManyProcesses {
        /// How many there may be.
        most: usize,
    },
    /// What was to be typed could not be.
    #[error("process `{id}`: {reason}")]
    NotTyped {
        /// The process.
        id: ProcessId,
        /// Why not.
        reason: String,
    },
    /// There is no such task.
    #[error("there is no task `{id}`; {}", there_are(known))]
    NoSuchTask {
        /// What was asked for.
        id: TaskId,
        /// What there is.
        known: Vec<String>,
    },
    /// No more background tasks may start.
    #[error(
        "{running} background tasks are running, and {most} is the most; stop one with `bash_task_stop`, or raise `bash.max_background_tasks`"
    )]
    TooManyTasks {
        /// How many run.
        running: usize,
        /// How many may.
        most: usize,
    },
    /// A header that is to be added to requests cannot be made.
    #[cfg(feature = "commands")]
    #[error(transparent)]
    Inject(#[from] InjectError),
    /// TLS cannot be ended here, which `network.terminate_tls` asks for.
    #[cfg(feature = "commands")]
    #[error("`network.terminate_tls`: {0}")]
    Terminate(#[from] ringfence_jail::net::TerminatorError),
    /// A request came to nothing.
    #[cfg(feature = "commands")]
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The tool is there, and switched off.
    #[error("the tool `{tool}` is switched off: `{setting}` is not true")]
    SwitchedOff {
        /// The tool.
        tool: &'static str,
        /// What switches it on.
        setting: &'static str,
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
    /// A tool failed, in its own words.
    #[error("{0}")]
    ToolFailed(Box<dyn std::error::Error + Send + Sync>),
    /// A tool panicked.
    #[error("the tool `{tool}` broke off: {message}")]
    ToolPanicked {
        /// The tool.
        tool: String,
        /// What it said.
        message: String,
    },
    /// The command's output or end could not be read.
    #[error("the command could not be followed to its end: {0}")]
    Followed(#[from] io::Error),
}

fn suggested(suggestion: Option<&String>) -> String {
    suggestion
        .map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

fn there_are(known: &[String]) -> String {
    if known.is_empty() {
        "there are none".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    }
}

fn with_code(exit_code: Option<i32>) -> String {
    exit_code.map_or_else(String::new, |code| format!(" with exit code {code}"))
}

impl CallError {
    /// The failure of a tool of one's own: a text, or any error.
    pub fn failed(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::ToolFailed(reason.into())
    }

    /// A stable name for programs to look at.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownTool { .. } => "unknown_tool",
            Self::UnknownField { .. } => "unknown_field",
            Self::BadArguments { .. } => "bad_arguments",
            Self::EmptyCommand => "empty_command",
            Self::EndsWithCall => "ends_with_call",
            Self::TimeoutTooLong { .. } => "timeout_too_long",
            Self::Workdir { .. } => "workdir_unusable",
            Self::State { .. } => "state_unusable",
            Self::Shell(_) => "shell_not_allowed",
            Self::Cancelled => "cancelled",
            Self::Moved { .. } => "moved_to_background",
            Self::ProcessIdInUse { .. } => "process_id_in_use",
            Self::NoSuchProcess { .. } => "no_such_process",
            Self::ProcessEnded { .. } => "process_ended",
            Self::ProcessGaveWay { .. } => "process_gave_way",
            Self::TooManyProcesses { .. } => "too_many_processes",
            Self::NotTyped { .. } => "input_not_written",
            Self::NoSuchTask { .. } => "no_such_task",
            Self::TooManyTasks { .. } => "too_many_tasks",
            Self::NotAvailable { .. } => "setting_not_available",
            #[cfg(feature = "commands")]
            Self::Terminate(_) => "tls_unusable",
            #[cfg(feature = "commands")]
            Self::Inject(_) => "inject_unusable",
            Self::Refused(refusal) => refusal.code.name(),
            #[cfg(feature = "commands")]
            Self::Http(error) => error.code(),
            Self::SwitchedOff { .. } => "tool_switched_off",
            Self::Launch(error) => error.code(),
            Self::Patch(error) => error.code(),
            Self::Audit(_) => "audit_failed",
            Self::Rule(_) => "rule_not_kept",
            Self::ToolFailed(_) => "tool_failed",
            Self::ToolPanicked { .. } => "tool_panicked",
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
