//! One thing that a command may do besides, inside the fence.
//!
//! Where the fence refused something, this is what is offered first: exactly that, and no more. It is granted once, for
//! the session, or as a rule that allows the command with it.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::ground::Ground;
use crate::permissions::{Network, SandboxMode, SandboxPolicy};
use crate::rule::{Grant, HostPattern};

/// One thing that a command may do besides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NarrowGrant {
    /// Write in a folder.
    Writable {
        /// Which. Absolute, with every link in it followed.
        path: PathBuf,
    },
    /// Read a file or folder that is denied.
    Readable {
        /// Which. Absolute, with every link in it followed.
        path: PathBuf,
    },
    /// Reach a host.
    Host {
        /// Which, and on which port if it is not one of the web's.
        #[serde(serialize_with = "as_text")]
        host: HostPattern,
    },
    /// Connect to a socket of the machine's.
    Socket {
        /// Where it is. Absolute, with every link in it followed.
        path: PathBuf,
    },
    /// Change what is protected in the workspace.
    Unprotected {
        /// As the list of protected paths names it.
        path: PathBuf,
    },
    /// Use the machine's network as it is.
    Network,
}

fn as_text<S: serde::Serializer>(host: &HostPattern, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(host)
}

impl NarrowGrant {
    /// Lets a fence reach as far as this besides.
    pub fn widen(&self, sandbox: &mut SandboxPolicy) {
        match self {
            Self::Unprotected { path } => {
                let other = |known: &PathBuf| known != path;
                sandbox.protected_paths.retain(other);
                sandbox.watched_paths.retain(other);
            }
            Self::Network => sandbox.network = Network::Full,
            kept => kept.in_a_rule().unwrap_or_default().widen(sandbox),
        }
    }

    /// The same as what a rule grants; nothing for what no rule does.
    pub fn in_a_rule(&self) -> Option<Grant> {
        let none = Grant::default();
        Some(match self {
            Self::Writable { path } => Grant {
                writable: vec![path.clone()],
                ..none
            },
            Self::Readable { path } => Grant {
                readable: vec![path.clone()],
                ..none
            },
            Self::Socket { path } => Grant {
                sockets: vec![path.clone()],
                ..none
            },
            Self::Host { host } => Grant {
                hosts: vec![host.clone()],
                ..none
            },
            Self::Unprotected { .. } | Self::Network => return None,
        })
    }

    /// What all of these are as what a rule grants; nothing if no rule grants one of them.
    pub fn all_in_a_rule(grants: &[Self]) -> Option<Grant> {
        let mut all = Grant::default();
        for grant in grants {
            all.add(&grant.in_a_rule()?);
        }
        Some(all)
    }

    /// Whether it lets a command at what is worth more than itself: secrets, and what acts outside the fence for whoever
    /// reaches it. A yes to that is kept for what nobody can change meanwhile, and for nothing else.
    pub fn is_grave(&self) -> bool {
        match self {
            Self::Readable { .. }
            | Self::Socket { .. }
            | Self::Unprotected { .. }
            | Self::Network => true,
            Self::Writable { .. } | Self::Host { .. } => false,
        }
    }

    /// The flag of the command line that grants it.
    pub fn flag(&self) -> String {
        match self {
            Self::Writable { path } => format!("--writable {}", path.display()),
            Self::Readable { path } => format!("--allow-read {}", path.display()),
            Self::Host { host } => format!("--allow-host {host}"),
            Self::Socket { path } => format!("--allow-socket {}", path.display()),
            Self::Unprotected { path } => {
                format!("`sandbox.unprotected_paths = [\"{}\"]`", path.display())
            }
            Self::Network => "--network full".to_owned(),
        }
    }
}

impl fmt::Display for NarrowGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Writable { path } => write!(f, "write in {}", path.display()),
            Self::Readable { path } => write!(f, "read {}", path.display()),
            Self::Host { host } => write!(f, "reach {host}"),
            Self::Socket { path } => write!(
                f,
                "connect to {}, and have done what is done for those who do",
                path.display()
            ),
            Self::Unprotected { path } => write!(
                f,
                "change {}, which can run code outside the fence",
                path.display()
            ),
            Self::Network => f.write_str("use the whole network of this machine"),
        }
    }
}

impl Grant {
    /// Adds what another grants inside the fence.
    pub(crate) fn add(&mut self, other: &Self) {
        add_new(&mut self.writable, &other.writable);
        add_new(&mut self.readable, &other.readable);
        add_new(&mut self.sockets, &other.sockets);
        add_new(&mut self.hosts, &other.hosts);
        add_new(&mut self.presets, &other.presets);
    }

    /// Takes away what another does not grant.
    pub(crate) fn keep_common(&mut self, other: &Self) {
        self.writable.retain(|path| other.writable.contains(path));
        self.readable.retain(|path| other.readable.contains(path));
        self.sockets.retain(|path| other.sockets.contains(path));
        self.hosts.retain(|host| other.hosts.contains(host));
        self.presets.retain(|preset| other.presets.contains(preset));
    }

    /// The same with `~/` at the beginning of a path as the home folder that it stands for.
    pub(crate) fn below_home(&self, ground: &Ground) -> Self {
        let mut grant = self.clone();
        let lists = [&mut grant.writable, &mut grant.readable, &mut grant.sockets];
        for path in lists.into_iter().flatten() {
            if let (Ok(below), Some(home)) = (path.strip_prefix("~"), &ground.home) {
                *path = home.join(below);
            }
        }
        grant
    }

    /// Whether it lets a command at secrets or sockets.
    pub(crate) fn is_grave(&self) -> bool {
        !self.readable.is_empty() || !self.sockets.is_empty()
    }

    /// Lets a fence reach as far as this besides. On which side of it the command runs is not decided here.
    pub(crate) fn widen(&self, sandbox: &mut SandboxPolicy) {
        if !self.writable.is_empty() {
            if sandbox.mode == SandboxMode::ReadOnly {
                sandbox.writable_roots.clear();
            }
            sandbox.mode = SandboxMode::WorkspaceWrite;
            add_new(&mut sandbox.writable_roots, &self.writable);
        }
        add_new(&mut sandbox.granted_reads, &self.readable);
        add_new(&mut sandbox.unix_sockets, &self.sockets);
        for paths in [&self.writable, &self.readable, &self.sockets] {
            add_new(&mut sandbox.granted_paths, paths);
        }
        if !self.hosts.is_empty() || !self.presets.is_empty() {
            let of_presets = self.presets.iter().flat_map(|preset| preset.patterns());
            let hosts = self.hosts.iter().cloned().chain(of_presets);
            sandbox.granted_hosts.extend(hosts);
            sandbox.presets.extend(&self.presets);
            if sandbox.network == Network::Off {
                sandbox.network = Network::AllowList;
            }
        }
    }
}

fn add_new<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for new in from {
        if !to.contains(new) {
            to.push(new.clone());
        }
    }
}
