//! Running a command: in the foreground, as a background task, or as a session that is typed into.

use std::sync::Arc;
use std::time::Duration;

use ringfence_jail::{Input, Io, TerminalSize};
use ringfence_policy::action::{Action, RunCommand};
use ringfence_policy::verdict::{Denial as Refusal, DenialCode};
use ringfence_policy::{Permit, Verdict};
use tokio::time::Instant;

use crate::denial::{Denial, DenialKind};
use crate::engine::account::Account;
use crate::engine::{Call, Done, Engine, Heard, How, Outcome, subject};
use crate::error::CallError;
use crate::execution::Ending;
use crate::registry::{Attended, Layout, Reserved, TaskId, Until};

/// What a session is started with.
pub(crate) struct SessionStart<'a> {
    /// Its id.
    pub(crate) reserved: Reserved<'a>,
    /// The terminal that it runs on; pipes if absent.
    pub(crate) terminal: Option<TerminalSize>,
    /// What the call waits for.
    pub(crate) until: &'a Until,
    /// For how long.
    pub(crate) patience: Duration,
}

/// A session that was started.
pub(crate) struct StartedSession {
    pub(crate) attended: Arc<Attended>,
    /// Why a refused one was not tried again.
    pub(crate) not_retried: Option<String>,
}

impl Engine {
    /// Takes a command the whole way, to its end.
    pub async fn run_command(
        &self,
        call: &Call,
        command: RunCommand,
        how: How,
    ) -> Result<Outcome, CallError> {
        ended(self.run_or_move(call, command, how).await?)
    }

    /// Takes a command the whole way, to its end or into the background.
    pub async fn run_or_move(
        &self,
        call: &Call,
        command: RunCommand,
        how: How,
    ) -> Result<Done, CallError> {
        let action = Action::RunCommand(command);
        self.act(call, action.clone(), |permit, account| async move {
            let again = how.again();
            let mut done = self.execute(&account, permit, how, Heard::Yes).await?;
            let Done::Ended(outcome) = &mut done else {
                return Ok(done);
            };
            let denials = worth_a_retry(&outcome.denials);
            // A refusal that the command could live with needs no second run.
            let failed = outcome.execution.exit_code() != 0;
            if denials.is_empty() || !failed || outcome.execution.ending != Ending::Exited {
                return Ok(done);
            }
            let Some(how) = again else {
                outcome.not_retried = Some("it was typed into and cannot be run again".to_owned());
                return Ok(done);
            };
            match self.desk.permit_retry(&account, action, &denials).await? {
                Ok((permit, second)) => {
                    let again = self.execute(&second, permit, how, Heard::Yes).await;
                    second.conclude(&again)?;
                    again
                }
                Err(refusal) => {
                    outcome.not_retried = Some(refusal.to_string());
                    Ok(done)
                }
            }
        })
        .await
    }

    /// Runs a command of the harness's own: recorded like any other, but no call of anybody's and
    /// nothing that a person is asked about.
    pub(crate) async fn run_quietly(
        &self,
        command: RunCommand,
        how: How,
    ) -> Result<Outcome, CallError> {
        let call = self.new_call();
        let action = Action::RunCommand(command);
        if let Verdict::Ask(_) = self.check(action.clone()).verdict {
            return Err(CallError::Denied(Refusal {
                code: DenialCode::ApprovalNotPossible,
                reason: "the harness asks nobody about commands of its own".to_owned(),
                hint: None,
            }));
        }
        let run = |permit, account: Account| async move {
            self.execute(&account, permit, how, Heard::No).await
        };
        ended(self.act_quietly(&call, action, run).await?)
    }

    /// Starts a command as the background task of this id, which is free.
    pub(crate) async fn open_task(
        &self,
        call: &Call,
        command: RunCommand,
        id: TaskId,
    ) -> Result<(), CallError> {
        // Nobody is asked about one that there is no room for.
        self.registry.room_for_task()?;
        let action = Action::RunCommand(command);
        self.act(call, action, |permit, account| async move {
            let label = subject(permit.action());
            let io = Io::Pipes(Input::Null);
            let (running, books) = self.start(&account, permit, io).await?;
            self.keep_running(running, books, label, id)
        })
        .await
    }

    /// Starts a command as a session and waits for what the call wants of it; once more, outside the
    /// fence, if that refused it something and whoever is asked agrees.
    pub(crate) async fn open_session(
        &self,
        call: &Call,
        command: RunCommand,
        start: SessionStart<'_>,
    ) -> Result<StartedSession, CallError> {
        let action = Action::RunCommand(command);
        self.act(call, action.clone(), |permit, account| async move {
            let SessionStart {
                reserved,
                terminal,
                until,
                patience,
            } = start;
            let id = reserved.id().clone();
            let attended = self
                .start_session(&account, permit, reserved, terminal)
                .await?;
            wait(call, &attended, until, patience).await;
            let mut started = StartedSession {
                attended,
                not_retried: None,
            };
            let Some(end) = started.attended.end() else {
                return Ok(started);
            };
            let denials = worth_a_retry(&end.findings.denials);
            if denials.is_empty() || end.ending != Ending::Exited {
                return Ok(started);
            }
            match self.desk.permit_retry(&account, action, &denials).await? {
                Err(refusal) => started.not_retried = Some(refusal.to_string()),
                Ok((permit, second)) => {
                    self.registry.forget(&id, &end);
                    let again = async {
                        let reserved = self.registry.reserve(Some(id))?;
                        self.start_session(&second, permit, reserved, terminal)
                            .await
                    };
                    let again = again.await;
                    second.conclude(&again)?;
                    started.attended = again?;
                    wait(call, &started.attended, until, patience).await;
                }
            }
            Ok(started)
        })
        .await
    }

    async fn start_session(
        &self,
        account: &Account,
        permit: Permit,
        reserved: Reserved<'_>,
        terminal: Option<TerminalSize>,
    ) -> Result<Arc<Attended>, CallError> {
        let label = subject(permit.action());
        let io = match terminal {
            Some(size) => Io::Terminal(size),
            None => Io::Pipes(Input::Pipe),
        };
        let (running, books) = self.start(account, permit, io).await?;
        let attended = reserved.keep(self.attend(running, books, Layout::Together), label)?;
        account.goes_on();
        Ok(attended)
    }
}

/// Waits for a session that has just been started: what a person took to answer does not count.
async fn wait(call: &Call, attended: &Attended, until: &Until, patience: Duration) {
    tokio::select! {
        () = attended.wait(until, Instant::now() + patience) => {}
        () = call.cancel.cancelled() => attended.stop().await,
    }
}

fn ended(done: Done) -> Result<Outcome, CallError> {
    match done {
        Done::Ended(outcome) => Ok(*outcome),
        Done::Moved { task, .. } => Err(CallError::Moved { task }),
    }
}

/// The refusals that are a reason to ask for another try: what was decided about a host is not
/// asked about again by another name, and what was put back was done already.
fn worth_a_retry(denials: &[Denial]) -> Vec<Denial> {
    let not_over =
        |denial: &&Denial| !matches!(denial.kind, DenialKind::Host | DenialKind::GitSetup);
    denials.iter().filter(not_over).cloned().collect()
}
