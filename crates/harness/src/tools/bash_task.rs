//! `bash_task_output`, `bash_task_stop` and `bash_task_list`: the background tasks of a session.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::content::Content;
use super::poll::{self, WaitFor};
use super::{Tool, arguments};
use crate::engine::{Announced, Call, Engine};
use crate::error::CallError;
use crate::event::Event;
use crate::output::{Excerpt, HeadTail};
use crate::registry::{Attended, Listed, State, TaskId};

const OUTPUT_NAME: &str = "bash_task_output";
const STOP_NAME: &str = "bash_task_stop";
const LIST_NAME: &str = "bash_task_list";

pub(super) const OUTPUT: Tool = Tool {
    name: OUTPUT_NAME,
    aliases: &[],
    description: "Returns what a background task has printed since the last time, and how it \
                  stands. With `waitMs` it waits for the task's end, for output or for a pattern \
                  instead of being asked again and again.",
    schema: arguments::schema::<OutputArguments>,
    run: |engine, call, value| {
        Box::pin(async move {
            let arguments: OutputArguments = arguments::read(OUTPUT_NAME, value)?;
            output(engine, call, arguments).await
        })
    },
};

pub(super) const STOP: Tool = Tool {
    name: STOP_NAME,
    aliases: &[],
    description: "Ends a background task and everything that it started.",
    schema: arguments::schema::<StopArguments>,
    run: |engine, call, value| {
        Box::pin(async move {
            let arguments: StopArguments = arguments::read(STOP_NAME, value)?;
            let id = TaskId(arguments.task_id);
            let task = engine.stop_process(call, STOP_NAME, &id).await?;
            Ok(reply(engine, &id, &task, None))
        })
    },
};

pub(super) const LIST: Tool = Tool {
    name: LIST_NAME,
    aliases: &[],
    description: "Lists the background tasks and the open processes of the session.",
    schema: arguments::schema::<ListArguments>,
    run: |engine, _, value| {
        Box::pin(async move {
            let ListArguments {} = arguments::read(LIST_NAME, value)?;
            let listed =
                |entries: Vec<Listed>| -> Vec<Value> { entries.iter().map(line).collect() };
            Ok(json!({
                "tasks": listed(engine.registry.tasks()),
                "processes": listed(engine.registry.sessions()),
            }))
        })
    },
};

/// The arguments of `bash_task_output`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OutputArguments {
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
struct StopArguments {
    /// The task.
    task_id: String,
}

/// The arguments of `bash_task_list`: none.
#[derive(Debug, Deserialize, JsonSchema)]
struct ListArguments {}

async fn output(
    engine: &Engine,
    call: &Call,
    arguments: OutputArguments,
) -> Result<Value, CallError> {
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
    let reply = reply(engine, &id, &task, filter.as_ref());
    announced.end(
        reply["exitCode"]
            .as_i64()
            .and_then(|code| i32::try_from(code).ok()),
    );
    Ok(reply)
}

/// Tells the beginning of a call that is about a task.
fn announce(engine: &Engine, call: &Call, tool: &str, id: &TaskId) -> Announced {
    let begin = Event::Begin {
        call: call.id.clone(),
        tool: tool.to_owned(),
        command: id.to_string(),
        cwd: engine.ground.cwd.clone(),
    };
    Announced::of(&engine.desk, call, &begin)
}

/// What is new of a task, in spec 4's words.
fn reply(engine: &Engine, id: &TaskId, task: &Attended, filter: Option<&Regex>) -> Value {
    let (mut fresh, _) = task.fetch();
    let (end, state) = (task.end(), task.state());
    let dropped = filter.map(|filter| {
        keep_lines(&mut fresh.stdout, filter) + keep_lines(&mut fresh.stderr, filter)
    });
    let content = Content::of(engine, &fresh, None);
    let mut reply = json!({
        "stdout": content.stdout.excerpt.text,
        "stderr": content.stderr.excerpt.text,
        "exitCode": end.as_ref().and_then(|end| end.exit_code),
        "interrupted": state == State::Cancelled,
        "isImage": content.stdout.has_image(),
        "backgroundTaskId": id,
        "status": state,
    });
    let omitted = content.stdout.excerpt.omitted_bytes + content.stderr.excerpt.omitted_bytes;
    if omitted > 0 {
        reply["omittedBytes"] = json!(omitted);
    }
    if let Some(dropped) = dropped {
        reply["filteredLines"] = json!(dropped);
    }
    if let Some(blocks) = content.blocks() {
        reply["structuredContent"] = blocks;
    }
    if let Some(end) = &end {
        reply["durationMs"] = json!(end.duration.as_millis());
        poll::add_end(&mut reply, end, "rawOutputPath", "leftRunningTaskId");
    }
    reply
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

fn line(listed: &Listed) -> Value {
    json!({
        "id": listed.id,
        "status": listed.state,
        "command": listed.command,
        "startedAt": unix_millis(listed.started),
        "outputBytes": listed.bytes,
        "exitCode": listed.exit_code,
    })
}

fn unix_millis(at: SystemTime) -> u128 {
    at.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis()
}
