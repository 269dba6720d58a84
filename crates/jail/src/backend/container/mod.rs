//! The container backend: one container per session, with a warden as its first process.
//!
//! The engine (Docker or Podman) makes the namespaces, the mounts and the bounds of the whole
//! container; the warden in it forks commands and confines them with Landlock, seccomp and rlimits
//! as everywhere else. No engine is asked per command: a launch costs what it costs natively.
//!
//! The container ends with its first process, and that one ends with the line to the harness,
//! however the harness ends; a `janitor` then has the engine remove it, and releases the marks that
//! it was made with: those are held for the session. What is left even so, after a power failure, is
//! swept away by the next session.

mod arguments;
mod bundle;
mod engine;
pub(crate) mod janitor;
pub(crate) mod spec;
mod trace;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use ringfence_confine::descriptor;
use rustix::process::PidfdFlags;

use crate::backend::SearchPath;
use crate::error::LaunchError;
use crate::jail::JailOptions;
use crate::line::{Farewell, Keeper, Line, WardenProgram, gone_within, nonblocking};
use crate::standing::Standing;
use crate::warden::protocol::{Boot, RawPath};
use bundle::Bundle;
pub use engine::ContainerEngine;
use engine::Found;
use janitor::Janitor;
use spec::Spec;
use trace::Trace;

/// How the container backend works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerOptions {
    /// The image that the container is made of.
    pub image: String,
    /// The engine; whichever answers if absent.
    pub engine: Option<ContainerEngine>,
}

impl Default for ContainerOptions {
    fn default() -> Self {
        Self {
            image: "ubuntu:22.04".to_owned(),
            engine: None,
        }
    }
}

/// How long the engine may take to start a container.
const START: Duration = Duration::from_mins(1);
/// How long it may take to remove one, or to list them.
const HOUSEKEEPING: Duration = Duration::from_secs(20);
/// How long the warden may take to answer from inside.
const ANSWER: Duration = Duration::from_secs(20);
/// How long it may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// Which engine there is, found out without leaving anything behind.
pub(crate) fn look(programs: &SearchPath) -> Result<String, LaunchError> {
    engine::look(programs)
}

/// Starts the container of a session and has the warden in it make its world.
pub(crate) async fn open(
    options: &JailOptions,
    spec: &Spec,
    boot: &Boot,
) -> Result<Line, LaunchError> {
    let starting = Starting {
        options: options.container.clone(),
        programs: options.programs.clone(),
        program: options.program.clone(),
        spec: spec.clone(),
        marks: boot.marks.as_ref().map(RawPath::to_path),
        workspace: boot.workspace.to_path(),
    };
    // Inside there is no registry.
    let boot = &Boot {
        marks: None,
        ..boot.clone()
    };
    let (listener, mut keeper) = tokio::task::spawn_blocking(move || starting.start())
        .await
        .map_err(|error| LaunchError::Warden(io::Error::other(error)))??;
    let engine = keeper.found.engine.name();
    let socket = tokio::time::timeout(ANSWER, accept(listener))
        .await
        .map_err(|_| LaunchError::Engine {
            engine,
            said: "the container runs, but our program in it does not answer".to_owned(),
        })?
        .map_err(LaunchError::Warden)?;
    let peer = rustix::net::sockopt::socket_peercred(&socket)
        .map_err(|error| LaunchError::Warden(error.into()))?;
    keeper.first = rustix::process::pidfd_open(peer.pid, PidfdFlags::empty()).ok();
    // Mounts keep what they show; the names are not needed any more.
    keeper.trace.remove_folder();
    if peer.uid.as_raw() != boot.identity.uid {
        return Err(LaunchError::CannotEnforce {
            missing: vec![format!(
                "container: {engine} maps user {} to {}, so that files would not be the owner's",
                boot.identity.uid,
                peer.uid.as_raw()
            )],
        });
    }
    Line::open(socket, Box::new(keeper), boot).await
}

/// The one connection that is ever accepted: the warden connects before any command exists.
async fn accept(listener: OwnedFd) -> io::Result<OwnedFd> {
    let listener = nonblocking(listener)?;
    loop {
        match rustix::net::accept_with(listener.get_ref(), rustix::net::SocketFlags::CLOEXEC) {
            Ok(socket) => return Ok(socket),
            Err(rustix::io::Errno::WOULDBLOCK) => listener.readable().await?.clear_ready(),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Everything that starting takes, for a thread that may wait.
struct Starting {
    options: ContainerOptions,
    programs: SearchPath,
    program: WardenProgram,
    spec: Spec,
    marks: Option<PathBuf>,
    workspace: PathBuf,
}

impl Starting {
    fn start(&self) -> Result<(OwnedFd, ContainerKeeper), LaunchError> {
        let found = engine::find(self.options.engine, &self.programs)?;
        trace::sweep(&found);
        let bundle = Bundle::of(&self.program).map_err(LaunchError::Warden)?;
        let trace = Trace::make().map_err(LaunchError::Warden)?;
        let listener = descriptor::listen(&trace.socket()).map_err(LaunchError::Warden)?;
        trace.open_socket().map_err(LaunchError::Warden)?;
        let arguments =
            arguments::arguments(&self.spec, &found, &self.options.image, &bundle, &trace);
        let marks = self.marks.as_deref().map(|marks| (marks, &*self.workspace));
        let janitor =
            Janitor::start(&self.program, &found, &trace, marks).map_err(LaunchError::Warden)?;
        // From here on the container, and the marks, are removed however this goes on.
        let mut keeper = ContainerKeeper {
            found,
            trace,
            first: None,
            janitor: Some(janitor),
            marks: Vec::new(),
        };
        if let Some(janitor) = &mut keeper.janitor {
            keeper.marks = janitor.hold(&self.spec.absent, self.marks.as_deref())?;
        }
        let ran = keeper
            .found
            .run(&arguments, START)
            .map_err(|error| LaunchError::Engine {
                engine: keeper.found.engine.name(),
                said: error.to_string(),
            })?;
        if ran.success {
            return Ok((listener, keeper));
        }
        Err(self.failed(&keeper.found, &ran.stderr))
    }

    fn failed(&self, found: &Found, said: &str) -> LaunchError {
        let engine = found.engine.name();
        let image = self.options.image.clone();
        let asked = found.run(&["image", "inspect", &image], HOUSEKEEPING);
        if asked.is_ok_and(|asked| !asked.success && is_unknown(&asked.stderr)) {
            return LaunchError::ImageMissing { engine, image };
        }
        let lines: Vec<&str> = said
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        LaunchError::Engine {
            engine,
            said: lines.join("; "),
        }
    }
}

/// Whether an engine says that it does not know an image.
fn is_unknown(said: &str) -> bool {
    let said = said.to_lowercase();
    said.contains("no such image") || said.contains("image not known")
}

/// A container, which is removed with this.
struct ContainerKeeper {
    found: Found,
    trace: Trace,
    /// The container's first process.
    first: Option<OwnedFd>,
    janitor: Option<Janitor>,
    /// The marks that it was made with: the mount over one that somebody removes goes with it.
    marks: Vec<Standing>,
}

impl Keeper for ContainerKeeper {
    fn end(&mut self, _: Farewell) {
        if let Some(first) = self.first.take() {
            gone_within(&first, PATIENCE);
        }
        if let Some(mut janitor) = self.janitor.take() {
            janitor.dismiss();
        }
    }

    fn is_whole(&self) -> bool {
        self.marks.iter().all(Standing::stands)
    }

    fn engine(&self) -> Option<ContainerEngine> {
        Some(self.found.engine)
    }
}

impl Drop for ContainerKeeper {
    fn drop(&mut self) {
        self.end(Farewell::Unheard);
    }
}
