//! `bash_task_output`, `bash_task_stop` and `bash_task_list`: the background tasks of a session.

use std::time::{Duration, UNIX_EPOCH};

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::content::{Content, ContentBlock};
use super::poll::{self, WaitFor};
use super::reply::{Remarks, millis};
use super::{Invocation, Tool};
use crate::engine::{Announced, Call, Engine};
use crate::error::CallError;
use crate::event::Event;
use crate::output::{Excerpt, HeadTail};
use crate::registry::{Attended, Listed, State, TaskId};

const OUTPUT_NAME: &str = "bash_task_output";
const STOP_NAME: &str = "bash_task_stop";
const LIST_NAME: &str = "bash_task_list";

/// The tool.
pub(super) struct TaskOutput;

impl Tool for TaskOutput {
    type Arguments = OutputArguments;
    type Reply = TaskReply;

    fn name(&self) -> &'static str {
        OUTPUT_NAME
    }

    fn description(&self) -> &'static str {
        "Returns what a background task has printed since the last time, and how it \
                  stands. With `waitMs` it waits for the task's end, for output or for a pattern \
                  instead of being asked again and again."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: OutputArguments,
    ) -> Result<TaskReply, CallError> {
        output(at.engine, at.call, arguments).await
    }
}

/// The tool.
pub(super) struct TaskStop;

impl Tool for TaskStop {
    type Arguments = StopArguments;
    type Reply = TaskReply;

    fn name(&self) -> &'static str {
        STOP_NAME
    }

    fn description(&self) -> &'static str {
        "Ends a background task and everything that it started."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: StopArguments,
    ) -> Result<TaskReply, CallError> {
        let Invocation { engine, call, .. } = at;
        let id = TaskId(arguments.task_id);
        let task = engine.registry.task(&id)?;
        let announced = announce(engine, call, STOP_NAME, &id);
        task.stop().await;
        announced.end(None);
        Ok(TaskReply::of(engine, id, &task, None))
    }
}

/// The tool.
pub(super) struct TaskList;

impl Tool for TaskList {
    type Arguments = ListArguments;
    type Reply = Lists;

    fn name(&self) -> &'static str {
        LIST_NAME
    }

    fn description(&self) -> &'static str {
        "Lists the background tasks and the open processes of the session."
    }

    async fn run(&self, at: Invocation<'_>, arguments: ListArguments) -> Result<Lists, CallError> {
        let ListArguments {} = arguments;
        let listed = |entries: Vec<Listed>| entries.into_iter().map(Line::of).collect();
        Ok(Lists {
            tasks: listed(at.engine.registry.tasks()),
            processes: listed(at.engine.registry.sessions()),
        })
    }
}

/// The arguments of `bash_task_output`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutputArguments {
    /// The task.
    task_id: String,
    /// The longest to wait before returning, in milliseconds (not at all unless told).
    wait_ms: Option<u64>,
    /// What ends the wait early: the task's exit alone, or the first output.
    #[serde(default)]
    wait_for: WaitFor,
    /// A regular expression; standard output in which it is found ends the wait early.
    pattern: Option<String>,
    /// A regular expression; only lines in which it is found are returned, and the others are
    /// dropped.
    filter: Option<String>,
}

/// The arguments of `bash_task_stop`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StopArguments {
    /// The task.
    task_id: String,
}

/// The arguments of `bash_task_list`: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListArguments {}

async fn output(
    engine: &Engine,
    call: &Call,
    arguments: OutputArguments,
) -> Result<TaskReply, CallError> {
    let until = poll::until(
        OUTPUT_NAME,
        arguments.wait_for,
        arguments.pattern.as_deref(),
    )?;
    let deadline = poll::deadline(engine, arguments.wait_ms, Duration::ZERO)?;
    let filter = arguments
        .filter
        .map(|filter| poll::pattern(OUTPUT_NAME, "filter", &filter))
        .transpose()?;
    let id = TaskId(arguments.task_id);
    let task = engine.registry.task(&id)?;
    let announced = announce(engine, call, OUTPUT_NAME, &id);
    tokio::select! {
        () = task.wait(&until, deadline) => {}
        // The task is not the call's: it lives on.
        () = call.cancel.cancelled() => {}
    }
    let reply = TaskReply::of(engine, id, &task, filter.as_ref());
    announced.end(reply.exit_code);
    Ok(reply)
}

/// Tells the beginning of a call that is about a task.
pub(crate) fn announce<'a>(
    engine: &'a Engine,
    call: &'a Call,
    tool: &str,
    id: &TaskId,
) -> Announced<'a> {
    let begin = Event::Begin {
        call: call.id.clone(),
        tool: tool.to_owned(),
        command: id.to_string(),
        cwd: engine.ground.cwd.clone(),
    };
    Announced::of(&engine.desk, call, &begin)
}

/// What is new of a task.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskReply {
    /// What it has printed to standard output since the last time.
    stdout: String,
    /// What it has printed to standard error since the last time.
    stderr: String,
    /// Its exit code; null if it still runs.
    exit_code: Option<i32>,
    /// Whether it was stopped.
    interrupted: bool,
    /// Whether standard output is an image.
    is_image: bool,
    /// The task.
    background_task_id: TaskId,
    /// How it stands.
    status: State,
    /// How much of the output is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_bytes: Option<u64>,
    /// How many lines the filter dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    filtered_lines: Option<usize>,
    /// The output in blocks, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Vec<ContentBlock>>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// The file with the whole output, if that was long.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_output_path: Option<String>,
    /// The task that keeps what it left running.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_running_task_id: Option<TaskId>,
    #[serde(flatten)]
    remarks: Remarks,
}

impl TaskReply {
    fn of(engine: &Engine, id: TaskId, task: &Attended, filter: Option<&Regex>) -> Self {
        let (mut fresh, _) = task.fetch();
        let (end, state) = (task.end(), task.state());
        let end = end.as_ref();
        let dropped = filter.map(|filter| {
            keep_lines(&mut fresh.stdout, filter) + keep_lines(&mut fresh.stderr, filter)
        });
        let content = Content::of(engine, &fresh, None);
        let (stdout, stderr) = (&content.stdout.excerpt, &content.stderr.excerpt);
        let omitted = stdout.omitted_bytes + stderr.omitted_bytes;
        let file = end.and_then(|end| end.file.as_ref());
        Self {
            stdout: stdout.text.clone(),
            stderr: stderr.text.clone(),
            exit_code: end.and_then(|end| end.exit_code),
            interrupted: state == State::Cancelled,
            is_image: content.stdout.has_image(),
            background_task_id: id,
            status: state,
            omitted_bytes: Some(omitted).filter(|bytes| *bytes > 0),
            filtered_lines: dropped,
            structured_content: content.blocks(),
            duration_ms: end.map(|end| millis(end.duration)),
            raw_output_path: file.map(|path| path.display().to_string()),
            left_running_task_id: end.and_then(|end| end.task.clone()),
            remarks: end.map(Remarks::on_end).unwrap_or_default(),
        }
    }
}

/// Keeps the lines in which a pattern is found, and says how many it dropped.
fn keep_lines(buffer: &mut HeadTail, filter: &Regex) -> usize {
    let whole = Excerpt::of(buffer, usize::MAX).text;
    let (kept, dropped): (Vec<&str>, Vec<&str>) = whole
        .split_inclusive('\n')
        .partition(|line| filter.is_match(line.trim_end_matches('\n')));
    *buffer = HeadTail::new(whole.len() * 2);
    buffer.push(kept.concat().as_bytes());
    dropped.len()
}

/// What a session keeps running, and what it still has of what has ended.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Lists {
    /// The background tasks.
    tasks: Vec<Line>,
    /// The commands that `exec_command` left open.
    processes: Vec<Line>,
}

/// A task or a process in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListedCommand")]
struct Line {
    /// Its id.
    id: String,
    /// How it stands.
    status: State,
    /// What it runs.
    command: String,
    /// When it was started, in milliseconds since 1970.
    started_at: u64,
    /// How much it has printed.
    output_bytes: u64,
    /// Its exit code; null if it still runs.
    exit_code: Option<i32>,
}

impl Line {
    fn of(listed: Listed) -> Self {
        let since = listed.started.duration_since(UNIX_EPOCH);
        Self {
            id: listed.id,
            status: listed.state,
            command: listed.command,
            started_at: millis(since.unwrap_or_default()),
            output_bytes: listed.bytes,
            exit_code: listed.exit_code,
        }
    }
}
