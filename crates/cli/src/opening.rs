//! From flags, files and the environment to an open engine.
//!
//! This is the one place that knows where things live on the user's machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use ringfence::Engine;
use ringfence::approval::{Approver, Scripted};
use ringfence::audit::AuditPlace;
use ringfence::config::{self, Config, FlagValue, Resolved, ScriptMode, Sources, Trust, Value};
use ringfence::event::{self, Listener};
use ringfence::jail::{Launches, WardenProgram};
use ringfence::policy::rule::Layer;
use ringfence::policy::ruleset::RuleSet;
use ringfence::project::{self, Project};
use ringfence::rules;
use ringfence::trust::TrustStore;

use crate::arguments::{Approve, Common};
use crate::paint;
use crate::prompt::{SecondRuns, Session, TerminalApprover};

/// Where things live.
pub(crate) struct Places {
    /// The workspace.
    pub(crate) workspace: PathBuf,
    /// The user's home folder.
    pub(crate) home: Option<PathBuf>,
    /// The user's configuration and rules.
    pub(crate) config_home: Option<PathBuf>,
    /// The audit log and its key.
    pub(crate) state_home: Option<PathBuf>,
    /// Long outputs.
    pub(crate) cache_home: Option<PathBuf>,
    /// The environment.
    pub(crate) environment: BTreeMap<String, String>,
    /// The projects that the workspace is in, the outermost first, as they are now.
    pub(crate) projects: Vec<Project>,
}

impl Places {
    /// Looks them up.
    pub(crate) fn find(cwd: Option<&Path>) -> Result<Self> {
        let environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let folder = |name: &str| {
            environment
                .get(name)
                .filter(|value| value.starts_with('/'))
                .map(PathBuf::from)
        };
        let home = folder("HOME");
        let below = |own: &str, general: &str, usual: &str| {
            folder(own).or_else(|| {
                folder(general)
                    .or_else(|| home.as_ref().map(|home| home.join(usual)))
                    .map(|base| base.join("ringfence"))
            })
        };
        let asked = cwd.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
        let workspace = asked
            .canonicalize()
            .with_context(|| format!("the workspace {} cannot be used", asked.display()))?;
        let projects =
            Project::around(&workspace, home.as_deref()).with_context(|| hint(&workspace))?;
        Ok(Self {
            projects,
            config_home: below("RINGFENCE_CONFIG_HOME", "XDG_CONFIG_HOME", ".config"),
            state_home: below("RINGFENCE_STATE_HOME", "XDG_STATE_HOME", ".local/state"),
            cache_home: below("RINGFENCE_CACHE_HOME", "XDG_CACHE_HOME", ".cache"),
            workspace,
            home,
            environment,
        })
    }

    /// The configuration, of all layers.
    pub(crate) fn resolve(&self, flags: Vec<FlagValue>) -> Result<Resolved> {
        let resolved = config::resolve(&Sources {
            system: existing(PathBuf::from("/etc/ringfence/config.toml")),
            user: self
                .config_home
                .as_ref()
                .and_then(|home| existing(home.join("config.toml"))),
            projects: self.trust_store().layers(&self.projects)?,
            workspace: self.workspace.clone(),
            home: self.home.clone(),
            environment: self.environment.clone(),
            flags,
        })
        .map_err(|errors| {
            let of = |project: &&Project| {
                let file = project.path(project::CONFIG);
                errors.0.iter().any(|error| error.is_in(&file))
            };
            match self.projects.iter().find(of) {
                Some(project) => anyhow::Error::new(errors).context(hint(&project.root)),
                None => errors.into(),
            }
        })?;
        Ok(resolved)
    }

    /// The rules, of all layers.
    pub(crate) fn rules(&self) -> Result<RuleSet> {
        let files = [
            (
                Layer::Managed,
                Some(PathBuf::from("/etc/ringfence/rules.toml")),
            ),
            (Layer::User, self.user_rules()),
        ];
        let mut all = RuleSet::default();
        for (layer, path) in files {
            if let Some(path) = path {
                all.extend(rules::read(layer, &path)?);
            }
        }
        for project in &self.projects {
            let layer = match self.trust_store().trust(project)? {
                Trust::Trusted => Layer::Project,
                Trust::Untrusted => Layer::UntrustedProject,
            };
            let found = rules::of_project(layer, project, &self.workspace);
            all.extend(found.with_context(|| hint(&project.root))?);
        }
        Ok(all)
    }

    /// The user's own rules.
    pub(crate) fn user_rules(&self) -> Option<PathBuf> {
        self.config_home
            .as_ref()
            .map(|home| home.join("rules.toml"))
    }

    /// The projects that the user trusts: none where there is no place to remember them.
    pub(crate) fn trust_store(&self) -> TrustStore {
        let state = self.state_home.as_deref();
        state.map_or_else(TrustStore::nowhere, TrustStore::in_state)
    }

    /// Where sessions keep track of the names that they hold.
    pub(crate) fn marks(&self) -> Option<PathBuf> {
        self.state_home.as_ref().map(|state| state.join("marks"))
    }

    /// Where the audit log is.
    pub(crate) fn audit_place(&self, config: &Config) -> Result<AuditPlace> {
        let state = self.state_home.clone().context(
            "there is no place for the audit log: set HOME or RINGFENCE_STATE_HOME, or switch \
             it off with `audit.enabled = false`",
        )?;
        let dir = config.audit.dir.as_deref();
        Ok(AuditPlace::in_state(&state, dir))
    }
}

/// What to do about a project's files that are in the way. A command may have made them.
fn hint(root: &Path) -> String {
    let folder = root.join(project::FOLDER);
    format!(
        "what this project brings cannot be used; mend it, or remove it with `rm -r {}` if it is not \
         yours",
        folder.display()
    )
}

fn existing(path: PathBuf) -> Option<PathBuf> {
    path.exists().then_some(path)
}

/// The flags as values of the configuration.
pub(crate) fn flag_values(common: &Common) -> Result<Vec<FlagValue>> {
    let mut values = Vec::new();
    let mut text = |flag: &str, key: &'static str, value: Option<&String>| {
        values.extend(value.map(|value| FlagValue {
            flag: flag.to_owned(),
            key,
            value: Value::Text(value.clone()),
        }));
    };
    text("--sandbox", "sandbox.mode", common.sandbox.as_ref());
    text("--approval", "approval.policy", common.approval.as_ref());
    text("--network", "sandbox.network", common.network.as_ref());
    if !common.allow_host.is_empty() {
        values.push(FlagValue {
            flag: "--allow-host".to_owned(),
            key: "network.allow",
            value: Value::List(common.allow_host.clone()),
        });
        if common.network.is_none() {
            values.push(FlagValue {
                flag: "--allow-host".to_owned(),
                key: "sandbox.network",
                value: Value::Text("allow-list".to_owned()),
            });
        }
    }
    if !common.allow_socket.is_empty() {
        let mut sockets = Vec::new();
        for path in &common.allow_socket {
            let socket = path
                .canonicalize()
                .with_context(|| format!("--allow-socket {} cannot be used", path.display()))?;
            sockets.push(socket.display().to_string());
        }
        values.push(FlagValue {
            flag: "--allow-socket".to_owned(),
            key: "sandbox.unix_sockets",
            value: Value::List(sockets),
        });
    }
    if !common.writable.is_empty() {
        let mut roots = Vec::new();
        for path in &common.writable {
            let root = path
                .canonicalize()
                .with_context(|| format!("--writable {} cannot be used", path.display()))?;
            roots.push(root.display().to_string());
        }
        values.push(FlagValue {
            flag: "--writable".to_owned(),
            key: "sandbox.writable_roots",
            value: Value::List(roots),
        });
    }
    Ok(values)
}

/// Who runs commands here: how many there will be, and how soon the first. What may run does not
/// depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A person, who typed the command.
    Person,
    /// A model.
    Model,
}

/// Whether what happens is put on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    Yes,
    /// Nothing will happen.
    No,
}

/// Opens an engine.
pub(crate) fn open(common: &Common, caller: Caller, listener: Arc<dyn Listener>) -> Result<Engine> {
    open_with(common, caller, listener, Recorded::Yes)
}

/// Opens an engine that only looks: nothing is run or recorded.
pub(crate) fn open_to_look(common: &Common) -> Result<Engine> {
    open_with(common, Caller::Model, event::nowhere(), Recorded::No)
}

fn open_with(
    common: &Common,
    caller: Caller,
    listener: Arc<dyn Listener>,
    recorded: Recorded,
) -> Result<Engine> {
    // First, while there is little to copy; it gets ready while the rest is read.
    let warden = match (caller, recorded) {
        (Caller::Person, Recorded::Yes) => WardenProgram::fork_now(),
        _ => WardenProgram::ThisProgram,
    };
    let places = Places::find(common.cwd.as_deref())?;
    let resolved = places.resolve(flag_values(common)?)?;
    for refused in &resolved.refused {
        paint::remark(&refused.to_string());
    }
    let mut config = Config::from(&resolved);
    // Whoever starts this program is a person: scripts run unless they said otherwise.
    if resolved.is_default("script.mode") {
        config.script.mode = ScriptMode::Enabled;
    }
    let approver = approver(common.approve, config.approval.timeout, caller);
    let mut builder = Engine::builder(&places.workspace)
        .rules(places.rules()?)
        // A person's verb runs one command; a model's call may run many.
        .launches(match caller {
            Caller::Person => Launches::One,
            Caller::Model => Launches::Many,
        })
        .shared_approver(approver)
        .shared_listener(listener)
        .warden(warden)
        .front("cli");
    if recorded == Recorded::No {
        builder = builder.to_look();
    } else if config.audit.enabled {
        // There has to be a place for it.
        places.audit_place(&config)?;
    }
    builder = builder.config(config);
    if let Some(file) = places.user_rules() {
        builder = builder.rules_file(file);
    }
    if let Some(folder) = places.config_home {
        builder = builder.private(folder);
    }
    if let Some(folder) = places.state_home {
        builder = builder.state(folder);
    }
    if let Some(folder) = places.cache_home {
        // Whoever knows no name in it finds none.
        let name = ringfence::identifier::random("out");
        builder = builder.outputs(folder.join("outputs-by-name").join(name));
    }
    Ok(builder.environment(places.environment).open()?)
}

fn approver(approve: Approve, patience: Duration, caller: Caller) -> Arc<dyn Approver> {
    let session = match caller {
        Caller::Person => Session::OneCommand,
        Caller::Model => Session::ManyCalls,
    };
    let asks: Arc<dyn Approver> = match approve {
        Approve::All => Arc::new(Scripted::ApproveAll),
        Approve::None => Arc::new(Scripted::DenyAll {
            message: "--approve none says no to everything".into(),
        }),
        Approve::Ask => Arc::new(TerminalApprover::new(patience, session)),
    };
    match caller {
        // The command reads what we were given to read.
        Caller::Person => Arc::new(SecondRuns::asking(asks)),
        Caller::Model => asks,
    }
}
