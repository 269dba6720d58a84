//! `tools.spawn`: programs that outlive the script, as background tasks of the session.
//!
//! Such a program has no time limit: `spawn.cancel` ends it, `bash_task_stop` does, or the end of the session.

use std::sync::Arc;

use serde_json::{Value, json};

use super::exec;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::execution::Ending;
use crate::registry::{Attended, State, TaskId};

/// The paths below `tools`.
pub(super) const EXEC: &str = "spawn.exec";
pub(super) const CANCEL: &str = "spawn.cancel";

pub(super) const EXEC_DESCRIPTION: &str = "Starts a program that outlives the script, as a background task of the \
    session. `done` need not be awaited.";
pub(super) const CANCEL_DESCRIPTION: &str = "Ends a background task and everything that it started; false if it does \
    not run.";

const TIME: &str = "timeoutMs";

/// The task that a call of a script starts. Scripts make up the same id on their side.
pub(super) fn task_id(script: &str, number: u64) -> TaskId {
    TaskId(format!("task_{script}_{number}"))
}

pub(super) fn exec_schema() -> Value {
    let mut schema = exec::schema();
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove(TIME);
    }
    schema
}

pub(super) fn cancel_schema() -> Value {
    json!({ "type": "string", "description": "The task." })
}

/// What is wrong with the arguments of `spawn.exec`, if anything is.
pub(super) fn check_exec(value: Value) -> Result<(), CallError> {
    read(value).map(drop)
}

/// What is wrong with the argument of `spawn.cancel`, if anything is.
pub(super) fn check_cancel(value: &Value) -> Result<(), CallError> {
    task_of(value).map(drop)
}

fn read(value: Value) -> Result<exec::Arguments, CallError> {
    if value.get(TIME).is_some() {
        return Err(CallError::BadArguments {
            tool: EXEC.to_owned(),
            message: format!(
                "`{TIME}`: a program that outlives the script has no time limit; end it with `spawn.cancel`, or \
                 put `timeout` in front of the command"
            ),
        });
    }
    exec::read(EXEC, value)
}

/// The task that the argument of `spawn.cancel` names.
pub(super) fn task_of(value: &Value) -> Result<TaskId, CallError> {
    let id = value.as_str().ok_or_else(|| CallError::BadArguments {
        tool: CANCEL.to_owned(),
        message: "it takes the `id` that `spawn.exec` gave".to_owned(),
    })?;
    Ok(TaskId(id.to_owned()))
}

/// Starts a program as the task of this id.
pub(super) async fn start(
    engine: &Engine,
    call: &Call,
    id: TaskId,
    value: Value,
) -> Result<Arc<Attended>, CallError> {
    let command = exec::command(engine, EXEC, read(value)?)?;
    // Numbers come from the script's process, which is not trusted to use each once.
    if engine.registry.task(&id).is_ok() {
        return Err(CallError::BadArguments {
            tool: EXEC.to_owned(),
            message: format!("there is a task `{id}` already"),
        });
    }
    engine.open_task(call, command, id.clone()).await?;
    engine.registry.task(&id)
}

/// What comes of a task, once it has ended. Its output stays for `bash_task_output`.
pub(super) async fn done(task: Arc<Attended>) -> Result<Value, CallError> {
    task.ended().await;
    let [stdout, stderr] = task.unfetched();
    match task.end() {
        Some(end) if end.ending != Ending::Cancelled => {
            let denials = &end.findings.denials;
            exec::ExecResult::new(end.exit_code, [&stdout, &stderr], end.duration, denials)
                .to_json()
        }
        _ => Err(CallError::Cancelled),
    }
}

/// Ends a task; false if it does not run.
pub(super) async fn cancel(
    engine: &Engine,
    call: &Call,
    value: &Value,
) -> Result<Value, CallError> {
    let id = task_of(value)?;
    let Ok(task) = engine.registry.task(&id) else {
        return Ok(json!(false));
    };
    if task.state() != State::Running {
        return Ok(json!(false));
    }
    engine.stop_process(call, CANCEL, &id).await?;
    Ok(json!(task.state() == State::Cancelled))
}
