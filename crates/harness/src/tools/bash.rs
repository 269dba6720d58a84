//! `bash`: a text for bash, as spec 4 has it.

use ringfence_policy::action::{FenceRequest, RunCommand};
use ringfence_policy::command_line::Profile;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{add, add_common, bash_like, how, in_shell, long_output, timeout, workdir};
use super::content::Content;
use super::{Tool, arguments};
use crate::config::OnTimeout;
use crate::engine::{Call, Done, Engine, How, Outcome, Patience};
use crate::error::CallError;
use crate::execution::Ending;
use crate::output::{Ansi, Captured};
use crate::registry::TaskId;

pub(super) const TOOL: Tool = Tool {
    name: "bash",
    aliases: &[],
    description: "Runs a bash command inside the fence and returns its output.",
    schema: arguments::schema::<Arguments>,
    run: |engine, call, value| {
        Box::pin(async move {
            let arguments: Arguments = arguments::read("bash", value)?;
            if arguments.command.trim().is_empty() {
                return Err(CallError::EmptyCommand);
            }
            let timeout = timeout(
                engine,
                arguments.timeout,
                engine.config.bash.default_timeout,
            )?;
            let shell = bash_like(engine);
            let (line, environment) =
                in_shell(engine, call, &shell, arguments.command, Profile::Login).await;
            let leaves = arguments.dangerously_disable_sandbox.unwrap_or(false);
            let command = RunCommand {
                tool: "bash".to_owned(),
                line,
                cwd: workdir(engine, None)?,
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
                return in_background(engine, call, command).await;
            }
            let how = How {
                patience: match engine.config.bash.on_timeout {
                    OnTimeout::Kill => Patience::MayBeMoved,
                    OnTimeout::Background => Patience::Moves,
                },
                ..how(engine, timeout)
            };
            match engine.run_or_move(call, command, how).await? {
                Done::Ended(outcome) => Ok(reply(engine, &outcome, arguments.ansi)),
                Done::Moved { task, so_far } => Ok(moved(engine, &task, &so_far, arguments.ansi)),
            }
        })
    },
};

/// Starts a command and leaves it to itself.
async fn in_background(
    engine: &Engine,
    call: &Call,
    command: RunCommand,
) -> Result<Value, CallError> {
    let task = TaskId::random();
    engine.open_task(call, command, task.clone()).await?;
    Ok(started(
        &task,
        "the command runs in the background; `bash_task_output` waits for its output",
    ))
}

/// The reply for a command that was moved to the background, with what it has printed so far.
fn moved(engine: &Engine, task: &TaskId, so_far: &Captured, ansi: Option<Ansi>) -> Value {
    let content = Content::of(engine, so_far, ansi);
    let mut reply = started(
        task,
        "the command took long and goes on in the background; `bash_task_output` waits for what \
         it prints from now on",
    );
    reply["stdout"] = json!(content.stdout.excerpt.text);
    reply["stderr"] = json!(content.stderr.excerpt.text);
    reply
}

fn started(task: &TaskId, summary: &str) -> Value {
    json!({
        "stdout": "",
        "stderr": "",
        "summary": summary,
        "interrupted": false,
        "isImage": false,
        "backgroundTaskId": task,
        "status": "running",
    })
}

/// The arguments of `bash`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The command.
    command: String,
    /// The most time to take, in milliseconds (120000 unless told, at most 600000).
    timeout: Option<u64>,
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

fn reply(engine: &Engine, outcome: &Outcome, ansi: Option<Ansi>) -> Value {
    let execution = &outcome.execution;
    let content = Content::of(engine, &execution.output, ansi);
    let (stdout, stderr) = (&content.stdout.excerpt, &content.stderr.excerpt);
    let code = execution.exit_code();
    let omitted = stdout.omitted_bytes + stderr.omitted_bytes;
    let mut reply = json!({
        "stdout": stdout.text,
        "stderr": stderr.text,
        "exitCode": code,
        "interrupted": execution.ending != Ending::Exited,
        "isImage": content.stdout.has_image(),
        "durationMs": execution.duration.as_millis(),
        "sandbox": outcome.sandbox,
    });
    let file = long_output(engine, outcome);
    if omitted > 0 {
        let place = match &file {
            Some(path) => format!("the whole output is in {path}"),
            None => "the rest was not kept".to_owned(),
        };
        let total = execution.output.both.total();
        reply["summary"] = json!(format!(
            "{omitted} of {total} bytes of output are left out; {place}"
        ));
    }
    if let Some(blocks) = content.blocks() {
        reply["structuredContent"] = blocks;
    }
    add(&mut reply, "rawOutputPath", file);
    add(
        &mut reply,
        "backgroundTaskId",
        outcome.task.as_ref().map(|task| task.0.clone()),
    );
    add(
        &mut reply,
        "returnCodeInterpretation",
        crate::exit_code::interpret(code),
    );
    add_common(&mut reply, outcome);
    reply
}
