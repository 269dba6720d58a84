//! The layers that a person can write: files, variables and flags, each read into entries that
//! know where they stand.

mod file;
mod fit;
mod flat;

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::error::{ConfigError, nearest};
use super::key::Key;
use super::origin::Origin;
use super::settings::keys;
use super::value::Value;

pub(super) use file::{file, text};
pub use flat::RESERVED_VARIABLES;
pub(super) use flat::{environment, flags};

/// Where settings may come from. Files that do not exist are layers that say nothing.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The system's file.
    pub system: Option<PathBuf>,
    /// The user's file.
    pub user: Option<PathBuf>,
    /// What the projects that the workspace is in bring, the outermost first.
    pub projects: Vec<ProjectLayer>,
    /// The workspace, absolute: what a project may write, and where the relative paths of
    /// variables and flags start.
    pub workspace: PathBuf,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// The environment; only names that begin with `RINGFENCE` matter.
    pub environment: BTreeMap<String, String>,
    /// What was given on the command line, in that order.
    pub flags: Vec<FlagValue>,
}

/// Whether the user trusts what the project brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// It may tighten, not loosen.
    #[default]
    Untrusted,
    /// It counts like the user's own.
    Trusted,
}

/// The configuration of a project, as it was read when its trust was looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectLayer {
    /// The file.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
    /// Whether the user trusts what it brings.
    pub trust: Trust,
}

/// A flag and what it sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagValue {
    /// The flag as the user wrote it, such as `--sandbox`.
    pub flag: String,
    /// The key that it sets, such as `sandbox.mode`.
    pub key: &'static str,
    /// The value.
    pub value: Value,
}

/// One setting of a layer.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: &'static Key,
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// What is wrong is collected, so that a person sees all of it at once.
type Errors = Vec<ConfigError>;

/// The nearest name, first among those that stand in the same section.
fn suggest_path(path: &str) -> Option<String> {
    if let Some((section, name)) = path.rsplit_once('.') {
        let beside = keys()
            .iter()
            .filter(|key| key.section == section)
            .map(|key| key.name);
        if let Some(name) = nearest(name, beside) {
            return Some(format!("{section}.{name}"));
        }
    }
    let paths: Vec<String> = keys()
        .iter()
        .flat_map(|key| [key.path(), key.section.to_owned()])
        .collect();
    nearest(path, paths.iter().map(String::as_str)).or_else(|| {
        // The right name without its section, or in the wrong one.
        let name = path.rsplit('.').next()?;
        keys()
            .iter()
            .find(|key| key.name == name)
            .map(|key| key.path())
    })
}
