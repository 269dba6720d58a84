//! Running code: a script goes through the same door as any action, and then into a process of
//! its own that reaches nothing but what it was given.

use std::time::{Duration, Instant};

use ringfence_policy::action::{Action, RunScript};
use ringfence_script::{CodeExecutionResult, CodeOptions, RealmKind, Status, run_code_on};

use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::event::Event;

impl Engine {
    /// Runs code to its end, or to the deadline.
    pub async fn run_code(
        &self,
        call: &Call,
        source: String,
        options: CodeOptions,
        deadline: Option<Duration>,
    ) -> Result<CodeExecutionResult, CallError> {
        let started = Instant::now();
        let action = Action::RunScript(RunScript {
            tool: "run_code".to_owned(),
            source: source.clone(),
            bridges: Vec::new(),
        });
        // A script without bridges touches nothing: the permit is for the record.
        drop(self.desk.permit(call, action).await?);
        self.desk.tell(&Event::Begin {
            call: call.id.clone(),
            tool: "run_code".to_owned(),
            command: source.clone(),
            cwd: self.ground.cwd.clone(),
        });
        let result = self.evaluate(source, options, deadline).await;
        let code = match result.status {
            Status::Success => "ok",
            other => other.as_str(),
        };
        self.desk
            .record_outcome(call, Err((code, started.elapsed())))?;
        let (id, duration) = (call.id.clone(), started.elapsed());
        self.desk.tell(&Event::End {
            call: id,
            exit_code: None,
            duration,
        });
        Ok(result)
    }

    async fn evaluate(
        &self,
        source: String,
        options: CodeOptions,
        deadline: Option<Duration>,
    ) -> CodeExecutionResult {
        let runtime = self
            .scripts
            .get_or_init(|| self.new_runtime(RealmKind::Module));
        let mut run = run_code_on(runtime.clone(), source, options);
        let Some(deadline) = deadline else {
            return run.await;
        };
        if let Ok(result) = tokio::time::timeout(deadline, &mut run).await {
            return result;
        }
        run.terminate(Some(&format!(
            "it took more than {} ms",
            deadline.as_millis()
        )));
        run.await
    }
}
