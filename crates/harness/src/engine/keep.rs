//! Commands that live on between calls: started to stay, or kept when their call is over.

use std::sync::{Arc, Weak};

use ringfence_jail::{Exit, Input, Io, TerminalSize};
use ringfence_policy::Permit;
use ringfence_policy::action::{Action, RunCommand};

use super::announce::Announced;
use super::execute::Whereabouts;
use super::{Call, Engine};
use crate::error::CallError;
use crate::event::Event;
use crate::execution::{Ending, Execution, Remaining, Running};
use crate::output::{Transcript, TranscriptLimits};
use crate::registry::{
    Attended, Charge, End, Epilogue, Layout, ProcessId, Registry, Reserved, TaskId,
};

/// Output that is looked at for what the fence refused; the rest is in what calls fetch.
const LOOKED_AT: usize = 64 * 1024;

/// What came of trying a session again.
#[derive(Debug)]
pub(crate) enum Again {
    /// There was no reason to: the fence refused it nothing, or it still runs.
    NotRefused,
    /// It may not be, for this reason.
    No(String),
    /// It runs, outside the fence.
    Started(Arc<Attended>),
}

impl Engine {
    /// Starts a command as a session, on a terminal of this size or on pipes. What a call tells
    /// of itself is its own affair.
    pub(crate) async fn open_session(
        &self,
        call: &Call,
        command: RunCommand,
        reserved: Reserved<'_>,
        terminal: Option<TerminalSize>,
    ) -> Result<Arc<Attended>, CallError> {
        let permit = self.desk.permit(call, Action::RunCommand(command)).await?;
        self.start_session(call, permit, reserved, terminal).await
    }

    /// Starts a command as the background task of this id, which is free.
    pub(crate) async fn open_task(
        &self,
        call: &Call,
        command: RunCommand,
        id: TaskId,
    ) -> Result<(), CallError> {
        self.registry.room_for_task()?;
        let label = command.line.display();
        let permit = self.desk.permit(call, Action::RunCommand(command)).await?;
        let (running, whereabouts) = self.start(call, permit, Io::Pipes(Input::Null)).await?;
        self.keep_running(call, running, whereabouts, label, id);
        Ok(())
    }

    /// Starts a session once more, outside the fence, if that refused it something and whoever is
    /// asked agrees; says why not otherwise.
    pub(crate) async fn open_session_again(
        &self,
        call: &Call,
        command: RunCommand,
        id: &ProcessId,
        refused: &Attended,
        terminal: Option<TerminalSize>,
    ) -> Result<Again, CallError> {
        let Some(end) = refused.end() else {
            return Ok(Again::NotRefused);
        };
        let denials = super::worth_a_retry(&end.findings.denials);
        if denials.is_empty() || end.ending != Ending::Exited {
            return Ok(Again::NotRefused);
        }
        let action = Action::RunCommand(command);
        match self.desk.permit_retry(call, action, &denials).await? {
            Err(refusal) => Ok(Again::No(refusal.to_string())),
            Ok(permit) => {
                self.registry.forget(id, &end);
                let reserved = self.registry.reserve(Some(id.clone()))?;
                let attended = self.start_session(call, permit, reserved, terminal).await?;
                Ok(Again::Started(attended))
            }
        }
    }

    async fn start_session(
        &self,
        call: &Call,
        permit: Permit,
        reserved: Reserved<'_>,
        terminal: Option<TerminalSize>,
    ) -> Result<Arc<Attended>, CallError> {
        let label = super::subject(permit.action());
        let io = match terminal {
            Some(size) => Io::Terminal(size),
            None => Io::Pipes(Input::Pipe),
        };
        let (running, whereabouts) = self.start(call, permit, io).await?;
        let attended = self.attend(call, running, Layout::Together, whereabouts);
        reserved.keep(attended, label)
    }

    async fn start(
        &self,
        call: &Call,
        permit: Permit,
        io: Io,
    ) -> Result<(Running, Whereabouts), CallError> {
        let whereabouts = Whereabouts::of(&permit, None, &self.ground.cwd)
            .refused_through(self.network.refusals_of(call));
        let started = std::time::Instant::now();
        let process = match self.launch(call, permit, io).await {
            Ok(process) => process,
            Err(error) => {
                let failed = Err((error.code(), started.elapsed()));
                self.desk.record_outcome(call, failed)?;
                return Err(error);
            }
        };
        let limits = TranscriptLimits {
            buffer_bytes: LOOKED_AT.min(self.buffer_bytes()),
            ..self.transcript_limits()
        };
        let transcript = Transcript::new(call.id.0.clone(), limits);
        let running = Running::new(process, transcript, call.clock.clone())?;
        Ok((running, whereabouts))
    }

    /// Tells the beginning of a call that is about a kept command.
    pub(crate) fn announce<'a>(&'a self, call: &'a Call, command: &RunCommand) -> Announced<'a> {
        Announced::begin(&self.desk, call, command)
    }

    /// Keeps a running command as a background task.
    pub(super) fn keep_running(
        &self,
        call: &Call,
        running: Running,
        whereabouts: Whereabouts,
        command: String,
        id: TaskId,
    ) {
        let attended = self.attend(call, running, Layout::Apart, whereabouts);
        self.registry.add_task(id, attended, command);
    }

    /// Keeps what a command left running as a background task. Where there is no room for one, it
    /// is ended, and that is told.
    pub(super) fn keep_leftovers(
        &self,
        call: &Call,
        remaining: Remaining,
        exit: &Exit,
    ) -> Option<TaskId> {
        match keep_leftovers(&self.registry, remaining, exit, self.buffer_bytes()) {
            Ok(task) => Some(task),
            Err(error) => {
                self.desk.notice(
                    call,
                    format!("what the command left running was ended: {error}"),
                );
                None
            }
        }
    }

    fn attend(
        &self,
        call: &Call,
        running: Running,
        layout: Layout,
        whereabouts: Whereabouts,
    ) -> Attended {
        Attended::start(
            Charge::Command {
                running: Box::new(running),
                drain: self.config.output.drain,
                epilogue: self.epilogue(call, whereabouts),
            },
            layout,
            self.buffer_bytes(),
        )
    }

    /// What is done once a kept command has ended.
    fn epilogue(&self, call: &Call, whereabouts: Whereabouts) -> Epilogue {
        let desk = Arc::clone(&self.desk);
        let registry: Weak<Registry> = Arc::downgrade(&self.registry);
        let call = call.clone();
        let room = self.buffer_bytes();
        Box::new(move |mut execution: Execution| {
            let findings = whereabouts.findings(&execution);
            // Nobody waits for this; a log that cannot be written refuses the next call.
            let _ = desk.record_outcome(&call, Ok((&execution, !findings.denials.is_empty())));
            let task = match (execution.remaining.take(), registry.upgrade()) {
                (Some(remaining), Some(registry)) => {
                    keep_leftovers(&registry, remaining, &execution.exit, room).ok()
                }
                _ => None,
            };
            desk.tell(&Event::Ended {
                call: call.id.clone(),
                exit_code: execution.exit_code(),
            });
            End {
                ending: execution.ending,
                exit_code: Some(execution.exit_code()),
                duration: execution.duration,
                findings,
                file: execution.output.file,
                left_running: execution.exit.left_running,
                task,
            }
        })
    }
}

fn keep_leftovers(
    registry: &Registry,
    remaining: Remaining,
    exit: &Exit,
    room: usize,
) -> Result<TaskId, CallError> {
    registry.room_for_task()?;
    let id = TaskId::random();
    let names: Vec<_> = exit
        .left_running
        .iter()
        .map(|left| left.command.as_str())
        .collect();
    let attended = Attended::start(Charge::Leftovers(Box::new(remaining)), Layout::Apart, room);
    registry.add_task(id.clone(), attended, names.join("; "));
    Ok(id)
}
