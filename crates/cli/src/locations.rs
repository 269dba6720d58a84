//! Where things live on the user's machine: the one place that knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ringfence::audit::AuditFolders;
use ringfence::config::{self, Config, FlagValue, Resolved, Sources, Trust};
use ringfence::policy::rule::Layer;
use ringfence::policy::ruleset::RuleSet;
use ringfence::project::{self, Project};
use ringfence::rules;
use ringfence::trust::TrustStore;

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
