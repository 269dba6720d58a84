//! Ending a background task with everything that it started.

use std::sync::Arc;

use ringfence_policy::action::{Action, StopProcess};

use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::registry::{Attended, TaskId};

impl Engine {
    /// Ends a background task, and waits until it has ended.
    pub(crate) async fn stop_process(
        &self,
        call: &Call,
        tool: &str,
        id: &TaskId,
    ) -> Result<Arc<Attended>, CallError> {
        let task = self.registry.task(id)?;
        let action = Action::StopProcess(StopProcess {
            tool: tool.to_owned(),
            process: id.to_string(),
            command: self.registry.task_command(id),
        });
        self.act(call, action, |permit, _| async move {
            drop(permit);
            task.stop().await;
            Ok(task)
        })
        .await
    }
}
