//! The listener: hears events, counts and measures, and has the tracer put spans together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ringfence::audit::{CallId, Outcome, Redactor};
use ringfence::config::ScriptMode;
use ringfence::event::{CommandRun, Event, Listener};

use crate::label;
use crate::names::Id;
use crate::registry::{Registry, Series};
use crate::span::Span;
use crate::tracer::Tracer;

/// As many calls are followed at once.
const MOST_CALLS: usize = 4_096;

/// How much of commands and their output spans tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Detail {
    /// The text of commands, with secrets taken out, besides its hash.
    pub commands: bool,
    /// The beginning of what they print.
    pub output: bool,
}

/// Where finished spans go. It does not wait.
pub(crate) type SpanSink = Arc<dyn Fn(Span) + Send + Sync>;

/// A call about which more may be told.
struct Followed {
    tool: String,
    /// Commands of its that run.
    running: usize,
    has_ended: bool,
}

/// Counts, measures and traces what it hears.
pub struct Telemetry {
    registry: Arc<Registry>,
    calls: Mutex<HashMap<CallId, Followed>>,
    tracer: Option<Mutex<Tracer>>,
    sink: Option<SpanSink>,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self::new()
    }
}

impl Telemetry {
    /// One that counts and measures.
    pub fn new() -> Self {
        Self {
            registry: Arc::default(),
            calls: Mutex::default(),
            tracer: None,
            sink: None,
        }
    }

    /// The same with spans, which are handed to somebody who must not wait. Secrets in commands are taken out by the
    /// redactor, where their text is told at all.
    pub fn with_spans(
        self,
        detail: Detail,
        redactor: Redactor,
        sink: impl Fn(Span) + Send + Sync + 'static,
    ) -> Self {
        Self {
            tracer: Some(Mutex::new(Tracer::new(detail, redactor))),
            sink: Some(Arc::new(sink)),
            ..self
        }
    }

    #[cfg(feature = "otlp")]
    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// Everything that was counted, as it is now.
    pub(crate) fn snapshot(&self) -> Vec<Series> {
        look_at_process(&self.registry);
        self.registry.snapshot()
    }

    /// Notes something about a call, and gives its tool. A call that is over and runs nothing is forgotten.
    fn follow(&self, call: &CallId, note: impl FnOnce(&mut Followed)) -> String {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(followed) = calls.get_mut(call) else {
            return "unknown".to_owned();
        };
        note(followed);
        let tool = followed.tool.clone();
        if followed.has_ended && followed.running == 0 {
            calls.remove(call);
        }
        tool
    }

    fn measure(&self, event: &Event<'_>) {
        let registry = &self.registry;
        match event {
            Event::Opened { took, .. } => registry.observe(Id::Opening, &[], seconds(*took)),
            Event::TurnEnd { duration, .. } => {
                registry.observe(Id::Turns, &[], seconds(*duration));
            }
            Event::Begin { call, tool, .. } => {
                registry.move_by(Id::CallsActive, 1);
                let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                if calls.len() < MOST_CALLS {
                    let followed = Followed {
                        tool: tool.clone(),
                        running: 0,
                        has_ended: false,
                    };
                    calls.insert(call.clone(), followed);
                }
            }
            Event::Judged {
                verdict,
                class,
                rule,
                took,
                ..
            } => {
                let verdict = label::verdict(*verdict);
                let class = class.map_or("none", |class| class.name());
                let rule = rule.as_deref().unwrap_or("none");
                registry.count(Id::Verdicts, &[verdict, class, rule], 1);
                if let Some(took) = took {
                    registry.observe(Id::Judging, &[verdict], seconds(*took));
                }
            }
            Event::Asked { .. } => registry.move_by(Id::ApprovalsPending, 1),
            Event::Answered {
                call,
                answer,
                waited,
            } => {
                registry.move_by(Id::ApprovalsPending, -1);
                let answer = label::answer(*answer);
                registry.count(Id::Approvals, &[&self.follow(call, |_| {}), answer], 1);
                registry.observe(Id::ApprovalWait, &[answer], seconds(*waited));
            }
            Event::Launched { call, fence, took } => {
                self.follow(call, |followed| followed.running += 1);
                registry.move_by(Id::CommandsRunning, 1);
                registry.observe(Id::Launch, &[fence], seconds(*took));
            }
            Event::Ran { call, run } => {
                let less = |followed: &mut Followed| {
                    followed.running = followed.running.saturating_sub(1);
                };
                self.measure_run(&self.follow(call, less), run);
            }
            Event::NotRun { mode, .. } => match mode {
                ScriptMode::Disabled => registry.count(Id::ScriptsDisabled, &[], 1),
                ScriptMode::DryRun => registry.count(Id::ScriptsDryRun, &[], 1),
                ScriptMode::Enabled => {}
            },
            Event::End {
                call,
                tool,
                duration,
                outcome,
                error,
                ..
            } => {
                registry.move_by(Id::CallsActive, -1);
                let mut lost = 0;
                self.follow(call, |followed| {
                    followed.has_ended = true;
                    // What lives on has ended well so far; what was given up runs no more.
                    if *outcome != Outcome::Ok {
                        lost = std::mem::take(&mut followed.running);
                    }
                });
                registry.move_by(
                    Id::CommandsRunning,
                    -i64::try_from(lost).unwrap_or_default(),
                );
                let outcome = label::outcome(*outcome);
                let error = error.as_deref().unwrap_or("none");
                registry.count(Id::Calls, &[tool, outcome, error], 1);
                registry.observe(Id::CallDuration, &[tool, outcome], seconds(*duration));
                if tool == "run_script" || tool == "run_code" {
                    registry.count(Id::Scripts, &[tool, outcome], 1);
                }
            }
            _ => {}
        }
    }

    fn measure_run(&self, tool: &str, run: &CommandRun) {
        let registry = &self.registry;
        let code = run
            .exit_code
            .map_or_else(|| "lost".to_owned(), |code| code.to_string());
        registry.move_by(Id::CommandsRunning, -1);
        registry.count(Id::Executions, &[tool, run.fence, &code], 1);
        registry.count(Id::CommandsEnded, &[label::ending(run.ending)], 1);
        registry.observe(Id::Duration, &[tool, run.fence], seconds(run.duration));
        for (stream, bytes) in [("stdout", run.stdout_bytes), ("stderr", run.stderr_bytes)] {
            registry.count(Id::CommandOutput, &[stream], bytes);
        }
        for kind in &run.denials {
            registry.count(Id::Denials, &[label::denial(*kind)], 1);
        }
        for hit in &run.limits_hit {
            registry.count(Id::LimitsHit, &[hit.setting], 1);
        }
        if run.ending.is_some() {
            registry.observe(Id::CommandCpu, &[tool], seconds(run.cpu));
            #[expect(clippy::cast_precision_loss, reason = "for a histogram")]
            registry.observe(Id::CommandMemory, &[tool], run.max_rss_bytes as f64);
        }
    }
}

impl Listener for Telemetry {
    fn hear(&self, event: &Event<'_>) {
        self.measure(event);
        if let (Some(tracer), Some(sink)) = (&self.tracer, &self.sink) {
            let finished = {
                let mut tracer = tracer.lock().unwrap_or_else(PoisonError::into_inner);
                tracer.hear(event)
            };
            for span in finished {
                sink(span);
            }
        }
    }
}

/// What this program itself takes, when somebody looks.
pub(crate) fn look_at_process(registry: &Registry) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = resident.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<i64>().ok());
    if let Some(kibibytes) = kibibytes {
        registry.set(Id::ProcessMemory, kibibytes.saturating_mul(1024));
    }
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}
