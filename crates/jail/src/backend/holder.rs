//! What really holds a run, as replies and the audit log name it.

use std::fmt;

use super::{ContainerEngine, Site};
use crate::warden::protocol::World;

/// What holds a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Holder {
    /// The kernel's own means, whole.
    Native,
    /// The kernel's own means without namespaces.
    Degraded,
    /// The system's `bwrap`.
    Bubblewrap,
    /// A container of this engine's.
    Container(Option<ContainerEngine>),
    /// Nothing.
    Nothing,
}

impl Holder {
    /// What holds a run at a site, within a fence or without one.
    pub(crate) const fn at(site: &Site, is_fenced: bool, engine: Option<ContainerEngine>) -> Self {
        match site {
            _ if !is_fenced => Self::Nothing,
            Site::Native(World::Namespaces { .. }) => Self::Native,
            Site::Native(_) => Self::Degraded,
            Site::Bubblewrap { .. } => Self::Bubblewrap,
            Site::Container(_) => Self::Container(engine),
        }
    }

    /// The name used on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Degraded => "native degraded",
            Self::Bubblewrap => "bubblewrap",
            Self::Container(Some(ContainerEngine::Podman)) => "container podman",
            Self::Container(Some(ContainerEngine::Docker)) => "container docker",
            Self::Container(None) => "container",
            Self::Nothing => "none",
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
