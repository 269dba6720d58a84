//! Ending a background task with everything that it started.

use std::sync::Arc;

use ringfence_policy::action::{Action, StopProcess};

use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::registry::{KeptCommand, TaskId};

impl Engine {
    /// Asks a background task to end, ends it if it does not, and waits until it has ended.
    pub(crate) async fn stop_process(
        &self,
        call: &Call,
        tool: &str,
        id: &TaskId,
    ) -> Result<Arc<KeptCommand>, CallError> {
        let task = self.registry.task(id)?;
        let action = Action::StopProcess(StopProcess {
            tool: tool.to_owned(),
            process: id.to_string(),
            command: self.registry.task_command(id),
        });
        self.act(call, action, |permit, _| async move {
            drop(permit);
            task.stop(self.config.process.stop_grace).await;
            Ok(task)
        })
        .await
    }
}
