//! `tools.spawn`: programs that outlive the script, as background tasks of the session. Here is what they are called;
//! `commands` starts and ends them.

use serde_json::Value;

use crate::error::CallError;
use crate::registry::TaskId;

/// The paths below `tools`.
pub(super) const EXEC: &str = "spawn.exec";
pub(super) const CANCEL: &str = "spawn.cancel";

/// The task that a call of a script starts. Scripts make up the same id on their side.
pub(super) fn task_id(script: &str, number: u64) -> TaskId {
    TaskId(format!("task_{script}_{number}"))
}

/// The task that the argument of `spawn.cancel` names.
pub(super) fn task_of(value: &Value) -> Result<TaskId, CallError> {
    let id = value.as_str().ok_or_else(|| CallError::BadArguments {
        tool: CANCEL.to_owned(),
        message: "it takes the `id` that `spawn.exec` gave".to_owned(),
    })?;
    Ok(TaskId(id.to_owned()))
}
