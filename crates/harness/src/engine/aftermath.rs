//! The aftermath of a run: what is found out about it once it has ended, its outcome on record, and what
//! it left running kept. The same for the foreground and the background.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use ringfence_jail::{Exit, Holder};
use ringfence_policy::Permit;
use ringfence_policy::action::{Action, RunCommand};
use ringfence_policy::judge::Denied;
use ringfence_policy::permissions::{Limits, Lookout, SandboxPolicy};
use ringfence_policy::permit::Confinement;

use super::Engine;
use super::account::{Account, End};
use super::desk::Desk;
use crate::audit::Outcome;
use crate::denial::{self, Denial, Scene, could};
use crate::error::CallError;
use crate::event::{CommandRun, Event};
use crate::execution::{Execution, Remaining};
use crate::exit_code;
use crate::file_user::FileUser;
use crate::limit::{self, LimitHit};
use crate::network::ConnectionRefusals;
use crate::output::Excerpt;
use crate::registry::{self, Charge, Epilogue, KeptCommand, Layout, Lost, Registry, TaskId};

/// What is found out about a command once it has ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    /// What the fence refused it.
    pub(crate) denials: Vec<Denial>,
    /// The limits that it hit.
    pub(crate) limits_hit: Vec<LimitHit>,
    /// What it failed for that could be granted.
    pub(crate) asks: Denied,
    /// How to end what it wanted to kill and did not see.
    pub(crate) to_stop: Option<String>,
    /// What its exit code means.
    pub(crate) code_meaning: Option<String>,
}

/// What a command's end is judged by: where it ran, and within which limits.
#[derive(Debug, Clone)]
struct Whereabouts {
    fence: Option<SandboxPolicy>,
    limits: Limits,
    timeout: Option<Duration>,
    cwd: PathBuf,
    /// What the proxy refused it.
    refusals: ConnectionRefusals,
    /// The command, as a person reads it.
    command: String,
    /// The command, as it was asked for.
    action: Option<RunCommand>,
    /// Whom it ran as.
    user: FileUser,
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
        let (cwd, user) = (&self.ground.cwd, self.owner());
        Books {
            account: account.clone(),
            desk: Arc::clone(&self.desk),
            registry: Arc::downgrade(&self.registry),
            whereabouts: Whereabouts::of(permit, timeout, cwd, refusals, user),
            room: self.buffer_bytes(),
        }
    }
}

impl Books {
    /// Closes them.
    pub(super) fn close(&self, execution: &mut Execution) -> Closed {
        let mut findings = self.whereabouts.findings(execution, self.account.fence());
        if let Some(command) = &self.whereabouts.action {
            self.desk.take_back(&mut findings.denials, command);
        }
        findings.to_stop = self.not_killed(execution);
        let end = End::of_execution(execution, &findings);
        self.account.tell_run(&self.run(execution, &findings));
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

    /// How to end the tasks whose processes a command wanted to kill: it does not see them.
    fn not_killed(&self, execution: &Execution) -> Option<String> {
        let registry = self.registry.upgrade()?;
        if execution.exit_code() == 0 {
            return None;
        }
        let text = Excerpt::of(&execution.output.both, usize::MAX).text;
        let pids = text.lines().flat_map(not_found_by_kill);
        let tasks: BTreeSet<_> = pids.flat_map(|pid| registry.tasks_with(pid)).collect();
        let ids: Vec<String> = tasks.iter().map(|id| format!("`{id}`")).collect();
        (!ids.is_empty()).then(|| {
            format!(
                "`bash_task_stop` with the task id {}; `kill` does not see the processes of another command",
                ids.join(" or ")
            )
        })
    }

    fn run(&self, execution: &Execution, findings: &Findings) -> CommandRun {
        CommandRun {
            fence: self.account.fence().unwrap_or("none"),
            ending: Some(execution.ending),
            exit_code: Some(execution.exit_code()),
            duration: execution.duration,
            cpu: execution.exit.cpu,
            max_rss_bytes: execution.exit.max_rss_bytes,
            stdout_bytes: execution.output.stdout.total(),
            stderr_bytes: execution.output.stderr.total(),
            denials: findings.denials.iter().map(|denial| denial.kind).collect(),
            limits_hit: findings.limits_hit.clone(),
        }
    }

    /// What is done with them once a command that lives on has ended.
    pub(super) fn epilogue(self) -> Epilogue {
        Box::new(move |ended: Result<Execution, Lost>| {
            let end = match ended {
                // A log that cannot be written refuses the next call.
                Ok(mut execution) => {
                    let closed = self.close(&mut execution);
                    kept_end(execution, closed)
                }
                Err(lost) => {
                    self.lost(lost.after);
                    registry::End::lost(lost.after)
                }
            };
            self.desk.tell(&Event::Ended {
                call: self.account.call().id.clone(),
                exit_code: end.exit_code.unwrap_or_default(),
            });
            end
        })
    }

    /// Closes them for a run that was lost with its warden.
    fn lost(&self, after: Duration) {
        let end = End::because(Outcome::Failed, "warden_gone");
        self.account.tell_run(&CommandRun {
            fence: self.account.fence().unwrap_or("none"),
            ending: None,
            exit_code: None,
            duration: after,
            cpu: Duration::ZERO,
            max_rss_bytes: 0,
            stdout_bytes: 0,
            stderr_bytes: 0,
            denials: Vec::new(),
            limits_hit: Vec::new(),
        });
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
        let kept = KeptCommand::start(leftovers, Layout::Apart, self.room);
        match registry.add_task(id.clone(), kept, names.join("; ")) {
            Ok(()) => {
                let pids = exit.left_running.iter().map(|left| left.pid);
                registry.name_processes(&id, pids.collect());
                Some(id)
            }
            Err(error) => {
                let text = format!("what the command left running was ended: {error}");
                self.desk.notice(self.account.call(), text);
                None
            }
        }
    }
}

/// The numbers that a line of `kill`'s says there is no process of.
fn not_found_by_kill(line: &str) -> Vec<i32> {
    let Some((_, said)) = line.split_once("kill: ") else {
        return Vec::new();
    };
    if !said.contains("No such process") {
        return Vec::new();
    }
    let numbers = said.split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).collect()
}

fn kept_end(execution: Execution, closed: Closed) -> registry::End {
    registry::End {
        ending: execution.ending,
        exit_code: Some(execution.exit_code()),
        duration: execution.duration,
        findings: closed.findings,
        file: execution.output.file,
        left_running: execution.exit.left_running,
        task: closed.task,
    }
}

impl Whereabouts {
    fn of(
        permit: &Permit,
        timeout: Option<Duration>,
        otherwise: &Path,
        refusals: ConnectionRefusals,
        user: FileUser,
    ) -> Self {
        Self {
            fence: match permit.confinement() {
                Confinement::Fenced { sandbox, .. } => Some(sandbox.clone()),
                Confinement::Unfenced { .. } => None,
            },
            limits: permit.confinement().limits().clone(),
            timeout,
            refusals,
            command: super::subject(permit.action()),
            action: match permit.action() {
                Action::RunCommand(command) => Some(command.clone()),
                _ => None,
            },
            user,
            cwd: match permit.action() {
                Action::RunCommand(command) => command.cwd.clone(),
                _ => otherwise.to_path_buf(),
            },
        }
    }

    /// What there is to say about a command that has ended, and that this held.
    fn findings(&self, execution: &Execution, holder: Option<&str>) -> Findings {
        let text = Excerpt::of(&execution.output.both, usize::MAX).text;
        let mut denials = self.refusals.take();
        denials.extend(execution.exit.mended.iter().map(Denial::of_repair));
        denials.extend(self.fence.as_ref().map_or_else(Vec::new, |fence| {
            let scene = Scene {
                sandbox: fence,
                cwd: &self.cwd,
                exit_code: execution.exit_code(),
                command: &self.command,
                could: &|path, wish| could(&self.user, path, wish),
                by_mounts: holder != Some(Holder::Degraded.name()),
                sees_connections: fence.lookout != Lookout::Off && lookups_leave_loopback(),
            };
            denial::find(&scene, &execution.exit.denied, &text)
        }));
        Findings {
            asks: denial::to_ask_about(&denials, &text),
            denials,
            limits_hit: limit::find(&self.limits, self.timeout, execution, &text),
            to_stop: None,
            code_meaning: exit_code::interpret(
                execution.ending,
                execution.exit_code(),
                self.action.as_ref(),
            ),
        }
    }
}

/// Whether a name that is looked up is looked for beyond the loopback, where the fence sees it. A server of names there that is
/// not one of the usual two cannot be told from any other.
fn lookups_leave_loopback() -> bool {
    let servers = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let servers = servers
        .lines()
        .filter_map(|line| line.trim().strip_prefix("nameserver"));
    let mut servers = servers.filter_map(|server| server.trim().parse::<std::net::IpAddr>().ok());
    let usual = ["127.0.0.53", "127.0.0.54"];
    servers
        .next()
        .is_some_and(|first| !first.is_loopback() || usual.contains(&first.to_string().as_str()))
}
