//! Running what is permitted, in the foreground. The intent is on record already; the outcome
//! follows.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ringfence_jail::{Input, Io, Process};
use ringfence_policy::Permit;
use ringfence_policy::action::Action;
use ringfence_policy::permissions::{Limits, SandboxPolicy};
use ringfence_policy::permit::Confinement;
use tokio::sync::mpsc;

use super::record::sandbox_name;
use super::{Call, Done, Ends, Engine, Heard, How, Outcome, Patience};
use crate::TaskId;
use crate::denial::{self, Denial, Scene};
use crate::error::CallError;
use crate::event::Event;
use crate::execution::{Driven, Execution, OnTimeout, Outside, Running, Timing, Typed, drive};
use crate::limit::{self, LimitHit};
use crate::network::Refusals;
use crate::output::{
    DeltaLimits, Deltas, Excerpt, SpillPlace, Stream, Transcript, TranscriptLimits,
};

/// How often a long command is told of.
const PROGRESS: Duration = Duration::from_secs(1);
/// How long a command has run when it is offered to be moved to the background.
const OFFER_AFTER: Duration = Duration::from_secs(2);

/// What a command's end is judged by: where it ran, and within which limits.
#[derive(Debug, Clone)]
pub(super) struct Whereabouts {
    pub(super) sandbox: &'static str,
    fence: Option<SandboxPolicy>,
    limits: Limits,
    timeout: Option<Duration>,
    cwd: PathBuf,
    /// What the proxy refused it.
    refusals: Option<Refusals>,
}

/// What is found out about a command once it has ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    /// What the fence refused it.
    pub(crate) denials: Vec<Denial>,
    /// The limits that it hit.
    pub(crate) limits_hit: Vec<LimitHit>,
}

impl Whereabouts {
    pub(super) fn of(permit: &Permit, timeout: Option<Duration>, otherwise: &Path) -> Self {
        Self {
            sandbox: sandbox_name(permit.confinement()),
            fence: match permit.confinement() {
                Confinement::Fenced { sandbox, .. } => Some(sandbox.clone()),
                Confinement::Unfenced { .. } => None,
            },
            limits: permit.confinement().limits().clone(),
            timeout,
            refusals: None,
            cwd: match permit.action() {
                Action::RunCommand(command) => command.cwd.clone(),
                _ => otherwise.to_path_buf(),
            },
        }
    }

    /// The same, with what the proxy will have refused.
    pub(super) fn refused_through(self, refusals: Refusals) -> Self {
        Self {
            refusals: Some(refusals),
            ..self
        }
    }

    /// What there is to say about a command that has ended.
    pub(super) fn findings(&self, execution: &Execution) -> Findings {
        let text = Excerpt::of(&execution.output.both, usize::MAX).text;
        let refusals = self.refusals.as_ref();
        let mut denials = refusals.map_or_else(Vec::new, Refusals::take);
        denials.extend(execution.exit.mended.iter().map(Denial::of_mended));
        denials.extend(self.fence.as_ref().map_or_else(Vec::new, |fence| {
            let scene = Scene {
                sandbox: fence,
                cwd: &self.cwd,
                exit_code: execution.exit_code(),
            };
            denial::find(&scene, &execution.exit.refused, &text)
        }));
        Findings {
            denials,
            limits_hit: limit::find(&self.limits, self.timeout, execution, &text),
        }
    }
}

impl Engine {
    /// Runs what is permitted, to its end or into the background.
    pub(super) async fn execute(
        &self,
        call: &Call,
        permit: Permit,
        how: How,
        heard: Heard,
    ) -> Result<Done, CallError> {
        let whereabouts = Whereabouts::of(&permit, how.timeout, &self.ground.cwd)
            .refused_through(self.network.refusals_of(call));
        let command = super::subject(permit.action());
        let started = Instant::now();
        let driven = match self.launch_and_drive(call, permit, how, heard).await {
            Ok(driven) => driven,
            Err(error) => {
                self.desk
                    .record_outcome(call, Err((error.code(), started.elapsed())))?;
                return Err(error);
            }
        };
        let mut execution = match driven {
            Driven::Ended(execution) => *execution,
            Driven::HandedOver(running) => {
                let so_far = Box::new(running.so_far());
                let task = TaskId::random();
                self.keep_running(call, *running, whereabouts, command, task.clone());
                return Ok(Done::Moved { task, so_far });
            }
        };
        let Findings {
            denials,
            limits_hit,
        } = whereabouts.findings(&execution);
        self.desk
            .record_outcome(call, Ok((&execution, !denials.is_empty())))?;
        let task = execution
            .remaining
            .take()
            .and_then(|remaining| self.keep_leftovers(call, remaining, &execution.exit));
        Ok(Done::Ended(Box::new(Outcome {
            execution,
            denials,
            limits_hit,
            sandbox: whereabouts.sandbox,
            not_retried: None,
            task,
        })))
    }

    async fn launch_and_drive(
        &self,
        call: &Call,
        permit: Permit,
        how: How,
        heard: Heard,
    ) -> Result<Driven, CallError> {
        let (io, typed) = match how.ends {
            Ends::NoInput => (Io::Pipes(Input::Null), None),
            Ends::InheritedInput => (Io::Pipes(Input::Inherited), None),
            Ends::Terminal { size, typed } => (Io::Terminal(size), Some(typed)),
        };
        let process = self.launch(call, permit, io).await?;
        let transcript = Transcript::new(call.id.0.clone(), self.transcript_limits());
        let running = Running::new(process, transcript, call.clock.clone())?;
        let timing = Timing {
            timeout: how.timeout,
            silence: how.silence,
            drain: self.config.output.drain,
            on_timeout: match how.patience {
                Patience::Ends | Patience::MayBeMoved => OnTimeout::Kill,
                Patience::Moves => OnTimeout::HandOver,
            },
        };
        let movable = how.patience != Patience::Ends;
        if heard == Heard::No {
            let outside = outside(call, typed);
            return Ok(drive(running, timing, outside, |_, _| {}).await?);
        }
        let lines = AtomicU64::new(0);
        let bytes = AtomicU64::new(0);
        let mut deltas = Deltas::new(self.delta_limits());
        let take = |stream: Stream, piece: &[u8]| {
            bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            lines.fetch_add(newlines(piece), Ordering::Relaxed);
            if let Some(tap) = &how.tap {
                tap(stream, piece);
            }
            deltas.push(stream, piece, |delta| {
                self.desk.tell(&Event::delta(call, &delta));
            });
        };
        let driven = tokio::select! {
            driven = drive(running, timing, outside(call, typed), take) => driven?,
            () = self.tell_progress(call, &lines, &bytes, movable) => unreachable!("it goes on"),
        };
        deltas.finish(|delta| self.desk.tell(&Event::delta(call, &delta)));
        Ok(driven)
    }

    /// Starts a permitted command, unless the call is cancelled first.
    pub(super) async fn launch(
        &self,
        call: &Call,
        permit: Permit,
        io: Io,
    ) -> Result<Process, CallError> {
        let gate = self.network.gate(call, &permit);
        self.tell_mended(call);
        tokio::select! {
            // A launch that is dropped half-way takes its command with it.
            process = self.jail.launch_through(permit, io, gate) => Ok(process?),
            () = call.cancel.cancelled() => Err(CallError::Cancelled),
        }
    }

    /// Tells what was put back of git's set-up once the command that had changed it had ended.
    fn tell_mended(&self, call: &Call) {
        for mended in self.jail.mended_since() {
            let line = Denial::of_mended(&mended).line();
            self.desk
                .notice(call, format!("an earlier command changed {line}"));
        }
    }

    /// Tells of a long command once a second, and once that it can be moved to the background.
    async fn tell_progress(
        &self,
        call: &Call,
        lines: &AtomicU64,
        bytes: &AtomicU64,
        movable: bool,
    ) {
        let started = tokio::time::Instant::now();
        let mut ticks = tokio::time::interval_at(started + PROGRESS, PROGRESS);
        let mut offered = !movable;
        loop {
            ticks.tick().await;
            self.desk.tell(&Event::Progress {
                call: call.id.clone(),
                elapsed: started.elapsed(),
                lines: lines.load(Ordering::Relaxed),
                bytes: bytes.load(Ordering::Relaxed),
            });
            if !offered && started.elapsed() >= OFFER_AFTER {
                offered = true;
                self.desk.tell(&Event::CanMove {
                    call: call.id.clone(),
                    to_background: call.to_background.clone(),
                });
            }
        }
    }

    pub(super) fn transcript_limits(&self) -> TranscriptLimits {
        TranscriptLimits {
            buffer_bytes: self.buffer_bytes(),
            spill_after: self.max_output_chars(),
            spill: self.scratch.as_ref().map(|folder| SpillPlace {
                folder: folder.clone(),
                cap: self.config.output.spill_cap_bytes,
            }),
        }
    }

    pub(super) fn buffer_bytes(&self) -> usize {
        usize::try_from(self.config.output.buffer_bytes).unwrap_or(usize::MAX)
    }

    fn delta_limits(&self) -> DeltaLimits {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        DeltaLimits {
            piece_bytes: count(self.config.output.delta_bytes),
            pieces: count(self.config.output.max_deltas),
        }
    }
}

fn outside(call: &Call, typed: Option<mpsc::Receiver<Typed>>) -> Outside<'_> {
    Outside {
        cancel: &call.cancel,
        hand_over: &call.to_background,
        typed,
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
