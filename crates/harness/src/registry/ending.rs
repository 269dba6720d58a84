//! How a kept command stands, and how it ended.

use std::time::Duration;

use ringfence_jail::LeftRunning;

use super::TaskId;
use crate::engine::Findings;
use crate::execution::Ending;
use crate::output::OutputFile;

/// How a kept command stands, as models are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It runs.
    Running,
    /// It ended by itself, with success.
    Completed,
    /// It ended by itself, without.
    Failed,
    /// It was stopped.
    Cancelled,
}

/// The end of a kept command.
#[derive(Debug, Clone)]
pub(crate) struct End {
    /// How it came about.
    pub(crate) ending: Ending,
    /// Its exit code; none for what a command left running, which has none of its own.
    pub(crate) exit_code: Option<i32>,
    /// How long it took.
    pub(crate) duration: Duration,
    /// What was found out about it.
    pub(crate) findings: Findings,
    /// The file with its whole output, if that was long.
    pub(crate) file: Option<OutputFile>,
    /// What it left running, and the task that keeps it.
    pub(crate) left_running: Vec<LeftRunning>,
    /// The task.
    pub(crate) task: Option<TaskId>,
}

impl End {
    /// The end of a command that was lost with its warden.
    pub(crate) fn lost(duration: Duration) -> Self {
        const KILLED: i32 = 137;
        Self {
            exit_code: Some(KILLED),
            ..Self::of_leftovers(Ending::Exited, duration)
        }
    }

    /// The end of what a command left running.
    pub(crate) fn of_leftovers(ending: Ending, duration: Duration) -> Self {
        Self {
            ending,
            exit_code: None,
            duration,
            findings: Findings::default(),
            file: None,
            left_running: Vec::new(),
            task: None,
        }
    }

    pub(crate) fn state(&self) -> State {
        match (self.ending, self.exit_code) {
            (Ending::Cancelled, _) => State::Cancelled,
            (Ending::Exited, None | Some(0)) => State::Completed,
            _ => State::Failed,
        }
    }
}
