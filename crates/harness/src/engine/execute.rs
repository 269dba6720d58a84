//! Running what is permitted, in the foreground. The intent is on record already; the outcome
//! follows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ringfence_jail::{Input, Io, Process};
use ringfence_policy::Permit;
use tokio::sync::mpsc;

use super::account::Account;
use super::{Call, Done, Ends, Engine, Heard, How, Outcome, Patience};
use crate::TaskId;
use crate::denial::Denial;
use crate::error::CallError;
use crate::event::Event;
use crate::execution::{Driven, Latch, OnTimeout, Outside, Running, Timing, Typed, drive};
use crate::output::{DeltaLimits, Deltas, SpillPlace, Stream, Transcript, TranscriptLimits};

/// How often a long command is told of.
const PROGRESS: Duration = Duration::from_secs(1);
/// How long a command has run when it is offered to be moved to the background.
const OFFER_AFTER: Duration = Duration::from_secs(2);

impl Engine {
    /// Runs what is permitted, to its end or into the background.
    pub(super) async fn execute(
        &self,
        account: &Account,
        permit: Permit,
        how: How,
        heard: Heard,
    ) -> Result<Done, CallError> {
        let books = self.books(account, &permit, how.timeout);
        let command = super::subject(permit.action());
        let mut execution = match self.launch_and_drive(account, permit, how, heard).await? {
            Driven::Ended(execution) => *execution,
            Driven::HandedOver(running) => {
                let so_far = Box::new(running.so_far());
                let task = TaskId::random();
                self.keep_running(*running, books, command, task.clone())?;
                return Ok(Done::Moved { task, so_far });
            }
        };
        let closed = books.close(&mut execution);
        closed.recorded?;
        Ok(Done::Ended(Box::new(Outcome {
            execution,
            denials: closed.findings.denials,
            limits_hit: closed.findings.limits_hit,
            sandbox: account.fence().unwrap_or("none"),
            not_retried: None,
            task: closed.task,
        })))
    }

    async fn launch_and_drive(
        &self,
        account: &Account,
        permit: Permit,
        how: How,
        heard: Heard,
    ) -> Result<Driven, CallError> {
        let (io, typed) = match how.ends {
            Ends::NoInput => (Io::Pipes(Input::Null), None),
            Ends::InheritedInput => (Io::Pipes(Input::Inherited), None),
            Ends::Terminal { size, typed } => (Io::Terminal(size), Some(typed)),
        };
        let call = account.call();
        let process = self.launch(account, permit, io).await?;
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
            return self.follow(call, running, timing, typed, |_, _| {}).await;
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
            driven = self.follow(call, running, timing, typed, take) => driven?,
            () = self.tell_progress(call, &lines, &bytes, movable) => unreachable!("it goes on"),
        };
        deltas.finish(|delta| self.desk.tell(&Event::delta(call, &delta)));
        Ok(driven)
    }

    /// Follows a command to its end, or into the background if there is room for it there.
    async fn follow(
        &self,
        call: &Call,
        running: Running,
        timing: Timing,
        typed: Option<mpsc::Receiver<Typed>>,
        mut take: impl FnMut(Stream, &[u8]),
    ) -> Result<Driven, CallError> {
        let outside = outside(call, &call.to_background, typed);
        let running = match drive(running, timing, outside, &mut take).await? {
            Driven::HandedOver(running) => *running,
            ended @ Driven::Ended(_) => return Ok(ended),
        };
        let Err(full) = self.registry.room_for_task() else {
            return Ok(Driven::HandedOver(Box::new(running)));
        };
        self.desk
            .notice(call, format!("the command stays in the foreground: {full}"));
        let timing = Timing {
            on_timeout: OnTimeout::Kill,
            ..timing
        };
        let nobody = Latch::new();
        let outside = self::outside(call, &nobody, None);
        Ok(drive(running, timing, outside, &mut take).await?)
    }

    /// Starts a permitted command, unless the call is cancelled first.
    pub(super) async fn launch(
        &self,
        account: &Account,
        permit: Permit,
        io: Io,
    ) -> Result<Process, CallError> {
        let call = account.call();
        let gate = self.network.gate(call, &permit);
        self.tell_mended(call);
        let process = tokio::select! {
            // A launch that is dropped half-way takes its command with it.
            process = self.jail.launch_through(permit, io, gate) => process?,
            () = call.cancel.cancelled() => return Err(CallError::Cancelled),
        };
        account.runs_in(process.holder().name());
        Ok(process)
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

fn outside<'a>(
    call: &'a Call,
    hand_over: &'a Latch,
    typed: Option<mpsc::Receiver<Typed>>,
) -> Outside<'a> {
    Outside {
        cancel: &call.cancel,
        hand_over,
        typed,
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
