//! How far a command may reach: the file system and the network as the fence shows them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::preset::{Caches, Place, Preset};
use crate::rule::HostPattern;
use crate::sensitive::path::{self, Base, Writing};

/// The four sandbox policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SandboxMode {
    /// Read anywhere (but for denied reads), write nowhere, no network.
    ReadOnly,
    /// Read anywhere (but for denied reads), write in the workspace and the writable roots.
    WorkspaceWrite,
    /// No fence at all.
    DangerFullAccess,
    /// Somebody else's fence is around us; we add none.
    ExternalSandbox,
}

impl SandboxMode {
    /// Every mode, from the tightest to the loosest.
    pub const ALL: [Self; 4] = [
        Self::ReadOnly,
        Self::WorkspaceWrite,
        Self::ExternalSandbox,
        Self::DangerFullAccess,
    ];

    /// The name used in configuration and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
            Self::ExternalSandbox => "external-sandbox",
        }
    }

    /// Whether Ringfence puts a fence of its own around the command.
    pub const fn is_fenced(self) -> bool {
        matches!(self, Self::ReadOnly | Self::WorkspaceWrite)
    }
}

impl fmt::Display for SandboxMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SandboxMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or_else(|| {
                format!(
                    "`{text}` is not one of read-only, workspace-write, danger-full-access, \
                 external-sandbox"
                )
            })
    }
}

/// What of the network a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// A loopback of the session's own and nothing else.
    Off,
    /// Hosts that the rules allow, through the filtering proxy.
    AllowList,
    /// The machine's network as it is.
    Full,
}

impl Network {
    /// Every setting, from the tightest to the loosest.
    pub const ALL: [Self; 3] = [Self::Off, Self::AllowList, Self::Full];

    /// The name used in configuration and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::AllowList => "allow-list",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|network| network.name() == text)
            .ok_or_else(|| format!("`{text}` is not one of off, allow-list, full"))
    }
}

/// Which `/tmp` a command sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TmpPolicy {
    /// A `/tmp` that belongs to the session and goes with it.
    Private,
    /// The machine's `/tmp`, writable.
    Host,
}

/// Which calls of a command are looked at before they are made, so that a refusal is known for
/// certain. Nothing is allowed or refused by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lookout {
    /// None.
    Off,
    /// Connections.
    Connections,
    /// Connections, and whatever opens, makes, moves or removes files.
    Writes,
}

/// The whole reach of a command. Paths are absolute, but for `protected_paths`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxPolicy {
    /// Which of the four policies.
    pub mode: SandboxMode,
    /// The workspace and whatever else may be written (ignored by `read-only`).
    pub writable_roots: Vec<PathBuf>,
    /// Files and folders that cannot be read, whatever else allows it.
    pub denied_reads: Vec<PathBuf>,
    /// Files and folders that can be read although those lists deny them, or a folder around them.
    #[serde(default)]
    pub granted_reads: Vec<PathBuf>,
    /// Paths that cannot be changed, existing or not: relative ones inside every writable root,
    /// absolute ones as they are.
    pub protected_paths: Vec<PathBuf>,
    /// Paths that cannot be changed where they exist, and that are set aside at the end of a run that
    /// made them: relative ones at the top of every writable root, absolute ones as they are.
    #[serde(default)]
    pub watched_paths: Vec<PathBuf>,
    /// What of the network is there.
    pub network: Network,
    /// Hosts that a rule about the command itself lets it reach.
    #[serde(skip)]
    pub granted_hosts: Vec<HostPattern>,
    /// Package managers whose hosts can be reached.
    #[serde(skip)]
    pub presets: Vec<&'static Preset>,
    /// Where package managers keep what they download; nowhere of their own if absent.
    #[serde(skip)]
    pub caches: Option<Arc<Caches>>,
    /// Sockets of the machine's, by their paths, that can be connected to.
    pub unix_sockets: Vec<PathBuf>,
    /// Those of all these paths that were granted by a rule or an answer: as they are, and not where a link leads that came later.
    #[serde(skip)]
    pub granted_paths: Vec<PathBuf>,
    /// Which `/tmp` is there.
    pub tmp: TmpPolicy,
    /// Which calls are looked at.
    pub lookout: Lookout,
}

impl SandboxPolicy {
    /// A policy of this mode with no roots yet, the default protections and no network.
    pub fn new(mode: SandboxMode) -> Self {
        Self {
            mode,
            writable_roots: Vec::new(),
            denied_reads: Vec::new(),
            granted_reads: Vec::new(),
            protected_paths: path::protected_in_roots().map(PathBuf::from).collect(),
            watched_paths: path::kept(Base::Root, Writing::Watched)
                .map(PathBuf::from)
                .collect(),
            network: Network::Off,
            granted_hosts: Vec::new(),
            granted_paths: Vec::new(),
            presets: Vec::new(),
            caches: None,
            unix_sockets: Vec::new(),
            tmp: TmpPolicy::Private,
            lookout: Lookout::Connections,
        }
    }

    /// The default: write in this workspace, read elsewhere, no network.
    pub fn workspace_write(workspace: impl Into<PathBuf>) -> Self {
        Self {
            writable_roots: vec![workspace.into()],
            ..Self::new(SandboxMode::WorkspaceWrite)
        }
    }

    /// The folder of the caches that a command may write besides: nothing in it is protected, as nothing in it is ever run or
    /// read outside the fence.
    pub fn writable_cache(&self) -> Option<&Path> {
        match (&self.caches, self.mode) {
            (Some(caches), SandboxMode::WorkspaceWrite) => match &caches.place {
                Place::Kept(folder) => Some(folder),
                Place::Session(_) => None,
            },
            _ => None,
        }
    }

    /// What keeps a path from being read: an entry of the denied reads, unless it is granted.
    pub fn denied_read_around(&self, path: &Path) -> Option<&PathBuf> {
        let mut denied = self.denied_reads.iter();
        denied.find(|denied| {
            let lifts = |granted: &PathBuf| {
                granted.starts_with(denied.as_path()) && path.starts_with(granted)
            };
            path.starts_with(denied) && !self.granted_reads.iter().any(lifts)
        })
    }

    /// The folders that this policy really lets a command write to.
    pub fn effective_writable_roots(&self) -> &[PathBuf] {
        match self.mode {
            SandboxMode::WorkspaceWrite => &self.writable_roots,
            _ => &[],
        }
    }
}
