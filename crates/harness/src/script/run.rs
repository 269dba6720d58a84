//! One script from start to end: run, its calls served, its clock kept, its end told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringfence_dialect::{ErrorCode, Phase, ScriptError};
use ringfence_script::{Language, ToolHost, ToolScript, ToolScriptLimits, run_tool_script};
use serde_json::Value;
use tokio::sync::mpsc;

use super::bridge::{Ask, Bridge};
use super::context;
use super::ending::{End, Left, Limits, Told};
use super::facade::{self, Exposed};
use super::ledger::{Ledger, Script};
use super::pending::Pending;
use super::request::{ScriptRequest, ScriptRun};
use super::spawn;
use crate::config::ScriptMode;
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::execution::Stopwatch;

/// How long calls that nobody awaited may take to end after they were cancelled.
pub(super) const GRACE: Duration = Duration::from_millis(250);
/// Levels of what a script returns.
const RETURN_DEPTH: u32 = 8;

/// A script that is about to run.
pub(crate) struct Prepared {
    id: String,
    pub(crate) request: ScriptRequest,
    timeout: Duration,
    exposed: Vec<Exposed>,
    mode: ScriptMode,
}

impl Prepared {
    /// The tools that it is given.
    pub(crate) fn paths(&self) -> Vec<String> {
        facade::paths(&self.exposed)
    }

    /// What its end is told as.
    pub(crate) fn told(self, told: Told, duration: Duration) -> ScriptRun {
        told.into_run(self.request, self.id, duration)
    }
}

impl Engine {
    /// A script as it is to be run.
    pub(crate) fn prepare_script(
        &self,
        request: ScriptRequest,
        mode: ScriptMode,
    ) -> Result<Prepared, CallError> {
        Ok(Prepared {
            id: crate::identifier::random("scr"),
            timeout: self.script_timeout(&request)?,
            exposed: facade::exposed(&self.config.script.expose, &self.tools)?,
            mode,
            request,
        })
    }

    /// Runs a script, or checks it, as its mode says.
    pub(crate) async fn serve_script(
        &self,
        call: &Call,
        script: &Prepared,
    ) -> Result<Told, CallError> {
        let Prepared {
            id,
            request,
            timeout,
            exposed,
            ..
        } = script;
        match self.too_large(request) {
            Some(error) => Ok(Told::failed(error)),
            None if script.mode == ScriptMode::DryRun => {
                Ok(self.look_at(request, *timeout, exposed).await)
            }
            None => {
                self.run_with_retry(call, request, id, *timeout, exposed)
                    .await
            }
        }
    }

    fn script_timeout(&self, request: &ScriptRequest) -> Result<Duration, CallError> {
        let most = self.config.script.limits.timeout;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        match request.timeout {
            Some(asked) if asked > most => Err(CallError::TimeoutTooLong {
                given: millis(asked),
                most: millis(most),
            }),
            asked => Ok(asked.unwrap_or(most)),
        }
    }

    fn too_large(&self, request: &ScriptRequest) -> Option<ScriptError> {
        let (size, most) = (
            request.source.len() as u64,
            self.config.script.limits.max_source_bytes,
        );
        (size > most).then(|| {
            let message =
                format!("the script has {size} bytes; at most {most} are taken, so split it");
            ScriptError::new(ErrorCode::ScriptSyntaxError, Phase::Parsing, message)
        })
    }

    /// Runs a script; once more if its process was lost before any tool was called.
    async fn run_with_retry(
        &self,
        call: &Call,
        request: &ScriptRequest,
        id: &str,
        timeout: Duration,
        exposed: &[Exposed],
    ) -> Result<Told, CallError> {
        let first = self.run_once(call, request, id, timeout, exposed).await?;
        let lost = |told: &Told| {
            let code = told.error.as_ref().map(|error| error.code);
            code == Some(ErrorCode::HarnessInternalError) && told.calls == 0
        };
        if !lost(&first) {
            return Ok(first);
        }
        self.desk.notice(
            call,
            "the script's process was lost; it is tried again".to_owned(),
        );
        self.run_once(call, request, id, timeout, exposed).await
    }

    async fn run_once(
        &self,
        call: &Call,
        request: &ScriptRequest,
        id: &str,
        timeout: Duration,
        exposed: &[Exposed],
    ) -> Result<Told, CallError> {
        let clock = Stopwatch::start();
        let (asks, mut asked) = mpsc::unbounded_channel();
        let bridge = Arc::new(Bridge {
            asks,
            exposed: exposed.to_vec(),
            record: Mutex::default(),
            events: self.desk.events.clone(),
            call: call.id.clone(),
        });
        let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        let script = ToolScript {
            tools: facade::paths(exposed),
            context: context::of(self, request, id, millis, &facade::paths(exposed)),
            ..self.tool_script(request)
        };
        let mut run = run_tool_script(
            self.tool_runtime(),
            script,
            Arc::clone(&bridge) as Arc<dyn ToolHost>,
        );
        let seated = run.seated();
        tokio::pin!(seated);
        let script = Script {
            id: id.to_owned(),
            source: &request.source,
            call,
            clock: clock.clone(),
            hosts: Arc::default(),
        };
        let mut ledger = Ledger::new(self, script, exposed);
        // Waiting for a place is not the script's time.
        let mut unseated = Some(clock.pause());
        let end = loop {
            tokio::select! {
                biased;
                () = call.cancel.cancelled() => break End::Cancelled,
                () = &mut seated, if unseated.is_some() => unseated = None,
                Some(ask) = asked.recv() => match ask {
                    Ask::Call(made, answer) => ledger.enter(made, answer),
                    Ask::Cancel(number) => ledger.cancel(number),
                },
                Some(()) = ledger.next() => if ledger.stopped { break End::Stopped },
                result = &mut run => break End::Finished(Box::new(result)),
                () = clock.reaches(timeout) => break End::TimedOut,
            }
        };
        run.terminate(None);
        drop(run);
        let elapsed = clock.elapsed();
        let left = if matches!(end, End::Finished(_)) {
            let not_begun = enter_tasks(&mut ledger, &mut asked);
            let given_up = async {
                tokio::select! {
                    () = clock.reaches(timeout) => {}
                    () = call.cancel.cancelled() => {}
                }
            };
            let mut aborted = ledger.end_script();
            aborted.extend(not_begun);
            let left = wind_up(&mut ledger, aborted).await;
            start_tasks(&mut ledger, given_up).await;
            left
        } else {
            let aborted = ledger.abort();
            wind_up(&mut ledger, aborted).await
        };
        let limits = Limits {
            script: &self.config.script.limits,
            timeout,
            elapsed,
        };
        let dropped = match &end {
            End::Finished(result) => result.dropped_logs,
            _ => 0,
        };
        let said = bridge.said(dropped);
        Ok(Told::of(&end, &ledger, &left, &limits, said))
    }

    /// A script with the limits of the configuration.
    pub(super) fn tool_script(&self, request: &ScriptRequest) -> ToolScript {
        let limits = &self.config.script.limits;
        ToolScript {
            source: request.source.clone(),
            language: match request.language {
                ringfence_dialect::Language::Ts => Language::TypeScript,
                ringfence_dialect::Language::Js => Language::JavaScript,
            },
            tools: Vec::new(),
            context: Value::Null,
            limits: ToolScriptLimits {
                memory_bytes: limits.memory_mb << 20,
                stack_bytes: limits.max_stack_bytes,
                log_lines: limits.max_log_events,
                log_rate: limits.log_rate_per_sec,
                return_depth: RETURN_DEPTH,
            },
        }
    }
}

/// Enters the tasks that a script asked for with its last breath: they are to outlive it. The other calls are given back:
/// they are not begun any more.
fn enter_tasks(ledger: &mut Ledger<'_>, asked: &mut mpsc::UnboundedReceiver<Ask>) -> Vec<Pending> {
    let mut not_begun = Vec::new();
    while let Ok(ask) = asked.try_recv() {
        match ask {
            Ask::Call(made, answer)
                if [spawn::EXEC, spawn::CANCEL].contains(&made.tool.as_str()) =>
            {
                ledger.enter(made, answer);
            }
            Ask::Call(made, _) => not_begun.push(Pending::of(&made)),
            Ask::Cancel(number) => not_begun.retain(|call: &Pending| call.number != number),
        }
    }
    not_begun
}

/// Waits until the tasks that an ended script has asked for have started, for as long as the script had time. What has
/// not by then does not start.
async fn start_tasks(ledger: &mut Ledger<'_>, given_up: impl Future<Output = ()>) {
    let started = async { while ledger.has_starting() && ledger.next().await.is_some() {} };
    tokio::select! {
        () = started => return,
        () = given_up => {}
    }
    let aborted = ledger.abort();
    let late = aborted.iter();
    let late = late.map(|call| format!("{call} did not start within the script's time"));
    ledger.not_started.extend(late);
    wind_up(ledger, aborted).await;
}

/// Gives what was cancelled a little time to end. What has not ended by then is killed as it is dropped.
async fn wind_up(ledger: &mut Ledger<'_>, aborted: Vec<Pending>) -> Left {
    let ended = async { while ledger.next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, ended).await;
    Left {
        stuck: ledger.still_open(&aborted),
        aborted,
    }
}
