//! The pipeline: every action, whoever asks for it, goes through the `door` by the `entry` that is
//! named after it.
//!
//! begin → judge → ask → intent → run → outcome → end

mod account;
mod aftermath;
mod announce;
mod desk;
mod door;
mod entry;
mod execute;
mod held;
mod keep;
mod record;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

use ringfence_confine::account as user_account;
use ringfence_jail::net::Terminator;
use ringfence_jail::{Launches, Session as Jail, SessionOptions, TerminalSize, WardenProgram};
use ringfence_policy::Ground;
use ringfence_policy::action::{Action, FenceRequest, RunCommand};
use ringfence_policy::command_line::{CommandLine, Shell};
use ringfence_policy::judge::Escalation;
use ringfence_policy::permissions::{ApprovalPolicy, SandboxPolicy};
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::verdict::Judgement;
use ringfence_script::{ScriptRuntime as Runtime, WORKER_ARGUMENT, WorkerProgram};
use tokio::sync::mpsc;

use crate::approval::Approver;
use crate::audit::{self, AuditLog, CallId, SessionId};
use crate::config::{Backend, Config, Degraded};
use crate::denial::Denial;
use crate::error::CallError;
use crate::event::EventSink;
use crate::execution::{Cancel, Execution, Latch, Stopwatch, Typed};
use crate::limit::LimitHit;
use crate::network::{self, Injections, SessionNetwork};
use crate::output::{Captured, Stream};
use crate::registry::{Registry, RegistryLimits, TaskId};
use crate::script::ScriptPlace;
use crate::search::Catalogue;
use crate::session::{base_environment, owned_by_the_user};
pub(crate) use aftermath::Findings;
pub(crate) use announce::Announced;
pub(crate) use desk::Desk;
pub(crate) use door::Passage;
pub(crate) use entry::run_command::{SessionStart, StartedSession};
pub(crate) use entry::type_input::Keys;

pub use record::subject;

/// What a front end hands over to open an engine. The library looks nothing of this up itself.
pub struct EngineOptions {
    /// The folder that the work is about. Absolute.
    pub workspace: PathBuf,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The environment of the harness.
    pub environment: BTreeMap<String, String>,
    /// The configuration.
    pub config: Config,
    /// The rules, of all layers.
    pub rules: RuleSet,
    /// The file that approved rules are added to; they hold for the session only if absent.
    pub rules_file: Option<PathBuf>,
    /// The user's shell.
    pub shell: Shell,
    /// Where the record goes; nowhere if absent.
    pub audit: Option<AuditLog>,
    /// Where long output goes. Removed with the engine.
    pub scratch: Option<PathBuf>,
    /// Where patches are written down while they are applied; there are none if absent. One that
    /// commands can reach would let them have files changed: use a folder that is also private.
    pub journals: Option<PathBuf>,
    /// Where sessions keep track of the names that they hold in people's folders. All that may work in
    /// the same folders should share it, and it must be out of reach of commands: use a folder that is
    /// also private.
    pub marks: Option<PathBuf>,
    /// Who answers questions.
    pub approver: Arc<dyn Approver>,
    /// Who listens.
    pub events: EventSink,
    /// Who serves as warden.
    pub warden: WardenProgram,
    /// Folders of the harness's own that commands may neither read nor write.
    pub private: Vec<PathBuf>,
    /// How many commands are expected.
    pub launches: Launches,
    /// Which front end this is, for the audit log.
    pub front: &'static str,
}

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
    /// Opens an engine.
    pub fn open(options: EngineOptions) -> Result<Self, CallError> {
        refuse_what_is_not_there(&options.config)?;
        let mut sandbox = options
            .config
            .sandbox
            .policy(&options.workspace, options.home.as_deref());
        sandbox.denied_reads.extend(options.private);
        // Where it lies in a writable root, nobody inside may make it one that can be listed.
        let outputs = options.scratch.as_ref().and_then(|own| own.parent());
        let roots = sandbox.effective_writable_roots();
        let outputs = outputs.filter(|path| roots.iter().any(|root| path.starts_with(root)));
        let outputs = outputs.map(Path::to_path_buf);
        sandbox.protected_paths.extend(outputs);
        let injections = Injections::read(&options.config.network, &options.environment)?;
        let terminator = network::terminator(&options.config.network, &options.environment)?;
        let mut rules = options.rules;
        rules.extend(RuleSet::of(network::rules_of(&options.config.network)));
        // Whatever serves as warden serves scripts too.
        let worker = match &options.warden {
            WardenProgram::ThisProgram | WardenProgram::Forked(_) => {
                WorkerProgram::CurrentExecutable
            }
            WardenProgram::At(path) => WorkerProgram::Program {
                path: path.clone(),
                arguments: vec![WORKER_ARGUMENT.to_owned()],
            },
        };
        let jail = Jail::open(SessionOptions {
            program: options.warden,
            workspace: options.workspace.clone(),
            degraded: match options.config.sandbox.degraded {
                Degraded::Refuse => ringfence_jail::Degraded::Refuse,
                Degraded::Allow => ringfence_jail::Degraded::Allow,
            },
            backend: options.config.sandbox.backend.choice(),
            container: options.config.sandbox.container(),
            certificates: terminator.as_ref().map(Terminator::bundle),
            unix_sockets: options.config.sandbox.unix_sockets.clone(),
            marks: options.marks,
            launches: options.launches,
        })?;
        let mut environment = base_environment(
            &options.config.environment,
            &options.environment,
            user_account::own_uid(),
            jail.uid(),
        );
        environment.retain(|name, _| !injections.uses(name));
        let ground = Ground {
            cwd: options.workspace.clone(),
            workspace: options.workspace.clone(),
            home: options.home,
            writable: [sandbox.effective_writable_roots(), &[PathBuf::from("/tmp")]].concat(),
            readable: options.config.sandbox.readable(&sandbox),
        };
        owned_by_the_user(&options.shell, &changeable(&ground))?;
        let desk = Desk {
            ground: ground.clone(),
            sandbox,
            limits: options.config.limits.clone(),
            approval: options.config.approval.policy,
            patience: options.config.approval.timeout,
            escalation: if options.config.sandbox.allow_disable_sandbox {
                Escalation::Askable
            } else {
                Escalation::Off
            },
            rules: RwLock::new(rules),
            rules_file: options.rules_file,
            remembered: Mutex::default(),
            audit: options.audit,
            approver: options.approver,
            events: options.events,
            session: SessionId(crate::identifier::random("ses")),
            calls: AtomicU64::new(0),
            accounts: account::Accounts::default(),
        };
        desk.record(|| {
            audit::Record::SessionStarted(audit::SessionStarted {
                session: desk.session.clone(),
                cwd: options.workspace,
                sandbox: desk.sandbox.mode.to_string(),
                approval: desk.approval.to_string(),
                front: options.front.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            })
        })?;
        let desk = Arc::new(desk);
        let engine = Self {
            network: Arc::new(SessionNetwork::new(
                Arc::clone(&desk),
                &options.config.network,
                injections,
                terminator,
            )),
            ground,
            registry: Arc::new(Registry::new(registry_limits(&options.config))),
            config: options.config,
            shell: options.shell,
            environment,
            login: tokio::sync::OnceCell::new(),
            scripts: OnceLock::new(),
            tool_scripts: OnceLock::new(),
            worker,
            desk,
            jail,
            journals: options.journals,
            catalogue: Catalogue::default(),
            scratch: options.scratch,
        };
        engine.recover_patches()?;
        Ok(engine)
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

    /// An outcome as JSON, with spec 2's field names.
    pub fn exec_output(&self, outcome: &Outcome) -> serde_json::Value {
        crate::tools::exec_output(self, outcome, None)
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

fn registry_limits(config: &Config) -> RegistryLimits {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    RegistryLimits {
        sessions: count(config.process.max),
        warn_at: count(config.process.warn_at),
        recent: count(config.process.keep_recent),
        tasks: count(config.bash.max_background_tasks),
        retention: config.bash.task_retention,
        ended_tasks: count(config.bash.max_ended_tasks),
    }
}

/// Settings that are known and not served yet are errors: never ignored, never replaced by less.
fn refuse_what_is_not_there(config: &Config) -> Result<(), CallError> {
    if config.sandbox.backend == Backend::None && config.sandbox.mode.is_fenced() {
        return Err(ringfence_jail::LaunchError::NoFence.into());
    }
    let expose = &config.script.expose;
    let not_there = [
        (
            expose.enable_http,
            "script.expose.enable_http = true",
            "let scripts run `curl` through `exec`",
        ),
        (
            expose.enable_mcp,
            "script.expose.enable_mcp = true",
            "leave it off",
        ),
    ];
    match not_there.into_iter().find(|(asked, ..)| *asked) {
        Some((_, setting, instead)) => Err(CallError::NotAvailable { setting, instead }),
        None => Ok(()),
    }
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
