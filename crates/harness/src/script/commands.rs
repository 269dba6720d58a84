//! Commands in scripts: `exec`, which waits for one, and `spawn`, whose programs outlive the script as background
//! tasks of the session.
//!
//! A program that was spawned has no time limit: `spawn.cancel` ends it, `bash_task_stop` does, or the end of the session.

use std::sync::Arc;

use serde_json::{Value, json};

use super::exec;
use super::facade::{Exposed, Reached, Target};
use super::spawn::{CANCEL, EXEC, task_of};
use crate::declarations::Returns;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::execution::Ending;
use crate::registry::{KeptCommand, State, TaskId};

/// A task that a script started.
pub(super) type Task = KeptCommand;

/// What scripts do with commands, beside the tools that models call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandTarget {
    Exec,
    SpawnExec,
    SpawnCancel,
}

impl CommandTarget {
    /// The one that is there under a name, whatever is switched on.
    pub(super) fn expose(name: &str) -> Option<Exposed> {
        (name == "exec").then(|| Exposed {
            name: name.to_owned(),
            description: exec::DESCRIPTION.to_owned(),
            schema: exec::schema(),
            returns: Returns::Promise(exec::output_schema()),
            target: Target::Command(Self::Exec),
        })
    }

    /// Those that `script.expose.enable_spawn` switches on.
    pub(super) fn spawning() -> Vec<Exposed> {
        vec![
            Exposed {
                name: EXEC.to_owned(),
                description: EXEC_DESCRIPTION.to_owned(),
                schema: exec_schema(),
                returns: Returns::Task(exec::output_schema()),
                target: Target::Command(Self::SpawnExec),
            },
            Exposed {
                name: CANCEL.to_owned(),
                description: CANCEL_DESCRIPTION.to_owned(),
                schema: cancel_schema(),
                returns: Returns::Promise(json!({ "type": "boolean" })),
                target: Target::Command(Self::SpawnCancel),
            },
        ]
    }

    /// Calls it. A task that it starts gets this id.
    pub(super) async fn reach(
        self,
        engine: &Engine,
        call: &Call,
        arguments: Value,
        task: TaskId,
    ) -> Result<Reached, CallError> {
        let reply = match self {
            Self::Exec => {
                let reply = exec::run(engine, call, arguments).await;
                reply.map(|reply| engine.processed("exec", reply))
            }
            Self::SpawnExec => {
                let task = start(engine, call, task, arguments).await?;
                return Ok(Reached::Task(task));
            }
            Self::SpawnCancel => cancel(engine, call, &arguments).await,
        };
        reply.map(Reached::Reply)
    }

    /// What is wrong with arguments that are known, if anything is.
    pub(super) fn check(self, arguments: Value) -> Result<(), CallError> {
        match self {
            Self::Exec => exec::check(arguments),
            Self::SpawnExec => check_exec(arguments),
            Self::SpawnCancel => check_cancel(&arguments),
        }
    }

    /// Whether it says more about its arguments than their schema does.
    pub(super) fn knows_better(self) -> bool {
        self != Self::Exec
    }
}

const EXEC_DESCRIPTION: &str = "Starts a program that outlives the script, as a background task of the \
    session. `done` need not be awaited.";
const CANCEL_DESCRIPTION: &str = "Ends a background task and everything that it started; false if it does \
    not run.";

const TIME: &str = "timeoutMs";

fn exec_schema() -> Value {
    let mut schema = exec::schema();
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove(TIME);
    }
    schema
}

fn cancel_schema() -> Value {
    json!({ "type": "string", "description": "The task." })
}

/// What is wrong with the arguments of `spawn.exec`, if anything is.
fn check_exec(value: Value) -> Result<(), CallError> {
    read(value).map(drop)
}

/// What is wrong with the argument of `spawn.cancel`, if anything is.
fn check_cancel(value: &Value) -> Result<(), CallError> {
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

/// Starts a program as the task of this id.
async fn start(
    engine: &Engine,
    call: &Call,
    id: TaskId,
    value: Value,
) -> Result<Arc<KeptCommand>, CallError> {
    let command = exec::command(engine, EXEC, read(value)?)?;
    // Numbers come from the script's process, which is not trusted to use each once.
    if engine.registry.task(&id).is_ok() {
        return Err(CallError::BadArguments {
            tool: EXEC.to_owned(),
            message: format!("there is a task `{id}` already"),
        });
    }
    engine.open_task(call, command, id.clone(), None).await?;
    engine.registry.task(&id)
}

/// What comes of a task, once it has ended. Its output stays for `bash_task_output`.
pub(super) async fn done(task: Arc<KeptCommand>) -> Result<Value, CallError> {
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
async fn cancel(engine: &Engine, call: &Call, value: &Value) -> Result<Value, CallError> {
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

/// Ends a task.
pub(super) async fn kill(task: &Task) {
    task.kill().await;
}
