//! An engine in the making: what a program that embeds the library hands over, and what holds
//! where it hands over nothing.

mod assembly;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ringfence_jail::{Launches, WardenProgram};
use ringfence_policy::command_line::Shell;
use ringfence_policy::ruleset::RuleSet;

use super::advisers::Advisers;
use crate::approval::Approver;
use crate::audit::AuditLog;
use crate::classifier::Classifier;
use crate::config::Config;
use crate::event::Listener;
use crate::output::OutputProcessor;
use crate::permission_layer::PermissionLayer;
use crate::tools::ToolSet;

/// An engine in the making. Made by [`Engine::builder`](crate::Engine::builder), used up by [`open`](Self::open).
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
    caches: Option<PathBuf>,
    approvers: Vec<Arc<dyn Approver>>,
    listeners: Vec<Arc<dyn Listener>>,
    advisers: Advisers,
    processors: Vec<Arc<dyn OutputProcessor>>,
    tools: ToolSet,
    warden: WardenProgram,
    private: Vec<PathBuf>,
    secret_variables: Vec<String>,
    launches: Launches,
    front: &'static str,
    only_looks: bool,
    one_call: bool,
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
            caches: None,
            approvers: Vec::new(),
            listeners: Vec::new(),
            advisers: Advisers::default(),
            processors: Vec::new(),
            tools: ToolSet::built_in(),
            warden: WardenProgram::ThisProgram,
            private: Vec::new(),
            secret_variables: Vec::new(),
            launches: Launches::Many,
            front: "library",
            only_looks: false,
            one_call: false,
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

    /// The folder that this engine alone writes long outputs to. It outlives the engine, for as long as
    /// `output.kept_hours` and `output.kept_bytes` say.
    /// Commands can read files in it by their names. Without one a long output is cut.
    pub fn outputs(mut self, folder: impl Into<PathBuf>) -> Self {
        self.outputs = Some(folder.into());
        self
    }

    /// The folder in which package managers inside the fence keep what they download, for each workspace apart, and which all
    /// engines of a user may share. Nothing outside the fence should look there. Without one they keep it in the session's `/tmp`.
    pub fn caches(mut self, folder: impl Into<PathBuf>) -> Self {
        self.caches = Some(folder.into());
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

    /// A folder or a file of the program's own that commands may neither read nor write, and that nobody can grant them. Where it
    /// is a link, so is what it leads to.
    pub fn private(mut self, path: impl Into<PathBuf>) -> Self {
        self.private.push(path.into());
        self
    }

    /// A variable with a secret of the program's own, such as the key of a model: commands get neither it nor what it holds
    /// under another name, whatever the configuration says. Nor does the audit log.
    pub fn secret_variable(mut self, name: impl Into<String>) -> Self {
        self.secret_variables.push(name.into());
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

    /// An engine for one call alone: what would have to outlive that is refused.
    pub fn for_one_call(mut self) -> Self {
        self.one_call = true;
        self
    }

    /// An engine that only [checks](crate::Engine::check): it keeps no log and finishes no patch of others.
    pub fn to_look(mut self) -> Self {
        self.only_looks = true;
        self
    }
}
