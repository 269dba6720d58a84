//! An engine in the making: what a program that embeds the library hands over, and what holds
//! where it hands over nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use ringfence_confine::account;
use ringfence_jail::net::Terminator;
use ringfence_jail::{Launches, SearchPath, Session as Jail, SessionOptions, WardenProgram};
use ringfence_policy::Ground;
use ringfence_policy::command_line::Shell;
use ringfence_policy::judge::Escalation;
use ringfence_policy::permissions::SandboxPolicy;
use ringfence_policy::ruleset::RuleSet;
use ringfence_script::{WORKER_ARGUMENT, WorkerProgram};

use super::advisers::Advisers;
use super::{Desk, Engine, changeable};
use crate::approval::{Approver, Chain, Scripted};
use crate::audit::{self, AuditLog, AuditPlace, Redactor, SessionId, SystemClock};
use crate::classifier::Classifier;
use crate::config::{Backend, Config, Degraded};
use crate::error::CallError;
use crate::event::{self, Listener};
use crate::network::{self, Injections, SessionNetwork};
use crate::output::OutputProcessor;
use crate::permission_layer::PermissionLayer;
use crate::registry::{Registry, RegistryLimits};
use crate::search::Catalogue;
use crate::session::{base_environment, detect_shell, owned_by_the_user};
use crate::state;
use crate::tools::ToolSet;

/// An engine in the making. Made by [`Engine::builder`], used up by [`open`](Self::open).
///
/// What is not set is as safe as it can be: the default configuration (a fence around the
/// workspace, no network), no rules, an approver that says no, and nobody who listens. The library
/// reads no environment variable: an engine that is handed none has none but a plain `PATH`.
#[must_use = "an engine is opened with `open`"]
pub struct EngineBuilder {
    workspace: PathBuf,
    home: Option<PathBuf>,
    environment: BTreeMap<String, String>,
    config: Config,
    rules: RuleSet,
    rules_file: Option<PathBuf>,
    shell: Option<Shell>,
    state: Option<PathBuf>,
    audit: Option<AuditLog>,
    outputs: Option<PathBuf>,
    approvers: Vec<Arc<dyn Approver>>,
    listeners: Vec<Arc<dyn Listener>>,
    advisers: Advisers,
    processors: Vec<Arc<dyn OutputProcessor>>,
    tools: ToolSet,
    warden: WardenProgram,
    private: Vec<PathBuf>,
    launches: Launches,
    front: &'static str,
    only_looks: bool,
}

impl EngineBuilder {
    pub(super) fn new(workspace: PathBuf) -> Self {
        Self {
            workspace,
            home: None,
            environment: BTreeMap::new(),
            config: Config::default(),
            rules: RuleSet::default(),
            rules_file: None,
            shell: None,
            state: None,
            audit: None,
            outputs: None,
            approvers: Vec::new(),
            listeners: Vec::new(),
            advisers: Advisers::default(),
            processors: Vec::new(),
            tools: ToolSet::built_in(),
            warden: WardenProgram::ThisProgram,
            private: Vec::new(),
            launches: Launches::Many,
            front: "library",
            only_looks: false,
        }
    }

    /// The environment that commands' environment is made from, by the configuration's policy:
    /// secrets are left out. `PATH`, `HOME`, `SHELL` and `TZ` in it also say where programs, the
    /// home folder, the user's shell and the time zone are.
    ///
    /// A program that wants its own environment says so: `.environment(std::env::vars())`.
    pub fn environment<N, V>(mut self, variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<String>,
        V: Into<String>,
    {
        let variables = variables.into_iter();
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        self.environment.extend(variables);
        self
    }

    /// The user's home folder, where it is not the environment's `HOME`.
    pub fn home(mut self, folder: impl Into<PathBuf>) -> Self {
        self.home = Some(folder.into());
        self
    }

    /// The configuration; the defaults of `docs/configuration.md` unless given.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Rules, on top of those that are there already.
    pub fn rules(mut self, rules: RuleSet) -> Self {
        self.rules.extend(rules);
        self
    }

    /// The file that approved rules are added to. Without one they hold for the session only. It is
    /// not read: hand what is in it to [`rules`](Self::rules).
    pub fn rules_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.rules_file = Some(file.into());
        self
    }

    /// The user's shell; the configuration's, the account's or a usual one unless given.
    pub fn shell(mut self, shell: Shell) -> Self {
        self.shell = Some(shell);
        self
    }

    /// The folder in which the engine keeps what outlives it: the audit log, patches that are being
    /// applied, and the names that it holds in people's folders. All engines that may work in the same
    /// folders should share one. Commands can neither read nor write it.
    ///
    /// Without one there is no audit log, and the rest is in a folder of this user's below `/tmp`.
    pub fn state(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// The audit log, where it is not the one in the state folder.
    pub fn audit(mut self, log: AuditLog) -> Self {
        self.audit = Some(log);
        self
    }

    /// The folder that this engine alone writes long outputs to; it is removed with the engine.
    /// Commands can read files in it by their names. Without one a long output is cut.
    pub fn outputs(mut self, folder: impl Into<PathBuf>) -> Self {
        self.outputs = Some(folder.into());
        self
    }

    /// Somebody who answers questions. Called several times, each is asked where those before could
    /// ask nobody. Without any the answer is no.
    pub fn approver(self, approver: impl Approver + 'static) -> Self {
        self.shared_approver(Arc::new(approver))
    }

    /// The same, for one that is held elsewhere too.
    pub fn shared_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approvers.push(approver);
        self
    }

    /// Somebody who is told what happens, as it happens. Each that is added is told everything.
    pub fn listener(self, listener: impl Listener + 'static) -> Self {
        self.shared_listener(Arc::new(listener))
    }

    /// The same, for one that is held elsewhere too.
    pub fn shared_listener(mut self, listener: Arc<dyn Listener>) -> Self {
        self.listeners.push(listener);
        self
    }

    /// Somebody who knows commands that the tables do not. See [`Classifier`].
    pub fn classifier(mut self, classifier: impl Classifier + 'static) -> Self {
        self.advisers.classifiers.push(Arc::new(classifier));
        self
    }

    /// A layer of permissions beside the rules. See [`PermissionLayer`].
    pub fn permission_layer(mut self, layer: impl PermissionLayer + 'static) -> Self {
        self.advisers.layers.push(Arc::new(layer));
        self
    }

    /// Somebody who sees what commands printed before a model does. See [`OutputProcessor`].
    pub fn output_processor(mut self, processor: impl OutputProcessor + 'static) -> Self {
        self.processors.push(Arc::new(processor));
        self
    }

    /// What a model can call: the built-in tools, unless told. See [`ToolSet::with`].
    pub fn tools(mut self, tools: ToolSet) -> Self {
        self.tools = tools;
        self
    }

    /// Who serves as warden and as worker: this very program, which must call
    /// [`init`](crate::init) first thing in `main`, unless another is named.
    pub fn warden(mut self, program: WardenProgram) -> Self {
        self.warden = program;
        self
    }

    /// A folder of the program's own that commands may neither read nor write.
    pub fn private(mut self, folder: impl Into<PathBuf>) -> Self {
        self.private.push(folder.into());
        self
    }

    /// How many commands are expected; many unless told.
    pub fn launches(mut self, launches: Launches) -> Self {
        self.launches = launches;
        self
    }

    /// Which front end this is, for the audit log.
    pub fn front(mut self, name: &'static str) -> Self {
        self.front = name;
        self
    }

    /// An engine that only [checks](Engine::check): it keeps no log and finishes no patch of others.
    pub fn to_look(mut self) -> Self {
        self.only_looks = true;
        self
    }

    /// Opens the engine.
    pub fn open(mut self) -> Result<Engine, CallError> {
        refuse_what_is_not_there(&self.config)?;
        let variable = |name: &str| self.environment.get(name).cloned();
        let home = variable("HOME").filter(|home| home.starts_with('/'));
        let home = self.home.take().or(home.map(PathBuf::from));
        let time_zone = variable("TZ");
        let shell = match self.shell.take() {
            Some(shell) => shell,
            None => detect_shell(
                self.config.shell.path.as_deref(),
                account::own_uid(),
                variable("SHELL").as_deref(),
            )?,
        };
        let state = match &self.state {
            Some(folder) => folder.clone(),
            None => state::temporary()?,
        };
        let audit = self.audit_log()?;
        self.private.push(state.clone());
        self.private.extend(self.config.audit.dir.clone());
        let sandbox = self.sandbox(home.as_deref());
        let injections = Injections::read(&self.config.network, &self.environment)?;
        let terminator = network::terminator(&self.config.network, &self.environment)?;
        let worker = worker_of(&self.warden);
        let jail = self.jail(&state, terminator.as_ref())?;
        let mut environment = base_environment(
            &self.config.environment,
            &self.environment,
            account::own_uid(),
            jail.uid(),
        );
        environment.retain(|name, _| !injections.uses(name));
        let ground = Ground {
            cwd: self.workspace.clone(),
            workspace: self.workspace.clone(),
            home,
            writable: [sandbox.effective_writable_roots(), &[PathBuf::from("/tmp")]].concat(),
            readable: self.config.sandbox.readable(&sandbox),
        };
        owned_by_the_user(&shell, &changeable(&ground))?;
        let desk = Arc::new(self.desk(ground.clone(), sandbox, audit));
        self.record_start(&desk)?;
        let network = SessionNetwork::new(
            Arc::clone(&desk),
            &self.config.network,
            injections,
            terminator,
        );
        let engine = Engine {
            network: Arc::new(network),
            ground,
            registry: Arc::new(Registry::new(registry_limits(&self.config))),
            config: self.config,
            shell,
            environment,
            login: tokio::sync::OnceCell::new(),
            scripts: OnceLock::new(),
            tool_scripts: OnceLock::new(),
            worker,
            desk,
            jail,
            journals: (!self.only_looks).then(|| state.join("patches")),
            catalogue: Catalogue::default(),
            processors: self.processors,
            tools: self.tools,
            time_zone,
            scratch: self.outputs,
        };
        engine.recover_patches()?;
        Ok(engine)
    }

    /// How far commands reach.
    fn sandbox(&self, home: Option<&Path>) -> SandboxPolicy {
        let mut sandbox = self.config.sandbox.policy(&self.workspace, home);
        sandbox.denied_reads.extend(self.private.iter().cloned());
        // Where it lies in a writable root, nobody inside may make it one that can be listed.
        let outputs = self.outputs.as_ref().and_then(|own| own.parent());
        let roots = sandbox.effective_writable_roots();
        let outputs = outputs.filter(|path| roots.iter().any(|root| path.starts_with(root)));
        let outputs = outputs.map(Path::to_path_buf);
        sandbox.protected_paths.extend(outputs);
        sandbox
    }

    /// The log that was handed over, or the one in the state folder.
    fn audit_log(&mut self) -> Result<Option<AuditLog>, CallError> {
        if self.audit.is_some() {
            return Ok(self.audit.take());
        }
        match &self.state {
            Some(state) if self.config.audit.enabled && !self.only_looks => {
                let variables = self.environment.iter();
                let variables = variables.map(|(name, value)| (name.as_str(), value.as_str()));
                let secrets = Redactor::knowing_secrets_of(variables);
                let place = AuditPlace::in_state(state, self.config.audit.dir.as_deref());
                Ok(Some(
                    AuditLog::open(&place, SystemClock)?.with_redactor(secrets),
                ))
            }
            _ => Ok(None),
        }
    }

    fn jail(&self, state: &Path, terminator: Option<&Terminator>) -> Result<Jail, CallError> {
        let search_path = self.environment.get("PATH");
        Ok(Jail::open(SessionOptions {
            program: self.warden.clone(),
            workspace: self.workspace.clone(),
            degraded: match self.config.sandbox.degraded {
                Degraded::Refuse => ringfence_jail::Degraded::Refuse,
                Degraded::Allow => ringfence_jail::Degraded::Allow,
            },
            backend: self.config.sandbox.backend.choice(),
            container: self.config.sandbox.container(),
            programs: search_path.map_or_else(SearchPath::default, |path| SearchPath::of(path)),
            certificates: terminator.map(Terminator::bundle),
            unix_sockets: self.config.sandbox.unix_sockets.clone(),
            marks: Some(state.join("marks")),
            launches: self.launches,
        })?)
    }

    fn desk(&mut self, ground: Ground, sandbox: SandboxPolicy, audit: Option<AuditLog>) -> Desk {
        let mut rules = std::mem::take(&mut self.rules);
        rules.extend(RuleSet::of(network::rules_of(&self.config.network)));
        Desk {
            ground,
            sandbox,
            limits: self.config.limits.clone(),
            approval: self.config.approval.policy,
            patience: self.config.approval.timeout,
            escalation: if self.config.sandbox.allow_disable_sandbox {
                Escalation::Askable
            } else {
                Escalation::Off
            },
            rules: RwLock::new(rules),
            rules_file: self.rules_file.take(),
            remembered: Mutex::default(),
            audit,
            approver: one_of(std::mem::take(&mut self.approvers)),
            advisers: std::mem::take(&mut self.advisers),
            events: event::all(std::mem::take(&mut self.listeners)),
            session: SessionId(crate::identifier::random("ses")),
            calls: AtomicU64::new(0),
            accounts: super::account::Accounts::default(),
        }
    }

    fn record_start(&self, desk: &Desk) -> Result<(), CallError> {
        desk.record(|| {
            audit::Record::SessionStarted(audit::SessionStarted {
                session: desk.session.clone(),
                cwd: self.workspace.clone(),
                sandbox: desk.sandbox.mode.to_string(),
                approval: desk.approval.to_string(),
                front: self.front.to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            })
        })
    }
}

fn one_of(mut approvers: Vec<Arc<dyn Approver>>) -> Arc<dyn Approver> {
    match (approvers.pop(), approvers.is_empty()) {
        (None, _) => Arc::new(Scripted::DenyAll {
            message: "this program has nobody to ask".to_owned(),
        }),
        (Some(only), true) => only,
        (Some(last), false) => {
            approvers.push(last);
            Arc::new(Chain::of(approvers))
        }
    }
}

/// Whatever serves as warden serves scripts too.
fn worker_of(warden: &WardenProgram) -> WorkerProgram {
    match warden {
        WardenProgram::ThisProgram | WardenProgram::Forked(_) => WorkerProgram::CurrentExecutable,
        WardenProgram::At(path) => WorkerProgram::Program {
            path: path.clone(),
            arguments: vec![WORKER_ARGUMENT.to_owned()],
        },
    }
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
