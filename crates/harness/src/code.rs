//! Code in a process of its own, which reaches nothing but what it was given.

use std::time::Duration;

use ringfence_script::{CodeExecutionResult, CodeOptions, RealmKind, run_code_on};

use crate::engine::Engine;

impl Engine {
    /// Evaluates code, to its end or to the deadline.
    pub(crate) async fn evaluate(
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
