//! `bash`: a text for bash.

use std::path::PathBuf;
use std::time::Duration;

use ringfence_policy::action::{FenceRequest, RunCommand};
use ringfence_policy::command_line::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{bash_like, in_shell, long_output, run_options, timeout, workdir};
use super::content::{Content, ContentBlock};
use super::reply::{Remarks, millis};
use super::{Invocation, Tool};
use crate::config::OnTimeout;
use crate::engine::{Call, Engine, Outcome, Patience, RunOptions, RunResult};
use crate::error::CallError;
use crate::execution::Ending;
use crate::output::{Ansi, Captured};
use crate::registry::{State, TaskId};

/// The tool.
pub(super) struct Bash;

impl Tool for Bash {
    type Arguments = Arguments;
    type Reply = BashOutput;

    fn name(&self) -> &'static str {
        "bash"
    }

    fn description(&self) -> &'static str {
        "Runs a bash command inside the fence and returns its output."
    }

    async fn run(&self, at: Invocation<'_>, arguments: Arguments) -> Result<BashOutput, CallError> {
        let Invocation { engine, call, .. } = at;
        if arguments.command.trim().is_empty() {
            return Err(CallError::EmptyCommand);
        }
        let limit = arguments.timeout;
        let timeout = timeout(engine, limit, engine.config.bash.default_timeout)?;
        let shell = bash_like(engine);
        let (line, environment) =
            in_shell(engine, call, &shell, arguments.command, Profile::Login).await;
        let leaves = arguments.dangerously_disable_sandbox.unwrap_or(false);
        let command = RunCommand {
            tool: "bash".to_owned(),
            line,
            cwd: bash_workdir(engine, arguments.workdir.as_deref())?,
            environment,
            fence: if leaves {
                FenceRequest::Leave
            } else {
                FenceRequest::Stay
            },
            justification: None,
            description: arguments.description,
        };
        if arguments.run_in_background == Some(true) {
            if engine.ends_with(call) {
                return Err(CallError::EndsWithCall);
            }
            // One that goes on in the background has all the time unless the call says otherwise.
            return in_background(engine, call, command, limit.map(|_| timeout)).await;
        }
        let options = RunOptions {
            patience: match engine.config.bash.on_timeout {
                _ if engine.ends_with(call) => Patience::Ends,
                OnTimeout::Kill => Patience::MayBeMoved,
                OnTimeout::Background => Patience::Moves,
            },
            ..run_options(engine, timeout)
        };
        match engine.run_or_move(call, command, options).await? {
            RunResult::Ended(outcome) => Ok(BashOutput::of(engine, &outcome, arguments.ansi)),
            RunResult::Moved { task, so_far } => {
                Ok(BashOutput::moved(engine, task, &so_far, arguments.ansi))
            }
        }
    }
}

/// Starts a command and leaves it to itself.
async fn in_background(
    engine: &Engine,
    call: &Call,
    command: RunCommand,
    timeout: Option<Duration>,
) -> Result<BashOutput, CallError> {
    let task = TaskId::random();
    engine
        .open_task(call, command, task.clone(), timeout)
        .await?;
    Ok(BashOutput::started(
        task,
        "the command runs in the background; `bash_task_output` waits for its output",
    ))
}

/// The arguments of `bash`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The command.
    command: String,
    /// The most time to take, in milliseconds (120000 unless told, at most 600000; none in the
    /// background unless told).
    timeout: Option<u64>,
    /// The folder to run in, relative to the session's.
    workdir: Option<String>,
    /// What the command does, in five to ten words.
    description: Option<String>,
    /// Return at once and go on in the background.
    run_in_background: Option<bool>,
    /// Run outside the fence, where the configuration lets a call ask for that.
    #[serde(rename = "dangerouslyDisableSandbox")]
    dangerously_disable_sandbox: Option<bool>,
    /// What becomes of escape sequences, such as colours, in the output.
    ansi: Option<Ansi>,
}

/// What came of a command, or has come of it so far.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BashOutput {
    /// What it printed to standard output.
    stdout: String,
    /// What it printed to standard error.
    stderr: String,
    /// Its exit code, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Whether it was ended before its time.
    interrupted: bool,
    /// Whether standard output is an image.
    is_image: bool,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// Where it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<String>,
    /// What is left out, or how to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    /// The output in blocks, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Vec<ContentBlock>>,
    /// The file with the whole output, if some of it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_output_path: Option<String>,
    /// Whether that file has only the beginning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    raw_output_cut: bool,
    /// The task that it is, or that keeps what it left running.
    #[serde(skip_serializing_if = "Option::is_none")]
    background_task_id: Option<TaskId>,
    /// How the task stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<State>,
    /// What the exit code means.
    #[serde(skip_serializing_if = "Option::is_none")]
    return_code_interpretation: Option<String>,
    #[serde(flatten)]
    remarks: Remarks,
}

impl BashOutput {
    fn of(engine: &Engine, outcome: &Outcome, ansi: Option<Ansi>) -> Self {
        let execution = &outcome.execution;
        let content = Content::of(engine, &execution.output, ansi);
        let (stdout, stderr) = (&content.stdout.excerpt, &content.stderr.excerpt);
        let code = execution.exit_code();
        let omitted = stdout.omitted_bytes + stderr.omitted_bytes;
        let file = long_output(engine, outcome);
        let summary = (omitted > 0).then(|| {
            let place = match &file {
                Some(file) if file.is_cut => {
                    format!("the beginning of it is in {}", file.path.display())
                }
                Some(file) => format!("the whole output is in {}", file.path.display()),
                None => "the rest was not kept".to_owned(),
            };
            let total = execution.output.both.total();
            format!("{omitted} of {total} bytes of output are left out; {place}")
        });
        Self {
            stdout: stdout.text.clone(),
            stderr: stderr.text.clone(),
            exit_code: Some(code),
            interrupted: execution.ending != Ending::Exited,
            is_image: content.stdout.has_image(),
            duration_ms: Some(millis(execution.duration)),
            sandbox: Some(outcome.sandbox.to_owned()),
            summary,
            structured_content: content.blocks(),
            raw_output_cut: file.is_some_and(|file| file.is_cut),
            raw_output_path: file.map(|file| file.path.display().to_string()),
            background_task_id: outcome.task.clone(),
            status: None,
            return_code_interpretation: outcome.code_meaning.clone(),
            remarks: Remarks::on(outcome),
        }
    }

    /// A command that was moved to the background, with what it has printed so far.
    fn moved(engine: &Engine, task: TaskId, so_far: &Captured, ansi: Option<Ansi>) -> Self {
        let content = Content::of(engine, so_far, ansi);
        Self {
            stdout: content.stdout.excerpt.text,
            stderr: content.stderr.excerpt.text,
            ..Self::started(
                task,
                "the command took long and goes on in the background; `bash_task_output` waits for \
                 what it prints from now on",
            )
        }
    }

    /// A command that goes on as a task.
    fn started(task: TaskId, summary: &str) -> Self {
        Self {
            stdout: String::new(),
            stderr: String::new(),
            exit_code: None,
            interrupted: false,
            is_image: false,
            duration_ms: None,
            sandbox: None,
            summary: Some(summary.to_owned()),
            structured_content: None,
            raw_output_path: None,
            raw_output_cut: false,
            background_task_id: Some(task),
            status: Some(State::Running),
            return_code_interpretation: None,
            remarks: Remarks::default(),
        }
    }
}

/// The folder that a call runs in: the one that it names, in the one that is configured.
fn bash_workdir(engine: &Engine, asked: Option<&str>) -> Result<PathBuf, CallError> {
    let Some(configured) = &engine.config.bash.working_directory else {
        return workdir(engine, asked);
    };
    let path = configured.join(asked.unwrap_or("."));
    workdir(engine, Some(&path.to_string_lossy()))
}
