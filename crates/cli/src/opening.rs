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
use ringfence::audit::AuditFolders;
use ringfence::config::{self, Config, FlagValue, Resolved, ScriptMode, Sources, Trust, Value};
use ringfence::event::{self, Listener};
use ringfence::jail::{Launches, WardenProgram};
use ringfence::policy::rule::Layer;
use ringfence::policy::ruleset::RuleSet;
use ringfence::project::{self, Project};
use ringfence::rules;
use ringfence::trust::TrustStore;
use ringfence_protocol::Parts;

use crate::arguments::{Approve, Common};
use crate::own_secrets::OwnSecrets;
use crate::paint;
use crate::prompt::{SecondRuns, SessionLength, TerminalApprover};
use crate::telemetry;

/// Where things live.
pub(crate) struct Locations {
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

impl Locations {
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
    pub(crate) fn audit_folders(&self, config: &Config) -> Result<AuditFolders> {
        let state = self.state_home.clone().context(
            "there is no place for the audit log: set HOME or RINGFENCE_STATE_HOME, or switch \
             it off with `audit.enabled = false`",
        )?;
        let dir = config.audit.dir.as_deref();
        Ok(AuditFolders::in_state(&state, dir))
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
    for (flag, key, listed) in [
        ("--allow-host", "network.allow", &common.allow_host),
        ("--preset", "network.presets", &common.preset),
    ] {
        if listed.is_empty() {
            continue;
        }
        values.push(FlagValue {
            flag: flag.to_owned(),
            key,
            value: Value::List(listed.clone()),
        });
        if common.network.is_none() {
            values.push(FlagValue {
                flag: flag.to_owned(),
                key: "sandbox.network",
                value: Value::Text("allow-list".to_owned()),
            });
        }
    }
    for (flag, key, paths) in [
        (
            "--allow-socket",
            "sandbox.unix_sockets",
            &common.allow_socket,
        ),
        ("--writable", "sandbox.writable_roots", &common.writable),
        ("--allow-read", "sandbox.allowed_reads", &common.allow_read),
    ] {
        if !paths.is_empty() {
            let value = Value::List(real_paths(flag, paths)?);
            let flag = flag.to_owned();
            values.push(FlagValue { flag, key, value });
        }
    }
    values.extend(variables(&common.env)?);
    values.extend(common.limits.given().map(|(flag, key, value)| FlagValue {
        flag: flag.to_owned(),
        key,
        value: Value::Number(value),
    }));
    Ok(values)
}

/// Paths with every link in them followed.
fn real_paths(flag: &str, paths: &[PathBuf]) -> Result<Vec<String>> {
    let real = paths.iter().map(|path| {
        let real = path.canonicalize();
        let real = real.with_context(|| format!("{flag} {} cannot be used", path.display()))?;
        Ok(real.display().to_string())
    });
    real.collect()
}

/// Variables that are passed on, and those that are set.
fn variables(written: &[String]) -> Result<Vec<FlagValue>> {
    let (mut passed, mut set) = (Vec::new(), BTreeMap::new());
    for written in written {
        let (name, value) = match written.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (written.as_str(), None),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            anyhow::bail!("--env {written} cannot be used: write NAME or NAME=VALUE");
        }
        match value {
            Some(value) => {
                set.insert(name.to_owned(), value.to_owned());
            }
            None if std::env::var_os(name).is_none() => {
                anyhow::bail!("--env {name} cannot be used: there is no such variable here")
            }
            None => passed.push(name.to_owned()),
        }
    }
    let flag = || "--env".to_owned();
    let mut values = Vec::new();
    if !passed.is_empty() {
        values.push(FlagValue {
            flag: flag(),
            key: "environment.include",
            value: Value::List(passed),
        });
    }
    if !set.is_empty() {
        values.push(FlagValue {
            flag: flag(),
            key: "environment.set",
            value: Value::Table(set),
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
    /// A model, with one call and no other.
    OneCall,
}

/// Whether what happens is put on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Recorded {
    Yes,
    /// Nothing will happen.
    No,
}

/// What the flags, the files and the environment come to.
pub(crate) fn settings(common: &Common) -> Result<(Config, BTreeMap<String, String>)> {
    let locations = Locations::find(common.cwd.as_deref())?;
    let resolved = locations.resolve(flag_values(common)?)?;
    Ok((Config::from(&resolved), locations.environment))
}

/// Opens an engine.
pub(crate) fn open(common: &Common, caller: Caller, listener: Arc<dyn Listener>) -> Result<Engine> {
    open_keeping(common, caller, listener, &OwnSecrets::default())
}

/// Opens an engine whose commands do not get to see these secrets.
pub(crate) fn open_keeping(
    common: &Common,
    caller: Caller,
    listener: Arc<dyn Listener>,
    secrets: &OwnSecrets,
) -> Result<Engine> {
    open_with(common, caller, listener, Recorded::Yes, secrets)
}

/// Opens an engine that only looks: nothing is run or recorded.
pub(crate) fn open_to_look(common: &Common) -> Result<Engine> {
    let secrets = OwnSecrets::default();
    open_with(
        common,
        Caller::Model,
        event::nowhere(),
        Recorded::No,
        &secrets,
    )
}

/// Opens an engine for a client that answers questions itself, unless a flag says who does.
pub(crate) fn open_for_client(
    common: &Common,
    workspace: Option<&Path>,
    options: Vec<FlagValue>,
    parts: Parts,
    secrets: &OwnSecrets,
) -> Result<Engine> {
    let mut flags = flag_values(common)?;
    flags.extend(options);
    assemble(Assembly {
        cwd: workspace.or(common.cwd.as_deref()),
        flags,
        caller: Caller::Model,
        approver: Box::new(|patience| match common.approve {
            Approve::Ask => parts.approver,
            said => approver(said, patience, Caller::Model),
        }),
        listener: parts.listener,
        recorded: Recorded::Yes,
        secrets,
    })
}

fn open_with(
    common: &Common,
    caller: Caller,
    listener: Arc<dyn Listener>,
    recorded: Recorded,
    secrets: &OwnSecrets,
) -> Result<Engine> {
    assemble(Assembly {
        cwd: common.cwd.as_deref(),
        flags: flag_values(common)?,
        caller,
        approver: Box::new(|patience| approver(common.approve, patience, caller)),
        listener,
        recorded,
        secrets,
    })
}

/// What an engine is put together from, besides the machine's files.
struct Assembly<'a> {
    cwd: Option<&'a Path>,
    flags: Vec<FlagValue>,
    caller: Caller,
    /// Who is asked, given how long a question waits.
    approver: Box<dyn FnOnce(Duration) -> Arc<dyn Approver> + 'a>,
    listener: Arc<dyn Listener>,
    recorded: Recorded,
    /// What commands do not get to see.
    secrets: &'a OwnSecrets,
}

fn assemble(assembly: Assembly<'_>) -> Result<Engine> {
    let Assembly {
        cwd,
        flags,
        caller,
        approver,
        listener,
        recorded,
        secrets,
    } = assembly;
    // First, while there is little to copy; it gets ready while the rest is read.
    let warden = match (caller, recorded) {
        (Caller::Person, Recorded::Yes) => WardenProgram::fork_now(),
        _ => WardenProgram::ThisProgram,
    };
    let locations = Locations::find(cwd)?;
    let resolved = locations.resolve(flags)?;
    for refused in &resolved.refused {
        paint::remark(&refused.to_string());
    }
    let mut config = Config::from(&resolved);
    // Whoever starts this program is a person: scripts run unless they said otherwise.
    if resolved.is_default("script.mode") {
        config.script.mode = ScriptMode::Enabled;
    }
    let approver = approver(config.approval.timeout);
    let measured = match recorded {
        Recorded::Yes => telemetry::listener(&config, &locations.environment, secrets),
        Recorded::No => None,
    };
    let mut builder = Engine::builder(&locations.workspace)
        .rules(locations.rules()?)
        // A person's verb runs one command; a model's call may run many.
        .launches(match caller {
            Caller::Person => Launches::One,
            Caller::Model | Caller::OneCall => Launches::Many,
        })
        .shared_approver(approver)
        .shared_listener(listener)
        .warden(warden)
        .front("cli");
    if let Some(measured) = measured {
        builder = builder.shared_listener(measured);
    }
    if caller == Caller::OneCall {
        builder = builder.for_one_call();
    }
    if recorded == Recorded::No {
        builder = builder.to_look();
    } else if config.audit.enabled {
        // There has to be a place for it.
        locations.audit_folders(&config)?;
    }
    builder = secrets.kept_by(builder.config(config));
    if let Some(file) = locations.user_rules() {
        builder = builder.rules_file(file);
    }
    if let Some(folder) = locations.config_home {
        builder = builder.private(folder);
    }
    if let Some(folder) = locations.state_home {
        builder = builder.state(folder);
    }
    if let Some(folder) = locations.cache_home {
        // Whoever knows no name in it finds none.
        let name = ringfence::identifier::random("out");
        builder = builder
            .outputs(folder.join("outputs-by-name").join(name))
            .caches(folder.join("caches"));
    }
    Ok(builder.environment(locations.environment).open()?)
}

fn approver(approve: Approve, patience: Duration, caller: Caller) -> Arc<dyn Approver> {
    let session = match caller {
        Caller::Person => SessionLength::OneCommand,
        Caller::Model | Caller::OneCall => SessionLength::ManyCalls,
    };
    let asks: Arc<dyn Approver> = match approve {
        Approve::All => Arc::new(Scripted::ApproveAll),
        Approve::AllUnfenced => Arc::new(Scripted::ApproveAllUnfenced),
        Approve::None => Arc::new(Scripted::DenyAll {
            message: "--approve none says no to everything".into(),
        }),
        Approve::Ask => Arc::new(TerminalApprover::new(patience, session)),
    };
    match caller {
        // The command reads what we were given to read.
        Caller::Person => Arc::new(SecondRuns::asking(asks)),
        Caller::Model | Caller::OneCall => asks,
    }
}
