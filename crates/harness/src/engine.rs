//! The pipeline: every action, whoever asks for it, goes through the `door` by the `entry` that is
//! named after it.
//!
//! begin → judge → ask → intent → run → outcome → end

mod account;
mod advisers;
#[cfg(feature = "commands")]
mod aftermath;
mod builder;
mod call_site;
mod denied_paths;
mod desk;
mod door;
mod entry;
#[cfg(feature = "commands")]
mod execute;
mod file_search;
mod granted;
mod own_secrets;
mod patches;
#[cfg(feature = "commands")]
mod programs;
mod record;
#[cfg(feature = "commands")]
mod retry;
mod turn;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use ringfence_jail::{Jail, TerminalSize};
use ringfence_policy::action::{Action, FenceRequest, RunCommand};
use ringfence_policy::command_line::{CommandLine, Shell};
use ringfence_policy::judge::Denied;
use ringfence_policy::permissions::{ApprovalPolicy, SandboxPolicy};
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::verdict::Judgement;
use ringfence_policy::{Ground, NarrowGrant};
use tokio::sync::mpsc;

use crate::audit::{self, CallId, SessionId};
use crate::caches::OpenCaches;
#[cfg(feature = "scripts")]
use crate::code::Bridge;
use crate::config::Config;
use crate::denial::Denial;
use crate::event::TurnId;
use crate::execution::{Cancel, Execution, Latch, Stopwatch, TerminalInput};
use crate::limit::LimitHit;
#[cfg(feature = "commands")]
use crate::network::SessionNetwork;
use crate::output::{Captured, OutputProcessor, Outputs, SpillOptions, Stream};
#[cfg(feature = "commands")]
use crate::registry::Registry;
use crate::registry::TaskId;
#[cfg(feature = "scripts")]
use crate::script::Runtimes;
use crate::search::Catalogue;
#[cfg(feature = "commands")]
use crate::tools::ExecToolCallOutput;
use crate::tools::ToolSet;
#[cfg(feature = "commands")]
pub(crate) use aftermath::Findings;
pub(crate) use desk::Desk;
pub(crate) use door::{CallAnnouncement, Passage};
#[cfg(feature = "commands")]
pub(crate) use entry::run_command::{ProcessStart, StartedProcess};
#[cfg(feature = "commands")]
pub(crate) use entry::type_input::Keys;

pub use builder::EngineBuilder;
pub use call_site::CallSite;
use own_secrets::OwnSecrets;
pub use record::subject;
pub use turn::TurnAnnouncement;

/// The one place where the steps meet.
pub struct Engine {
    pub(crate) config: Config,
    pub(crate) shell: Shell,
    pub(crate) ground: Ground,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) own_secrets: OwnSecrets,
    pub(crate) login: tokio::sync::OnceCell<Option<BTreeMap<String, String>>>,
    #[cfg(feature = "commands")]
    pub(crate) registry: Arc<Registry>,
    #[cfg(feature = "scripts")]
    pub(crate) runtimes: Runtimes,
    pub(crate) desk: Arc<Desk>,
    #[cfg(feature = "commands")]
    pub(crate) network: Arc<SessionNetwork>,
    pub(crate) jail: Jail,
    pub(crate) journals: Option<PathBuf>,
    pub(crate) catalogue: Catalogue,
    pub(crate) processors: Vec<Arc<dyn OutputProcessor>>,
    pub(crate) tools: ToolSet,
    outputs: Option<Arc<Outputs>>,
    /// Whether it ends with its first call.
    one_call: bool,
    /// Held until the end.
    _caches: Option<OpenCaches>,
}

/// One call on its way through.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// The call that makes it, for one that a script makes.
    pub parent: Option<CallId>,
    /// The turn of a model that it is part of, where there is one.
    pub turn: Option<TurnId>,
    /// How to stop it.
    pub cancel: Cancel,
    /// How to move its command to the background, where that was offered.
    pub to_background: Latch,
    /// The time that counts against its limits.
    pub clock: Stopwatch,
    /// The place in a script that makes it.
    pub call_site: Option<Arc<CallSite>>,
    /// Whose functions its code may call.
    #[cfg(feature = "scripts")]
    pub bridge: Option<Bridge>,
    /// What whoever answers questions grants it beforehand, inside the fence.
    pub grants: Vec<NarrowGrant>,
}

/// How a command is run.
#[derive(Default)]
pub struct RunOptions {
    /// The time it has.
    pub timeout: Option<Duration>,
    /// The longest that it may print nothing.
    pub silence: Option<Duration>,
    /// What becomes of it when its time is over.
    pub patience: Patience,
    /// What it reads from and prints to.
    pub stdio: Stdio,
    /// Somebody who gets every byte as it comes.
    pub output_sink: Option<OutputSink>,
}

/// Somebody who gets every byte of a command's output as it comes.
pub type OutputSink = Arc<dyn Fn(Stream, &[u8]) + Send + Sync>;

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
pub enum Stdio {
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
        typed: mpsc::Receiver<TerminalInput>,
    },
}

/// Who hears of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audience {
    Listeners,
    Nobody,
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
    /// How it was run again, if it was: what was granted, or that it ran outside.
    pub retried: Option<String>,
    /// How to end what it wanted to kill and did not see.
    pub to_stop: Option<String>,
    /// What its exit code means.
    pub code_meaning: Option<String>,
    /// What it failed for that could be granted.
    pub(crate) asks: Denied,
    /// The task that keeps what the command left running.
    pub task: Option<TaskId>,
}

/// What became of a command in the foreground.
#[derive(Debug)]
pub enum RunResult {
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

    /// Whether everything that runs ends with this call.
    pub(crate) fn ends_with(&self, call: &Call) -> bool {
        self.one_call && call.parent.is_none()
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

    /// Judges by these rules from now on, in the place of those that it was opened with and that were kept since.
    pub fn replace_rules(&self, rules: RuleSet) {
        let current = self.desk.rules.write();
        *current.unwrap_or_else(PoisonError::into_inner) = rules;
    }

    /// The folder that it works in.
    pub fn workspace(&self) -> &Path {
        &self.ground.workspace
    }

    /// The session, as the audit log names it.
    pub fn session(&self) -> &SessionId {
        &self.desk.session
    }

    /// How long a question waits for its answer.
    pub fn question_timeout(&self) -> Duration {
        self.desk.patience
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
    #[cfg(feature = "commands")]
    pub fn exec_output(&self, outcome: &Outcome) -> ExecToolCallOutput {
        ExecToolCallOutput::of(self, outcome, None)
    }

    /// Where what is too long for a reply goes.
    pub(crate) fn spill_options(&self) -> Option<SpillOptions> {
        self.outputs.as_ref().map(|outputs| SpillOptions {
            outputs: Arc::clone(outputs),
            cap: self.config.output.spill_cap_bytes,
        })
    }

    pub(crate) fn max_output_chars(&self) -> usize {
        usize::try_from(self.config.bash.max_output_chars).unwrap_or(usize::MAX)
    }
}

impl RunOptions {
    /// The same once more, where that is possible: a terminal at which somebody has typed is not
    /// the same any more.
    fn again(&self) -> Option<Self> {
        Some(Self {
            timeout: self.timeout,
            silence: self.silence,
            patience: self.patience,
            stdio: match &self.stdio {
                Stdio::NoInput => Stdio::NoInput,
                Stdio::InheritedInput => Stdio::InheritedInput,
                Stdio::Terminal { .. } => return None,
            },
            output_sink: self.output_sink.clone(),
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
    }
}
