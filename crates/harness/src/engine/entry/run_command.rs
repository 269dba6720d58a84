//! Running a command: in the foreground, as a background task, or as a process that is typed into.

use std::sync::Arc;
use std::time::Duration;

use ringfence_jail::{Input, Io, TerminalSize};
use ringfence_policy::action::{Action, RunCommand};
use ringfence_policy::verdict::{Refusal, RefusalCode};
use ringfence_policy::{Permit, Verdict};
use tokio::time::Instant;

use crate::engine::account::Account;
use crate::engine::door::Passage;
use crate::engine::retry::{MOST_TRIES, Tries};
use crate::engine::{Audience, Call, Engine, Outcome, RunOptions, RunResult, subject};
use crate::error::CallError;
use crate::execution::Ending;
use crate::registry::{KeptCommand, Layout, Reserved, Since, TaskId, Until};

/// What a process is started with.
pub(crate) struct ProcessStart<'a> {
    /// Its id.
    pub(crate) reserved: Reserved<'a>,
    /// The terminal that it runs on; pipes if absent.
    pub(crate) terminal: Option<TerminalSize>,
    /// What the call waits for.
    pub(crate) until: &'a Until,
    /// For how long.
    pub(crate) patience: Duration,
}

/// A process that was started.
pub(crate) struct StartedProcess {
    pub(crate) kept: Arc<KeptCommand>,
    /// Why a refused one was not tried again.
    pub(crate) not_retried: Option<String>,
    /// How it was run again.
    pub(crate) retried: Option<String>,
}

impl Engine {
    /// Takes a command the whole way, to its end.
    pub async fn run_command(
        &self,
        call: &Call,
        command: RunCommand,
        options: RunOptions,
    ) -> Result<Outcome, CallError> {
        ended(self.run_or_move(call, command, options).await?)
    }

    /// Takes a command the whole way, to its end or into the background.
    pub async fn run_or_move(
        &self,
        call: &Call,
        command: RunCommand,
        options: RunOptions,
    ) -> Result<RunResult, CallError> {
        let action = Action::RunCommand(command);
        self.act(call, action.clone(), |permit, account| async move {
            let mut again = options.again();
            let mut done = self
                .execute(&account, permit, options, Audience::Listeners)
                .await?;
            let mut tries = Tries::default();
            for _ in 0..MOST_TRIES {
                let RunResult::Ended(outcome) = &mut done else {
                    return Ok(done);
                };
                let asks = tries.still_missing(&outcome.asks);
                // A refusal that the command could live with needs no second run.
                let failed = outcome.execution.exit_code() != 0;
                if !asks.needs_outside || !failed || outcome.execution.ending != Ending::Exited {
                    return Ok(done);
                }
                let Some(options) = again.take() else {
                    let why = "it was typed into and cannot be run again";
                    outcome.not_retried = Some(why.to_owned());
                    return Ok(done);
                };
                again = options.again();
                let (permit, next) = match self
                    .desk
                    .permit_retry(&account, action.clone(), asks.clone(), &tries)
                    .await?
                {
                    Ok(permitted) => permitted,
                    Err(refusal) => {
                        outcome.not_retried = Some(refusal.to_string());
                        return Ok(done);
                    }
                };
                let told = tries.run_again(&permit, &asks);
                self.desk.notice(call, told.clone());
                let executed = self
                    .execute(&next, permit, options, Audience::Listeners)
                    .await;
                next.conclude(&executed)?;
                done = executed?;
                if let RunResult::Ended(outcome) = &mut done {
                    outcome.retried = Some(told);
                }
            }
            Ok(done)
        })
        .await
    }

    /// Runs a command of the harness's own: recorded like any other, but no call of anybody's and
    /// nothing that a person is asked about.
    pub(crate) async fn run_quietly(
        &self,
        command: RunCommand,
        options: RunOptions,
    ) -> Result<Outcome, CallError> {
        let call = self.new_call();
        let action = Action::RunCommand(command);
        if let Verdict::Ask(_) = self.check(action.clone()).verdict {
            return Err(CallError::Refused(Refusal::new(
                RefusalCode::ApprovalNotPossible,
                "the harness asks nobody about commands of its own",
            )));
        }
        let run = |permit, account: Account| async move {
            self.execute(&account, permit, options, Audience::Nobody)
                .await
        };
        let passage = Passage::quietly(&self.desk, &call, &action);
        ended(self.judge_and_run(passage, action, run).await?)
    }

    /// Starts a command as the background task of this id, which is free. It is ended after the
    /// time-out, if it has one.
    pub(crate) async fn open_task(
        &self,
        call: &Call,
        command: RunCommand,
        id: TaskId,
        timeout: Option<Duration>,
    ) -> Result<(), CallError> {
        // Nobody is asked about one that there is no room for.
        self.registry.room_for_task()?;
        let action = Action::RunCommand(command);
        self.act(call, action, |permit, account| async move {
            let label = subject(permit.action());
            let io = Io::Pipes(Input::Null);
            let (running, books) = self.start(&account, permit, io, timeout).await?;
            self.keep_running(running, books, (id, label), timeout)
        })
        .await
    }

    /// Starts a command as an open process and waits for what the call wants of it; once more, with what the
    /// fence refused it, if whoever is asked agrees.
    pub(crate) async fn open_process(
        &self,
        call: &Call,
        command: RunCommand,
        start: ProcessStart<'_>,
    ) -> Result<StartedProcess, CallError> {
        let action = Action::RunCommand(command);
        self.act(call, action.clone(), |permit, account| async move {
            let ProcessStart {
                reserved,
                terminal,
                until,
                patience,
            } = start;
            let id = reserved.id().clone();
            let kept = self
                .start_process(&account, permit, reserved, terminal)
                .await?;
            wait(call, &kept, until, patience).await;
            let mut started = StartedProcess {
                kept,
                not_retried: None,
                retried: None,
            };
            let mut tries = Tries::default();
            for _ in 0..MOST_TRIES {
                let Some(end) = started.kept.end() else {
                    return Ok(started);
                };
                let asks = tries.still_missing(&end.findings.asks);
                let failed = end.exit_code != Some(0);
                if !asks.needs_outside || !failed || end.ending != Ending::Exited {
                    return Ok(started);
                }
                let permitted = self
                    .desk
                    .permit_retry(&account, action.clone(), asks.clone(), &tries)
                    .await?;
                let (permit, next) = match permitted {
                    Ok(permitted) => permitted,
                    Err(refusal) => {
                        started.not_retried = Some(refusal.to_string());
                        return Ok(started);
                    }
                };
                let told = tries.run_again(&permit, &asks);
                self.desk.notice(call, told.clone());
                started.retried = Some(told);
                self.registry.forget(&id, &end);
                let again = async {
                    let reserved = self.registry.reserve(Some(id.clone()))?;
                    self.start_process(&next, permit, reserved, terminal).await
                };
                let again = again.await;
                next.conclude(&again)?;
                started.kept = again?;
                wait(call, &started.kept, until, patience).await;
            }
            Ok(started)
        })
        .await
    }

    async fn start_process(
        &self,
        account: &Account,
        permit: Permit,
        reserved: Reserved<'_>,
        terminal: Option<TerminalSize>,
    ) -> Result<Arc<KeptCommand>, CallError> {
        let label = subject(permit.action());
        let io = match terminal {
            Some(size) => Io::Terminal(size),
            None => Io::Pipes(Input::Pipe),
        };
        let (running, books) = self.start(account, permit, io, None).await?;
        let kept = reserved.keep(self.keep(running, books, Layout::Together, None), label)?;
        account.goes_on();
        Ok(kept)
    }
}

/// Waits for a process that has just been started: what a person took to answer does not count.
async fn wait(call: &Call, kept: &KeptCommand, until: &Until, patience: Duration) {
    tokio::select! {
        () = kept.wait(until, Since::BEGINNING, Instant::now() + patience) => {}
        () = call.cancel.cancelled() => kept.kill().await,
    }
}

fn ended(done: RunResult) -> Result<Outcome, CallError> {
    match done {
        RunResult::Ended(outcome) => Ok(*outcome),
        RunResult::Moved { task, .. } => Err(CallError::Moved { task }),
    }
}
