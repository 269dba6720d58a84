//! `tools.exec`: a program and its arguments, with the result that scripts work with.

use std::collections::BTreeMap;
use std::time::Duration;

use ringfence_policy::action::{FenceRequest, RunCommand};
use ringfence_policy::command_line::CommandLine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Denial;
use crate::engine::{Call, Engine, Outcome};
use crate::error::CallError;
use crate::execution::Ending;
use crate::output::HeadTail;
use crate::tools::arguments;
use crate::tools::command::{on_pipes, run_options, timeout, workdir};
use crate::tools::reply;

pub(super) const DESCRIPTION: &str = "Runs a program with arguments inside the fence. A non-zero exit code is a \
    result, not an error; a person may be asked first.";

/// Bytes of one stream in a result.
const MOST_OUTPUT: usize = 256 << 10;
const CUT: &str = "...<truncated>";

/// The arguments of `exec`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Arguments {
    /// The program and its arguments, for example `["npm", "test"]`.
    command: Vec<String>,
    /// The folder to run in, relative to the session's.
    cwd: Option<String>,
    /// Variables that are set for the command.
    env: Option<BTreeMap<String, String>>,
    /// The most time to take, in milliseconds (10000 unless configured otherwise).
    timeout_ms: Option<u64>,
    /// Why, for the person who may be asked.
    approval_context: Option<String>,
}

pub(super) fn schema() -> Value {
    arguments::schema::<Arguments>()
}

pub(super) fn output_schema() -> Value {
    reply::schema::<ExecResult>()
}

/// What is wrong with the arguments, if anything is.
pub(super) fn check(value: Value) -> Result<(), CallError> {
    read("exec", value).map(drop)
}

pub(super) fn read(tool: &str, value: Value) -> Result<Arguments, CallError> {
    let arguments: Arguments = arguments::read(tool, value)?;
    if arguments.command.first().is_none_or(String::is_empty) {
        return Err(CallError::EmptyCommand);
    }
    for name in arguments.env.iter().flat_map(BTreeMap::keys) {
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(CallError::BadArguments {
                tool: tool.to_owned(),
                message: format!("`env`: `{name}` is not the name of a variable"),
            });
        }
    }
    Ok(arguments)
}

pub(super) async fn run(engine: &Engine, call: &Call, value: Value) -> Result<Value, CallError> {
    let arguments = read("exec", value)?;
    let timeout = timeout(engine, arguments.timeout_ms, engine.config.shell.timeout)?;
    let command = command(engine, "exec", arguments)?;
    let outcome = engine
        .run_command(call, command, run_options(engine, timeout))
        .await?;
    if outcome.execution.ending == Ending::Cancelled {
        return Err(CallError::Cancelled);
    }
    ExecResult::of(&outcome).to_json()
}

/// The command that the arguments ask for.
pub(super) fn command(
    engine: &Engine,
    tool: &str,
    arguments: Arguments,
) -> Result<RunCommand, CallError> {
    Ok(RunCommand {
        tool: tool.to_owned(),
        cwd: workdir(engine, arguments.cwd.as_deref())?,
        line: CommandLine::Argv(with_variables(arguments.command, arguments.env)),
        environment: on_pipes(&engine.environment),
        fence: FenceRequest::Stay,
        justification: arguments.approval_context,
        description: None,
    })
}

/// Variables go through `env`, where policy sees them: some make a harmless program run another one.
fn with_variables(
    command: Vec<String>,
    variables: Option<BTreeMap<String, String>>,
) -> Vec<String> {
    let variables = variables.unwrap_or_default();
    if variables.is_empty() {
        return command;
    }
    let set = variables
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"));
    std::iter::once("env".to_owned())
        .chain(set)
        .chain(command)
        .collect()
}

/// What came of a program.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExecResult {
    /// Its exit code; 124 if it took too long.
    // Only what a command left running has none, and that is no program of a script's.
    #[schemars(with = "i32")]
    exit_code: Option<i32>,
    /// What it printed to standard output.
    stdout: String,
    /// What it printed to standard error.
    stderr: String,
    /// How long it took, in milliseconds.
    #[serde(rename = "duration_ms")]
    duration_ms: u64,
    /// What the fence refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    denials: Vec<Denial>,
    /// Present if it was ended because it took too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    timed_out: Option<bool>,
}

impl ExecResult {
    fn of(outcome: &Outcome) -> Self {
        let execution = &outcome.execution;
        let streams = [&execution.output.stdout, &execution.output.stderr];
        let code = Some(execution.exit_code());
        Self {
            timed_out: (execution.ending == Ending::TimedOut).then_some(true),
            ..Self::new(code, streams, execution.duration, &outcome.denials)
        }
    }

    pub(super) fn new(
        exit_code: Option<i32>,
        [stdout, stderr]: [&HeadTail; 2],
        duration: Duration,
        denials: &[Denial],
    ) -> Self {
        Self {
            exit_code,
            stdout: text(stdout),
            stderr: text(stderr),
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            denials: denials.to_vec(),
            timed_out: None,
        }
    }

    /// As the script gets it.
    pub(super) fn to_json(&self) -> Result<Value, CallError> {
        serde_json::to_value(self).map_err(CallError::failed)
    }
}

fn text(stream: &HeadTail) -> String {
    let head = stream.head();
    if stream.total() <= MOST_OUTPUT as u64 {
        return String::from_utf8_lossy(&[head, &stream.tail()].concat()).into_owned();
    }
    let kept = &head[..head.len().min(MOST_OUTPUT)];
    let mut text = String::from_utf8_lossy(kept).into_owned();
    // What was cut in the middle of a character.
    while text.ends_with(char::REPLACEMENT_CHARACTER) {
        text.pop();
    }
    text.push_str(CUT);
    text
}
