//! What builds a fence: one file per backend, and the choice between them.
//!
//! Every backend brings a warden up somewhere and gives back a `Line` to it;
//! from there on all of them are the same. `seatbelt` is the exception: it only writes a profile.

pub(crate) mod bubblewrap;
pub(crate) mod container;
pub mod guarantee;
mod holder;
pub(crate) mod native;
mod search_path;
pub mod seatbelt;

use std::fmt;
use std::path::PathBuf;

use crate::error::LaunchError;
use crate::jail::JailOptions;
use crate::line::Line;
use crate::plan;
use crate::process::Grouping;
use crate::warden::protocol::{Boot, Identity, RawPath, RunFolder, World};
use container::spec::Spec;

pub use container::{ContainerEngine, ContainerOptions};
pub use holder::Holder;
pub use search_path::SearchPath;

/// What builds a fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The kernel's own means.
    Native,
    /// The system's `bwrap`.
    Bubblewrap,
    /// Docker or Podman.
    Container,
    /// Nothing: only for policies without a fence.
    None,
}

impl Backend {
    /// Its name, in configuration and in `RINGFENCE_SANDBOX`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Bubblewrap => "bubblewrap",
            Self::Container => "container",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which backend a session uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The first of native and bubblewrap that can enforce the whole policy. A container is another
    /// file system with other programs in it: that is never chosen for somebody.
    Auto,
    /// This one.
    Only(Backend),
}

impl Choice {
    /// The backends to try, best first.
    pub(crate) const fn candidates(self) -> &'static [Backend] {
        match self {
            Self::Auto => &[Backend::Native, Backend::Bubblewrap],
            Self::Only(Backend::Native) => &[Backend::Native],
            Self::Only(Backend::Bubblewrap) => &[Backend::Bubblewrap],
            Self::Only(Backend::Container) => &[Backend::Container],
            Self::Only(Backend::None) => &[],
        }
    }
}

/// Where runs of a session live. Those that have the same site share a warden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Site {
    Native(World),
    Bubblewrap { bwrap: PathBuf, world: World },
    Container(Box<Spec>),
}

impl Site {
    pub(crate) const fn backend(&self) -> Backend {
        match self {
            Self::Native(_) => Backend::Native,
            Self::Bubblewrap { .. } => Backend::Bubblewrap,
            Self::Container(_) => Backend::Container,
        }
    }

    /// What holds the processes of a run there together.
    pub(crate) const fn grouping(&self) -> Grouping {
        match self {
            Self::Native(World::Namespaces { .. }) | Self::Bubblewrap { .. } => Grouping::Namespace,
            Self::Native(_) | Self::Container(_) => Grouping::Descent,
        }
    }

    /// Brings up a warden there.
    pub(crate) async fn open(
        &self,
        options: &JailOptions,
        identity: &Identity,
    ) -> Result<Line, LaunchError> {
        let mut run_folder = RunFolder {
            certificates: options.certificates.clone(),
            sockets: Vec::new(),
        };
        for path in &options.unix_sockets {
            let path = plan::resolved(path)?;
            if path.starts_with("/run") {
                run_folder.sockets.push(RawPath::from(path.as_path()));
            }
        }
        let boot = |world: &World| Boot {
            world: world.clone(),
            identity: identity.clone(),
            run_folder: run_folder.clone(),
            marks: options.marks.as_deref().map(RawPath::from),
            workspace: RawPath::from(options.workspace.as_path()),
            harness: std::process::id(),
        };
        let program = &options.program;
        match self {
            Self::Native(world) => native::open(program, &boot(world)).await,
            Self::Bubblewrap { bwrap, world } => {
                bubblewrap::open(program, bwrap, &boot(world)).await
            }
            Self::Container(spec) => {
                let boot = boot(&World::Container);
                container::open(options, spec, &boot).await
            }
        }
    }
}
