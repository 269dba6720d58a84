//! What replies about commands have in common, and the schema of a reply.

use ringfence_jail::LeftRunning;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use crate::denial::Denial;
use crate::engine::Outcome;
use crate::execution::Ending;
use crate::limit::LimitHit;
#[cfg(feature = "commands")]
use crate::registry::End;

/// The JSON schema of a reply: what is left out when there is nothing to tell is not required.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::default().for_serialize();
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// What every reply about a command may carry.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Remarks {
    /// What the fence refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// The limits that it hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits_hit: Vec<LimitHit>,
    /// Why it was not tried again although the fence refused something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_retried: Option<String>,
    /// How it was run again after the fence had refused something: what was granted inside, or that it ran outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retried: Option<String>,
    /// Why it was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_because: Option<String>,
    /// The processes that it left running.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background_processes: Vec<BackgroundProcess>,
    /// How to end them, or those of another command that `kill` did not see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_stop_them: Option<String>,
}

/// A process that a command left running.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BackgroundProcess {
    /// Its number.
    pub pid: i32,
    /// What it runs.
    pub command: String,
}

impl Remarks {
    /// The remarks on a command that ran in the foreground.
    pub(super) fn on(outcome: &Outcome) -> Self {
        let execution = &outcome.execution;
        let silent = "it printed nothing for longer than `shell.silence_timeout_ms` allows";
        Self {
            denials: outcome.denials.clone(),
            limits_hit: outcome.limits_hit.clone(),
            not_retried: outcome.not_retried.clone(),
            retried: outcome.retried.clone(),
            stopped_because: (execution.ending == Ending::FellSilent).then(|| silent.to_owned()),
            background_processes: left_running(&execution.exit.left_running),
            to_stop_them: to_stop(outcome.task.is_some(), outcome.to_stop.as_ref()),
        }
    }

    #[cfg(feature = "commands")]
    /// The remarks on a command that was kept, and has ended.
    pub(super) fn on_end(end: &End) -> Self {
        Self {
            denials: end.findings.denials.clone(),
            limits_hit: end.findings.limits_hit.clone(),
            background_processes: left_running(&end.left_running),
            to_stop_them: to_stop(end.task.is_some(), end.findings.to_stop.as_ref()),
            ..Self::default()
        }
    }
}

/// Each command has its own processes: a number that one printed means nothing to another.
const TO_STOP: &str =
    "`bash_task_stop` with the id of their task; `kill` in another command does not see them";

fn to_stop(leaves: bool, not_killed: Option<&String>) -> Option<String> {
    not_killed
        .cloned()
        .or_else(|| leaves.then(|| TO_STOP.to_owned()))
}

fn left_running(left: &[LeftRunning]) -> Vec<BackgroundProcess> {
    let processes = left.iter().map(|left| BackgroundProcess {
        pid: left.pid,
        command: left.command.clone(),
    });
    processes.collect()
}

/// Thousandths of a second, as replies count them.
pub(super) fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
