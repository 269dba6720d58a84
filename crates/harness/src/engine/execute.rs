//! Running what is permitted, in the foreground or to live on between calls. The intent is on record
//! already; the outcome follows.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ringfence_jail::{Input, Io, Process};
use ringfence_policy::Permit;
use tokio::sync::mpsc;

use super::account::Account;
use super::aftermath::Books;
use super::{Audience, Call, Engine, Outcome, OutputSink, Patience, RunOptions, RunResult, Stdio};
use crate::TaskId;
use crate::denial::Denial;
use crate::error::CallError;
use crate::event::Event;
use crate::execution::{
    DriveResult, Latch, OnTimeout, Outside, Running, TerminalInput, Timing, drive,
};
use crate::output::{DeltaLimits, Deltas, Stream, Transcript, TranscriptLimits};
use crate::registry::{self, Charge, KeptCommand, Layout};

/// How often a long command is told of.
const PROGRESS: Duration = Duration::from_secs(1);
/// How long a command has run when it is offered to be moved to the background.
const OFFER_AFTER: Duration = Duration::from_secs(2);

/// Output of a command that lives on which is looked at for what the fence refused; the rest is in
/// what calls fetch.
const LOOKED_AT: usize = 64 * 1024;

/// How a command is driven.
struct Way {
    timing: Timing,
    /// What is typed to it.
    typed: Option<mpsc::Receiver<TerminalInput>>,
    /// Whether it can be moved to the background.
    movable: bool,
    output_sink: Option<OutputSink>,
    audience: Audience,
}

impl Engine {
    /// Runs what is permitted, to its end or into the background.
    pub(super) async fn execute(
        &self,
        account: &Account,
        permit: Permit,
        options: RunOptions,
        audience: Audience,
    ) -> Result<RunResult, CallError> {
        let command = super::subject(permit.action());
        let buffer = self.buffer_bytes();
        let (io, typed) = match options.stdio {
            Stdio::NoInput => (Io::Pipes(Input::Null), None),
            Stdio::InheritedInput => (Io::Pipes(Input::Inherited), None),
            Stdio::Terminal { size, typed } => (Io::Terminal(size), Some(typed)),
        };
        let way = Way {
            timing: Timing {
                timeout: options.timeout,
                silence: options.silence,
                drain: self.config.output.drain,
                on_timeout: match options.patience {
                    Patience::Ends | Patience::MayBeMoved => OnTimeout::Kill,
                    Patience::Moves => OnTimeout::HandOver,
                },
            },
            typed,
            movable: options.patience != Patience::Ends,
            output_sink: options.output_sink,
            audience,
        };
        let (running, books) = self
            .start_with(account, permit, io, options.timeout, buffer)
            .await?;
        let mut execution = match self.drive(account.call(), running, way).await? {
            DriveResult::Ended(execution) => *execution,
            DriveResult::HandedOver(running) => {
                let so_far = Box::new(running.so_far());
                let task = TaskId::random();
                // Its time was up, or nobody wants to wait: it has no other limit.
                self.keep_running(*running, books, (task.clone(), command), None)?;
                return Ok(RunResult::Moved { task, so_far });
            }
        };
        let closed = books.close(&mut execution);
        closed.recorded?;
        Ok(RunResult::Ended(Box::new(Outcome {
            execution,
            denials: closed.findings.denials,
            limits_hit: closed.findings.limits_hit,
            sandbox: account.fence().unwrap_or("none"),
            not_retried: None,
            retried: None,
            to_stop: closed.findings.to_stop,
            code_meaning: closed.findings.code_meaning,
            asks: closed.findings.asks,
            task: closed.task,
        })))
    }

    /// Starts what is permitted and is to live on.
    pub(super) async fn start(
        &self,
        account: &Account,
        permit: Permit,
        io: Io,
        timeout: Option<Duration>,
    ) -> Result<(Running, Books), CallError> {
        let buffer = LOOKED_AT.min(self.buffer_bytes());
        self.start_with(account, permit, io, timeout, buffer).await
    }

    /// Starts what is permitted, with a buffer of this size for what it prints, and opens its books.
    async fn start_with(
        &self,
        account: &Account,
        permit: Permit,
        io: Io,
        timeout: Option<Duration>,
        buffer_bytes: usize,
    ) -> Result<(Running, Books), CallError> {
        let books = self.books(account, &permit, timeout);
        let process = Box::pin(self.launch(account, permit, io)).await?;
        let limits = TranscriptLimits {
            buffer_bytes,
            spill_after: self.max_output_chars(),
            spill: self.spill_options(),
        };
        let call = account.call();
        let transcript = Transcript::new(call.id.0.clone(), limits);
        let running = Running::new(process, transcript, call.clock.clone())?;
        Ok((running, books))
    }

    /// Keeps a running command as a background task, if there is room for it. It is ended after the
    /// time-out, if it has one.
    pub(super) fn keep_running(
        &self,
        running: Running,
        books: Books,
        (id, command): (TaskId, String),
        timeout: Option<Duration>,
    ) -> Result<(), CallError> {
        let account = books.account.clone();
        let kept = self.keep(running, books, Layout::Apart, timeout);
        self.registry.add_task(id, kept, command)?;
        account.goes_on();
        Ok(())
    }

    /// Keeps a command that lives on.
    pub(super) fn keep(
        &self,
        running: Running,
        books: Books,
        layout: Layout,
        timeout: Option<Duration>,
    ) -> KeptCommand {
        KeptCommand::start(
            Charge::Command {
                running: Box::new(running),
                timing: registry::Timing {
                    drain: self.config.output.drain,
                    timeout,
                },
                epilogue: books.epilogue(),
            },
            layout,
            self.buffer_bytes(),
        )
    }

    /// Drives a command to its end, or into the background, and tells of it on the way.
    async fn drive(
        &self,
        call: &Call,
        running: Running,
        way: Way,
    ) -> Result<DriveResult, CallError> {
        let Way { timing, typed, .. } = way;
        if way.audience == Audience::Nobody {
            return self.follow(call, running, timing, typed, |_, _| {}).await;
        }
        let lines = AtomicU64::new(0);
        let bytes = AtomicU64::new(0);
        let mut deltas = Deltas::new(self.delta_limits());
        let take = |stream: Stream, piece: &[u8]| {
            bytes.fetch_add(piece.len() as u64, Ordering::Relaxed);
            lines.fetch_add(newlines(piece), Ordering::Relaxed);
            if let Some(output_sink) = &way.output_sink {
                output_sink(stream, piece);
            }
            deltas.push(stream, piece, |delta| {
                self.desk.tell(&Event::delta(call, &delta));
            });
        };
        let driven = tokio::select! {
            driven = self.follow(call, running, timing, typed, take) => driven?,
            () = self.tell_progress(call, &lines, &bytes, way.movable) => unreachable!("it goes on"),
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
        typed: Option<mpsc::Receiver<TerminalInput>>,
        mut take: impl FnMut(Stream, &[u8]),
    ) -> Result<DriveResult, CallError> {
        let outside = outside(call, &call.to_background, typed);
        let running = match drive(running, timing, outside, &mut take).await? {
            DriveResult::HandedOver(running) => *running,
            ended @ DriveResult::Ended(_) => return Ok(ended),
        };
        let Err(full) = self.registry.room_for_task() else {
            return Ok(DriveResult::HandedOver(Box::new(running)));
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
    async fn launch(
        &self,
        account: &Account,
        permit: Permit,
        io: Io,
    ) -> Result<Process, CallError> {
        let call = account.call();
        if let Some(refusal) = self.desk.leads_elsewhere(permit.confinement()) {
            return Err(CallError::Refused(refusal));
        }
        let gate = self.network.gate(call, &permit);
        self.tell_mended(call);
        account.tell(|call| Event::Launching { call });
        let launching = Instant::now();
        let process = tokio::select! {
            // A launch that is dropped half-way takes its command with it.
            process = self.jail.launch_through(permit, io, gate) => process?,
            () = call.cancel.cancelled() => return Err(CallError::Cancelled),
        };
        let fence = process.holder().name();
        account.runs_in(fence);
        account.tell(|call| Event::Launched {
            call,
            fence,
            took: launching.elapsed(),
        });
        Ok(process)
    }

    /// Tells what was put back of git's set-up once the command that had changed it had ended.
    fn tell_mended(&self, call: &Call) {
        for mended in self.jail.mended_since() {
            let line = Denial::of_repair(&mended).line();
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
    typed: Option<mpsc::Receiver<TerminalInput>>,
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
