//! The pipeline: every action, whoever asks for it, goes through the `door` by the `entry` that is
//! named after it.
//!
//! begin → judge → ask → intent → run → outcome → end

mod account;
mod advisers;
mod aftermath;
mod announce;
mod builder;
mod desk;
mod door;
mod entry;
mod execute;
mod held;
mod keep;
mod record;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ringfence_jail::{Session as Jail, TerminalSize};
use ringfence_policy::Ground;
use ringfence_policy::action::{Action, FenceRequest, RunCommand};
use ringfence_policy::command_line::{CommandLine, Shell};
use ringfence_policy::permissions::{ApprovalPolicy, SandboxPolicy};
use ringfence_policy::verdict::Judgement;
use ringfence_script::{ScriptRuntime as Runtime, WorkerProgram};
use tokio::sync::mpsc;

use crate::audit::{self, CallId};
use crate::config::Config;
use crate::denial::Denial;
use crate::execution::{Cancel, Execution, Latch, Stopwatch, Typed};
use crate::limit::LimitHit;
use crate::network::SessionNetwork;
use crate::output::{Captured, OutputProcessor, Stream};
use crate::registry::{Registry, TaskId};
use crate::script::ScriptPlace;
use crate::search::Catalogue;
use crate::tools::{ExecToolCallOutput, ToolSet};
pub(crate) use aftermath::Findings;
pub(crate) use announce::Announced;
pub(crate) use desk::Desk;
pub(crate) use door::Passage;
pub(crate) use entry::run_command::{SessionStart, StartedSession};
pub(crate) use entry::type_input::Keys;

pub use builder::EngineBuilder;
pub use record::subject;

/// The one place where the steps meet.
pub struct Engine {
    pub(crate) config: Config,
    pub(crate) shell: Shell,
    pub(crate) ground: Ground,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) login: tokio::sync::OnceCell<Option<BTreeMap<String, String>>>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) scripts: OnceLock<Arc<dyn Runtime>>,
    pub(crate) tool_scripts: OnceLock<Arc<dyn Runtime>>,
    pub(crate) worker: WorkerProgram,
    pub(crate) desk: Arc<Desk>,
    pub(crate) network: Arc<SessionNetwork>,
    pub(crate) jail: Jail,
    pub(crate) journals: Option<PathBuf>,
    pub(crate) catalogue: Catalogue,
    pub(crate) processors: Vec<Arc<dyn OutputProcessor>>,
    /// The time zone of scripts' dates.
    pub(crate) time_zone: Option<String>,
    pub(crate) tools: ToolSet,
    scratch: Option<PathBuf>,
}

/// One call on its way through.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// The call that makes it, for one that a script makes.
    pub parent: Option<CallId>,
    /// How to stop it.
    pub cancel: Cancel,
    /// How to move its command to the background, where that was offered.
    pub to_background: Latch,
    /// The time that counts against its limits.
    pub clock: Stopwatch,
    /// The place in a script that makes it.
    pub place: Option<Arc<ScriptPlace>>,
}

/// How a command is run.
#[derive(Default)]
pub struct How {
    /// The time it has.
    pub timeout: Option<Duration>,
    /// The longest that it may print nothing.
    pub silence: Option<Duration>,
    /// What becomes of it when its time is over.
    pub patience: Patience,
    /// What it reads from and prints to.
    pub ends: Ends,
    /// Somebody who gets every byte as it comes.
    pub tap: Option<Tap>,
}

/// Somebody who gets every byte of a command's output as it comes.
pub type Tap = Arc<dyn Fn(Stream, &[u8]) + Send + Sync>;

/// What becomes of a command in the foreground when its time is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Patience {
    /// It is killed.
    #[default]
    Ends,
    /// It is killed, but before that it may be moved to the background if somebody wants.
    MayBeMoved,
    /// It becomes a background task.
    Moves,
}

/// What a command reads from and prints to.
#[derive(Debug, Default)]
pub enum Ends {
    /// Pipes, and no input.
    #[default]
    NoInput,
    /// Pipes, and the harness's own standard input.
    InheritedInput,
    /// A terminal at which somebody types.
    Terminal {
        /// Its size.
        size: TerminalSize,
        /// What is typed.
        typed: mpsc::Receiver<Typed>,
    },
}

/// Whether anybody hears of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    Yes,
    No,
}

/// What came of a command.
#[derive(Debug)]
pub struct Outcome {
    /// The run.
    pub execution: Execution,
    /// What the fence refused.
    pub denials: Vec<Denial>,
    /// The limits that it hit.
    pub limits_hit: Vec<LimitHit>,
    /// What really held it.
    pub sandbox: &'static str,
    /// Why a refused command was not tried again.
    pub not_retried: Option<String>,
    /// The task that keeps what the command left running.
    pub task: Option<TaskId>,
}

/// What became of a command in the foreground.
#[derive(Debug)]
pub enum Done {
    /// It has ended.
    Ended(Box<Outcome>),
    /// It goes on as a background task.
    Moved {
        /// The task.
        task: TaskId,
        /// What it has printed so far.
        so_far: Box<Captured>,
    },
}

impl Engine {
    /// An engine in the making, for work in this folder.
    pub fn builder(workspace: impl Into<PathBuf>) -> EngineBuilder {
        EngineBuilder::new(workspace.into())
    }

    /// A new call.
    pub fn new_call(&self) -> Call {
        self.desk.new_call()
    }

    /// A new call that another one makes.
    pub fn child_call(&self, parent: &Call) -> Call {
        Call {
            parent: Some(parent.id.clone()),
            ..self.new_call()
        }
    }

    /// A command as a person would have it run: here, with the session's environment.
    pub fn person_command(&self, line: CommandLine) -> RunCommand {
        RunCommand {
            tool: "run".to_owned(),
            line,
            cwd: self.ground.cwd.clone(),
            environment: self.environment.clone(),
            fence: FenceRequest::Stay,
            justification: None,
            description: None,
        }
    }

    /// Says what would become of an action, and does nothing.
    pub fn check(&self, action: Action) -> Judgement {
        self.desk.check(action)
    }

    /// The user's shell.
    pub fn shell(&self) -> &Shell {
        &self.shell
    }

    /// When a person is asked.
    pub fn approval(&self) -> ApprovalPolicy {
        self.desk.approval
    }

    /// How far commands reach.
    pub fn sandbox(&self) -> &SandboxPolicy {
        &self.desk.sandbox
    }

    /// The folders whose content commands may have changed.
    pub(crate) fn changeable(&self) -> Vec<PathBuf> {
        changeable(&self.ground)
    }

    /// An outcome as the `shell` tool replies it.
    pub fn exec_output(&self, outcome: &Outcome) -> ExecToolCallOutput {
        ExecToolCallOutput::of(self, outcome, None)
    }

    pub(crate) fn max_output_chars(&self) -> usize {
        usize::try_from(self.config.bash.max_output_chars).unwrap_or(usize::MAX)
    }
}

impl How {
    /// The same once more, where that is possible: a terminal at which somebody has typed is not
    /// the same any more.
    fn again(&self) -> Option<Self> {
        Some(Self {
            timeout: self.timeout,
            silence: self.silence,
            patience: self.patience,
            ends: match &self.ends {
                Ends::NoInput => Ends::NoInput,
                Ends::InheritedInput => Ends::InheritedInput,
                Ends::Terminal { .. } => return None,
            },
            tap: self.tap.clone(),
        })
    }
}

fn changeable(ground: &Ground) -> Vec<PathBuf> {
    let workspace = std::iter::once(&ground.workspace);
    workspace.chain(&ground.writable).cloned().collect()
}

impl Drop for Engine {
    fn drop(&mut self) {
        let session = self.desk.session.clone();
        self.desk.accounts.abandon();
        self.desk.tell_settled(&self.jail.settled());
        let calls = self.desk.calls();
        let _ = self.desk.record(|| {
            audit::Record::SessionEnded(audit::SessionEnded {
                session,
                calls,
                reason: None,
            })
        });
        if let Some(folder) = &self.scratch {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
