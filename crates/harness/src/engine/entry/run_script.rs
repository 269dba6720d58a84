//! Running a script: code that reaches nothing, and scripts that call tools, whose calls come
//! through the door again.

use std::time::{Duration, Instant};

use ringfence_dialect::ErrorCode;
use ringfence_policy::action::{Action, RunScript};
use ringfence_script::{CodeExecutionResult, CodeOptions, Status};

use crate::audit::Outcome;
use crate::config::{ScriptMode, ScriptRuntime};
use crate::engine::account::End;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::event::Event;
use crate::script::{ScriptRequest, ScriptRun};

impl Engine {
    /// Runs code to its end, or to the deadline.
    pub async fn run_code(
        &self,
        call: &Call,
        source: String,
        options: CodeOptions,
        deadline: Option<Duration>,
    ) -> Result<CodeExecutionResult, CallError> {
        let action = Action::RunScript(RunScript {
            tool: "run_code".to_owned(),
            source: source.clone(),
            bridges: options.bridged(),
        });
        self.act(call, action, |permit, account| async move {
            // It touches nothing by itself, and what it calls elsewhere is no business of this machine:
            // the permit is for the record.
            drop(permit);
            account.runs_in(self.script_place());
            let result = self.evaluate(call, source, options, deadline).await;
            account.ends(match result.status {
                Status::Success => End::new(Outcome::Ok),
                Status::Terminated if call.cancel.is_cancelled() => {
                    End::because(Outcome::Cancelled, result.status.as_str())
                }
                Status::Terminated => End::because(Outcome::TimedOut, result.status.as_str()),
                failed => End::because(Outcome::Failed, failed.as_str()),
            });
            Ok(result)
        })
        .await
    }

    /// Runs a script, or checks it, as its mode says.
    pub async fn run_script(
        &self,
        call: &Call,
        mut request: ScriptRequest,
    ) -> Result<ScriptRun, CallError> {
        let mode = request.mode(&self.config.script);
        if mode != ScriptMode::Enabled {
            self.desk.tell(&Event::NotRun {
                call: call.id.clone(),
                mode,
            });
        }
        if mode == ScriptMode::Disabled {
            return Err(CallError::NotAvailable {
                setting: "script.mode = \"disabled\"",
                instead: "set it to `enabled`, or to `dry-run` to have scripts checked",
            });
        }
        if let Some(rest) = request.source.strip_prefix('\u{feff}') {
            request.source = rest.to_owned();
        }
        let script = self.prepare_script(request, mode)?;
        let action = Action::RunScript(RunScript {
            tool: "run_script".to_owned(),
            source: script.request.source.clone(),
            bridges: script.paths(),
        });
        let started = Instant::now();
        self.act(call, action, |permit, account| async move {
            // A script touches nothing by itself: each of its calls gets a permit of its own.
            drop(permit);
            account.runs_in(self.script_place());
            let told = self.serve_script(call, &script).await?;
            account.ends(match told.failure() {
                None => End::new(Outcome::Ok),
                Some(ErrorCode::ScriptCancelledError) => End::new(Outcome::Cancelled),
                Some(code @ ErrorCode::ScriptTimeoutError) => {
                    End::because(Outcome::TimedOut, code.name())
                }
                Some(code) => End::because(Outcome::Failed, code.name()),
            });
            Ok(script.told(told, started.elapsed()))
        })
        .await
    }

    /// Where scripts run.
    fn script_place(&self) -> &'static str {
        match self.config.script.runtime {
            ScriptRuntime::QuickJs => "worker",
            ScriptRuntime::InProcess => "in-process",
        }
    }
}
