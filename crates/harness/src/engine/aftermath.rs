//! The aftermath of a run: what is found out about it once it has ended, its outcome on record, and what
//! it left running kept. The same for the foreground and the background.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use ringfence_jail::Exit;
use ringfence_policy::Permit;
use ringfence_policy::action::Action;
use ringfence_policy::permissions::{Limits, SandboxPolicy};
use ringfence_policy::permit::Confinement;

use super::Engine;
use super::account::{Account, End};
use super::desk::Desk;
use crate::audit::Outcome;
use crate::denial::{self, Denial, Scene};
use crate::error::CallError;
use crate::execution::{Execution, Remaining};
use crate::limit::{self, LimitHit};
use crate::network::Refusals;
use crate::output::Excerpt;
use crate::registry::{Attended, Charge, Layout, Registry, TaskId};

/// What is found out about a command once it has ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    /// What the fence refused it.
    pub(crate) denials: Vec<Denial>,
    /// The limits that it hit.
    pub(crate) limits_hit: Vec<LimitHit>,
}

/// What a command's end is judged by: where it ran, and within which limits.
#[derive(Debug, Clone)]
struct Whereabouts {
    fence: Option<SandboxPolicy>,
    limits: Limits,
    timeout: Option<Duration>,
    cwd: PathBuf,
    /// What the proxy refused it.
    refusals: Refusals,
}

/// The books of a run, to be closed when it has ended.
pub(super) struct Books {
    pub(super) account: Account,
    desk: Arc<Desk>,
    registry: Weak<Registry>,
    whereabouts: Whereabouts,
    /// How much of what leftovers print is kept.
    room: usize,
}

/// What the books say at the end.
pub(super) struct Closed {
    pub(super) findings: Findings,
    /// The task that keeps what was left running.
    pub(super) task: Option<TaskId>,
    /// Whether the outcome is on record.
    pub(super) recorded: Result<(), CallError>,
}

impl Engine {
    /// Opens the books of a run.
    pub(super) fn books(
        &self,
        account: &Account,
        permit: &Permit,
        timeout: Option<Duration>,
    ) -> Books {
        let refusals = self.network.refusals_of(account.call());
        Books {
            account: account.clone(),
            desk: Arc::clone(&self.desk),
            registry: Arc::downgrade(&self.registry),
            whereabouts: Whereabouts::of(permit, timeout, &self.ground.cwd, refusals),
            room: self.buffer_bytes(),
        }
    }
}

impl Books {
    /// Closes them.
    pub(super) fn close(&self, execution: &mut Execution) -> Closed {
        let findings = self.whereabouts.findings(execution);
        let end = End::of_execution(execution, &findings);
        let recorded = self.account.close(&end);
        let task = match (execution.remaining.take(), self.registry.upgrade()) {
            (Some(remaining), Some(registry)) => {
                self.keep_leftovers(&registry, remaining, &execution.exit)
            }
            _ => None,
        };
        Closed {
            findings,
            task,
            recorded,
        }
    }

    /// Closes them for a run that was lost with its warden.
    pub(super) fn lost(&self) {
        let end = End::because(Outcome::Failed, "warden_gone");
        // Nobody waits for this; a log that cannot be written refuses the next call.
        let _ = self.account.close(&end);
    }

    /// Keeps what a command left running as a background task. Where there is no room for one, it
    /// is ended, and that is told.
    fn keep_leftovers(
        &self,
        registry: &Registry,
        remaining: Remaining,
        exit: &Exit,
    ) -> Option<TaskId> {
        let id = TaskId::random();
        let names: Vec<_> = exit
            .left_running
            .iter()
            .map(|left| left.command.as_str())
            .collect();
        let leftovers = Charge::Leftovers(Box::new(remaining));
        let attended = Attended::start(leftovers, Layout::Apart, self.room);
        match registry.add_task(id.clone(), attended, names.join("; ")) {
            Ok(()) => Some(id),
            Err(error) => {
                let text = format!("what the command left running was ended: {error}");
                self.desk.notice(self.account.call(), text);
                None
            }
        }
    }
}

impl Whereabouts {
    fn of(
        permit: &Permit,
        timeout: Option<Duration>,
        otherwise: &Path,
        refusals: Refusals,
    ) -> Self {
        Self {
            fence: match permit.confinement() {
                Confinement::Fenced { sandbox, .. } => Some(sandbox.clone()),
                Confinement::Unfenced { .. } => None,
            },
            limits: permit.confinement().limits().clone(),
            timeout,
            refusals,
            cwd: match permit.action() {
                Action::RunCommand(command) => command.cwd.clone(),
                _ => otherwise.to_path_buf(),
            },
        }
    }

    /// What there is to say about a command that has ended.
    fn findings(&self, execution: &Execution) -> Findings {
        let text = Excerpt::of(&execution.output.both, usize::MAX).text;
        let mut denials = self.refusals.take();
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
