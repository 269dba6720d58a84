//! `bash_task_output`, `bash_task_stop` and `bash_task_list`: the background tasks of a session.

use std::time::{Duration, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::poll::{self, WaitFor};
use super::reply::millis;
use super::task_output::TaskReply;
use super::{Invocation, Tool};
use crate::engine::{Call, CallAnnouncement, Engine};
use crate::error::CallError;
use crate::event::Event;
use crate::registry::{Listed, Since, State, TaskId};

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
        "Ends a background task and everything that it started: it is asked to end, and \
                  killed if it has not after a while."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: StopArguments,
    ) -> Result<TaskReply, CallError> {
        let Invocation { engine, call, .. } = at;
        let id = TaskId(arguments.task_id);
        let task = engine.stop_process(call, STOP_NAME, &id).await?;
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
            processes: listed(at.engine.registry.processes()),
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
    /// A regular expression; output in which it is found ends the wait early.
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
        () = task.wait(&until, Since::BEGINNING, deadline) => {}
        // The task is not the call's: it lives on.
        () = call.cancel.cancelled() => {}
    }
    let reply = TaskReply::of(engine, id, &task, filter.as_ref());
    announced.end(reply.exit_code);
    Ok(reply)
}

/// Tells the beginning of a call that is about a task.
fn announce(engine: &Engine, call: &Call, tool: &str, id: &TaskId) -> CallAnnouncement {
    let begin = Event::Begin {
        call: call.id.clone(),
        tool: tool.to_owned(),
        command: id.to_string(),
        cwd: engine.ground.cwd.clone(),
        parent: call.parent.clone(),
        turn: call.turn.clone(),
    };
    CallAnnouncement::of(&engine.desk, call, &begin)
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
