//! What comes of a command that was run to its end, as `shell` and `shell_command` reply it.

use std::time::Duration;

use ringfence_policy::action::RunCommand;
use schemars::JsonSchema;
use serde::Serialize;

use super::command::{long_output, run_options};
use super::content::{Content, ContentBlock};
use super::reply::{Remarks, millis};
use crate::engine::{Call, Engine, Outcome};
use crate::error::CallError;
use crate::output::{Ansi, Excerpt};
use crate::registry::TaskId;

/// What came of a command.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExecToolCallOutput {
    /// Its exit code; 124 if it took too long.
    pub exit_code: i32,
    /// What it printed to standard output.
    pub stdout: StreamOutput,
    /// What it printed to standard error.
    pub stderr: StreamOutput,
    /// Both, in the order they came.
    pub aggregated_output: StreamOutput,
    /// How long it took, in milliseconds.
    pub duration: u64,
    /// Whether it was ended because it took too long.
    pub timed_out: bool,
    /// Where it ran.
    pub sandbox: String,
    /// What the exit code means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code_meaning: Option<String>,
    /// The file with the whole output, if some of it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_output_path: Option<String>,
    /// Whether that file has only the beginning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub raw_output_cut: bool,
    /// Whether standard output is an image, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_image: Option<bool>,
    /// The output in blocks, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Vec<ContentBlock>>,
    /// The task that keeps what it left running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_task_id: Option<TaskId>,
    /// What else there is to say.
    #[serde(flatten)]
    pub remarks: Remarks,
}

/// What a command printed to a stream.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StreamOutput {
    /// The text, without its middle if it is long.
    pub text: String,
    /// How many lines there are before what is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated_after_lines: Option<u64>,
}

/// Runs a command in the foreground and tells its outcome.
pub(super) async fn run(
    engine: &Engine,
    call: &Call,
    command: RunCommand,
    timeout: Duration,
    ansi: Option<Ansi>,
) -> Result<ExecToolCallOutput, CallError> {
    let options = run_options(engine, timeout);
    let outcome = engine.run_command(call, command, options).await?;
    Ok(ExecToolCallOutput::of(engine, &outcome, ansi))
}

impl ExecToolCallOutput {
    /// What is told of an outcome. Escape sequences go by the configuration unless the call says.
    pub(crate) fn of(engine: &Engine, outcome: &Outcome, ansi: Option<Ansi>) -> Self {
        let execution = &outcome.execution;
        let content = Content::of(engine, &execution.output, ansi);
        let blocks = content.blocks();
        let file = long_output(engine, outcome);
        Self {
            exit_code: execution.exit_code(),
            stdout: StreamOutput::of(&content.stdout.excerpt),
            stderr: StreamOutput::of(&content.stderr.excerpt),
            aggregated_output: StreamOutput::of(&content.both),
            duration: millis(execution.duration),
            timed_out: execution.ending.is_timeout(),
            sandbox: outcome.sandbox.to_owned(),
            exit_code_meaning: outcome.code_meaning.clone(),
            raw_output_path: file.map(|file| file.path.display().to_string()),
            raw_output_cut: file.is_some_and(|file| file.is_cut),
            is_image: blocks.is_some().then(|| content.stdout.has_image()),
            structured_content: blocks,
            background_task_id: outcome.task.clone(),
            remarks: Remarks::on(outcome),
        }
    }
}

impl StreamOutput {
    fn of(excerpt: &Excerpt) -> Self {
        Self {
            text: excerpt.text.clone(),
            truncated_after_lines: excerpt.lines_before_cut,
        }
    }
}
