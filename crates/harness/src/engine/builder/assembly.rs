//! From what a builder was given to an engine: its parts made one after the other, each as the
//! configuration wants it.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use ringfence_confine::account;
#[cfg(feature = "commands")]
use ringfence_jail::net::Terminator;
use ringfence_jail::{Jail, JailOptions, SearchPath};
use ringfence_policy::Ground;
use ringfence_policy::judge::Escalation;
use ringfence_policy::permissions::{SandboxMode, SandboxPolicy};
use ringfence_policy::ruleset::RuleSet;

use super::EngineBuilder;
use crate::approval::{Approver, Chain, Scripted};
use crate::audit::{self, AuditFolders, AuditLog, Redactor, SessionId, SystemClock, Upkeep};
use crate::caches::{OpenCaches, Whose};
use crate::config::{Backend, Config, Degraded};
use crate::engine::account::Accounts;
use crate::engine::own_secrets::OwnSecrets;
use crate::engine::{Desk, Engine, changeable};
use crate::environment::base_environment;
use crate::error::CallError;
use crate::event::{self, Event};
use crate::network;
#[cfg(feature = "commands")]
use crate::network::{Injections, SessionNetwork};
use crate::output::{Outputs, Retention};
#[cfg(feature = "commands")]
use crate::registry::{Registry, RegistryLimits};
#[cfg(feature = "scripts")]
use crate::script::Runtimes;
use crate::search::Catalogue;
use crate::shell::{detect_shell, owned_by_the_user};
use crate::state;

impl EngineBuilder {
    /// Opens the engine.
    pub fn open(mut self) -> Result<Engine, CallError> {
        let opening = Instant::now();
        refuse_what_is_not_there(&self.config)?;
        let variable = |name: &str| self.environment.get(name).cloned();
        let home = variable("HOME").filter(|home| home.starts_with('/'));
        let home = self.home.take().or(home.map(PathBuf::from));
        #[cfg(feature = "scripts")]
        let runtimes = Runtimes::new(&self.warden, variable("TZ"));
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
        let own_secrets = OwnSecrets::of(&self.secret_variables, &self.environment);
        let audit = self.audit_log(&own_secrets)?;
        self.private.push(state.clone());
        self.private.extend(self.config.audit.dir.clone());
        self.keep_keys();
        let mut sandbox = self.sandbox(home.as_deref());
        #[cfg(feature = "commands")]
        let injections = Injections::read(&self.config.network, &self.environment)?;
        #[cfg(feature = "commands")]
        let terminator = network::terminator(&self.config.network, &self.environment)?;
        let jail = self.jail(
            &state,
            #[cfg(feature = "commands")]
            terminator.as_ref(),
        )?;
        let mut environment = base_environment(
            &self.config.environment,
            &self.environment,
            account::own_uid(),
            jail.uid(),
        );
        #[cfg(feature = "commands")]
        environment.retain(|name, _| !injections.uses(name));
        environment.retain(|name, value| !own_secrets.include(name, value));
        let caches = self.open_caches(home.as_deref(), jail.uid());
        sandbox.caches = caches.as_ref().map(|open| Arc::clone(&open.caches));
        let ground = Ground {
            cwd: self.workspace.clone(),
            workspace: self.workspace.clone(),
            home,
            writable: [sandbox.effective_writable_roots(), &[PathBuf::from("/tmp")]].concat(),
            readable: self.config.sandbox.readable(&sandbox),
            programs: Vec::new(),
        };
        owned_by_the_user(&shell, &changeable(&ground))?;
        self.rules.extend(self.config.bash.rules()?);
        let desk = Arc::new(self.desk(ground.clone(), sandbox, audit));
        self.record_start(&desk)?;
        #[cfg(feature = "commands")]
        let network = SessionNetwork::new(
            Arc::clone(&desk),
            &self.config.network,
            injections,
            terminator,
            &self.environment,
        );
        let tools = self.tools.enabling(&self.config.script.expose);
        let retention = Retention {
            age: Duration::from_secs(self.config.output.kept_hours.saturating_mul(3600)),
            bytes: self.config.output.kept_bytes,
        };
        let outputs = self.outputs.take();
        let outputs = outputs.map(|folder| Outputs::new(folder, state.join("outputs"), retention));
        let engine = Engine {
            #[cfg(feature = "commands")]
            network: Arc::new(network),
            ground,
            #[cfg(feature = "commands")]
            registry: Arc::new(Registry::new(registry_limits(&self.config))),
            config: self.config,
            shell,
            environment,
            own_secrets,
            login: tokio::sync::OnceCell::new(),
            #[cfg(feature = "scripts")]
            runtimes,
            desk,
            jail,
            journals: (!self.only_looks).then(|| state.join("patches")),
            catalogue: Catalogue::default(),
            processors: self.processors,
            tools,
            outputs: outputs.map(Arc::new),
            one_call: self.one_call,
            _caches: caches,
        };
        engine.recover_patches()?;
        engine.desk.tell(&Event::Opened {
            call: engine.desk.session_as_call(),
            took: opening.elapsed(),
        });
        Ok(engine)
    }

    /// How far commands reach.
    fn sandbox(&self, home: Option<&Path>) -> SandboxPolicy {
        let mut sandbox = self.config.sandbox.policy(&self.workspace, home);
        sandbox.denied_reads.extend(self.private.iter().cloned());
        let is_own = |path: &PathBuf| self.private.iter().any(|own| path.starts_with(own));
        sandbox.granted_reads.retain(|path| !is_own(path));
        // Where it lies in a writable root, nobody inside may make it one that can be listed.
        let outputs = self.outputs.as_ref().and_then(|own| own.parent());
        let roots = sandbox.effective_writable_roots();
        let outputs = outputs.filter(|path| roots.iter().any(|root| path.starts_with(root)));
        let outputs = outputs.map(Path::to_path_buf);
        sandbox.protected_paths.extend(outputs);
        // The caches of others are no more this workspace's than they are elsewhere.
        let roots = sandbox.effective_writable_roots();
        let caches = self.caches.as_ref();
        let caches = caches.filter(|path| roots.iter().any(|root| path.starts_with(root)));
        sandbox.protected_paths.extend(caches.cloned());
        sandbox.presets = network::presets_of(&self.config.network);
        sandbox
    }

    /// Keeps the keys of models from commands: their files, where a link leads too, and their variables, unless the configuration
    /// includes one by name.
    fn keep_keys(&mut self) {
        let model = &self.config.model;
        let files = [&model.openai_key_file, &model.anthropic_key_file];
        self.private.extend(files.into_iter().flatten().cloned());
        let real: Vec<PathBuf> = self
            .private
            .iter()
            .filter_map(|path| path.canonicalize().ok().filter(|real| real != path))
            .collect();
        self.private.extend(real);
        let names = [&model.openai_key_env, &model.anthropic_key_env];
        let excluded = &mut self.config.environment.exclude;
        excluded.extend(names.into_iter().cloned());
    }

    fn open_caches(&self, home: Option<&Path>, uid: u32) -> Option<OpenCaches> {
        let fenced = self.config.sandbox.mode == SandboxMode::WorkspaceWrite;
        if self.only_looks || !fenced {
            return None;
        }
        let whose = Whose {
            workspace: &self.workspace,
            home,
            environment: &self.environment,
            uid,
        };
        OpenCaches::open(&self.config.caches, self.caches.as_deref(), &whose)
    }

    /// The log that was handed over, or the one in the state folder.
    fn audit_log(&mut self, own: &OwnSecrets) -> Result<Option<AuditLog>, CallError> {
        if self.audit.is_some() {
            return Ok(self.audit.take());
        }
        match &self.state {
            Some(state) if self.config.audit.enabled && !self.only_looks => {
                let variables = self.environment.iter();
                let variables = variables.map(|(name, value)| (name.as_str(), value.as_str()));
                let secrets = Redactor::knowing_secrets_of(variables, own.values());
                let folders = AuditFolders::in_state(state, self.config.audit.dir.as_deref());
                let log = AuditLog::open(&folders, SystemClock)?.with_redactor(secrets);
                Ok(Some(log.with_upkeep(Upkeep::from(&self.config.audit))?))
            }
            _ => Ok(None),
        }
    }

    fn jail(
        &self,
        state: &Path,
        #[cfg(feature = "commands")] terminator: Option<&Terminator>,
    ) -> Result<Jail, CallError> {
        let search_path = self.environment.get("PATH");
        Ok(Jail::open(JailOptions {
            program: self.warden.clone(),
            workspace: self.workspace.clone(),
            degraded: match self.config.sandbox.degraded {
                Degraded::Refuse => ringfence_jail::Degraded::Refuse,
                Degraded::Allow => ringfence_jail::Degraded::Allow,
            },
            backend: self.config.sandbox.backend.choice(),
            container: self.config.sandbox.container(),
            programs: search_path.map_or_else(SearchPath::default, |path| SearchPath::of(path)),
            #[cfg(feature = "commands")]
            certificates: terminator.map(Terminator::bundle),
            #[cfg(not(feature = "commands"))]
            certificates: None,
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
            own_folders: self.private.clone(),
            search_path: self.environment.get("PATH").cloned(),
            approvals: Mutex::default(),
            audit,
            approver: one_of(std::mem::take(&mut self.approvers)),
            advisers: std::mem::take(&mut self.advisers),
            events: event::all(std::mem::take(&mut self.listeners)),
            session: SessionId(crate::identifier::random("ses")),
            calls: AtomicU64::new(0),
            turns: AtomicU64::new(0),
            accounts: Accounts::default(),
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

#[cfg(feature = "commands")]
fn registry_limits(config: &Config) -> RegistryLimits {
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    RegistryLimits {
        processes: count(config.process.max),
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
    if cfg!(not(feature = "commands")) && (expose.enable_http || expose.enable_spawn) {
        return Err(CallError::NotAvailable {
            setting: "script.expose.enable_http or enable_spawn = true",
            instead: "build the library with the feature `commands`, or leave them off",
        });
    }
    if expose.enable_mcp {
        return Err(CallError::NotAvailable {
            setting: "script.expose.enable_mcp = true",
            instead: "leave it off",
        });
    }
    Ok(())
}
