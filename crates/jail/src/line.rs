//! The harness's line to a warden, and the stages that come over it.
//!
//! Where the warden runs, and what has to be done about it at the end, is the backend's business:
//! it hands over a connected socket and a [`Keeper`].

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use serde::de::DeserializeOwned;
use tokio::io::unix::AsyncFd;

use crate::backend::native::ForkedWarden;
use crate::backend::{Backend, ContainerEngine, Holder, Site};
use crate::error::LaunchError;
use crate::jail::stdio::{Io, ends};
use crate::process::{Output, Process};
use crate::terminal::Terminal;
use crate::warden::protocol::{self, Boot, Booted, Enclosure, GOODBYE, Launch, Prepared, Report};

/// The program that serves as warden: this one again, or the `ringfence` program by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WardenProgram {
    /// The running program, whose `main` calls [`serve_if_asked`](crate::serve_if_asked) first.
    ThisProgram,
    /// Another program that does.
    At(PathBuf),
    /// A copy of the running program that waits to be a warden; once it is one, the running
    /// program.
    Forked(ForkedWarden),
}

impl WardenProgram {
    /// A path to it, for this process.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            // The file itself, even if its name now means another one.
            Self::ThisProgram | Self::Forked(_) => PathBuf::from("/proc/self/exe"),
            Self::At(path) => path.clone(),
        }
    }
}

/// A stage that waits for its command.
pub(crate) struct Stage {
    /// Takes the command.
    pub(crate) launch: OwnedFd,
    /// Orders and reports.
    pub(crate) control: AsyncFd<OwnedFd>,
    pub(crate) pidfd: OwnedFd,
    /// Takes what the warden needs to know if the harness is killed; taken by whoever tells it.
    pub(crate) testament: Option<OwnedFd>,
    /// Listens inside the session's own network, where it has one.
    pub(crate) outlet: Option<OwnedFd>,
}

impl Stage {
    /// Hands it the launch and waits for its word. None if it has given up waiting.
    pub(crate) async fn launch(
        self,
        launch: &Launch,
        io: Io,
        site: &Site,
        holder: Holder,
    ) -> Result<Option<Process>, LaunchError> {
        let backend = site.backend();
        let Stage {
            launch: launcher,
            control: socket,
            pidfd,
            ..
        } = self;
        let (mut ends, input, output) = ends(io).map_err(LaunchError::Warden)?;
        // What `bwrap` has to say comes here, if it gives up before our program runs in it.
        let complaints = protocol::file_of(&[]).map_err(LaunchError::Warden)?;
        if backend == Backend::Bubblewrap {
            ends.push(complaints.try_clone().map_err(LaunchError::Warden)?);
        }
        let borrowed: Vec<_> = ends.iter().map(AsFd::as_fd).collect();
        match protocol::send(&launcher, launch, &borrowed) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(None),
            other => other.map_err(LaunchError::Warden)?,
        }
        drop((ends, launcher));
        match receive::<Report>(&socket)
            .await
            .map_err(LaunchError::Warden)?
        {
            Some((Report::Started { covered }, along)) => {
                let mut along = along.into_iter();
                let output = if let Some(output) = output {
                    output
                } else {
                    let terminal = along.next().ok_or(LaunchError::WardenGone)?;
                    Output::Terminal(Terminal::new(terminal).map_err(LaunchError::Warden)?)
                };
                let first = along.next().unwrap_or(pidfd);
                let process = Process::new(socket, (first, site.grouping()), holder, input, output);
                Ok(Some(process.with_covered(covered)))
            }
            Some((Report::Failed(failure), _)) => Err(LaunchError::from(failure)),
            None if backend == Backend::Bubblewrap => {
                let said = protocol::read_file(&complaints).map_err(LaunchError::Warden)?;
                let said = String::from_utf8_lossy(&said).trim().to_owned();
                Err(LaunchError::Bubblewrap(said))
            }
            Some((Report::Exited { .. } | Report::Over { .. }, _)) | None => {
                Err(LaunchError::WardenGone)
            }
        }
    }
}

/// Whether a warden has said that everything it started is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Farewell {
    /// It has.
    Heard,
    /// It has not.
    Unheard,
}

/// Whoever answers for the end of a warden.
pub(crate) trait Keeper: Send + Sync {
    /// The line is closed, and the warden ends by itself: makes sure of it.
    fn end(&mut self, farewell: Farewell);

    /// Whether what it was started with is as it was. One that is not starts nothing more.
    fn is_whole(&self) -> bool {
        true
    }

    /// What the means that the warden was started by had to say, once it is gone.
    fn said(&mut self) -> Option<String> {
        None
    }

    /// The engine whose container the warden is in.
    fn engine(&self) -> Option<ContainerEngine> {
        None
    }
}

/// A running warden. Dropping it ends everything that the warden started.
pub(crate) struct Line {
    socket: Option<AsyncFd<OwnedFd>>,
    keeper: Box<dyn Keeper>,
    /// What the stage is for that has been asked for and not been fetched yet.
    on_the_way: Option<Enclosure>,
}

impl Line {
    /// Has a warden at the other end of a socket make its world.
    pub(crate) async fn open(
        socket: OwnedFd,
        keeper: Box<dyn Keeper>,
        boot: &Boot,
    ) -> Result<Self, LaunchError> {
        let mut line = Self {
            socket: None,
            keeper,
            on_the_way: None,
        };
        line.socket = Some(nonblocking(socket).map_err(LaunchError::Warden)?);
        match line.boot(boot).await {
            Ok(Booted::Ready) => Ok(line),
            Ok(Booted::Failed(failure)) => Err(LaunchError::from(failure)),
            Err(LaunchError::WardenGone | LaunchError::Warden(_)) => Err(line.gone()),
            Err(error) => Err(error),
        }
    }

    async fn boot(&self, boot: &Boot) -> Result<Booted, LaunchError> {
        protocol::send(self.socket()?.get_ref(), boot, &[]).map_err(LaunchError::Warden)?;
        match receive::<Booted>(self.socket()?)
            .await
            .map_err(LaunchError::Warden)?
        {
            Some((booted, _)) => Ok(booted),
            None => Err(LaunchError::WardenGone),
        }
    }

    /// The warden never came up: why, as far as that is known.
    fn gone(&mut self) -> LaunchError {
        self.socket = None;
        match self.keeper.said() {
            Some(said) => LaunchError::CannotEnforce {
                missing: vec![said],
            },
            None => LaunchError::WardenGone,
        }
    }

    /// Takes a stage for a run like this that lives. One that was made ahead may be for another
    /// one, and it may have been killed since.
    pub(crate) async fn stage(&mut self, enclosure: &Enclosure) -> Result<Stage, LaunchError> {
        if !self.keeper.is_whole() {
            return Err(LaunchError::WardenGone);
        }
        if self
            .on_the_way
            .as_ref()
            .is_some_and(|made| made != enclosure)
        {
            self.next_stage().await?;
        }
        for _ in 0..3 {
            self.ask(enclosure)?;
            let stage = self.next_stage().await?;
            if !gone_within(&stage.pidfd, Duration::ZERO) {
                return Ok(stage);
            }
        }
        Err(LaunchError::WardenGone)
    }

    async fn next_stage(&mut self) -> Result<Stage, LaunchError> {
        let received = receive::<Prepared>(self.socket()?)
            .await
            .map_err(LaunchError::Warden)?;
        self.on_the_way = None;
        match received {
            Some((Prepared::Stage, descriptors)) => {
                let mut descriptors = descriptors.into_iter();
                let (Some(launch), Some(control), Some(pidfd)) =
                    (descriptors.next(), descriptors.next(), descriptors.next())
                else {
                    return Err(LaunchError::WardenGone);
                };
                Ok(Stage {
                    launch,
                    control: nonblocking(control).map_err(LaunchError::Warden)?,
                    pidfd,
                    testament: descriptors.next(),
                    outlet: descriptors.next(),
                })
            }
            Some((Prepared::Failed(failure), _)) => Err(LaunchError::from(failure)),
            None => Err(LaunchError::WardenGone),
        }
    }

    /// Asks for a stage, unless one is on its way.
    pub(crate) fn ask(&mut self, enclosure: &Enclosure) -> Result<(), LaunchError> {
        if self.on_the_way.is_none() {
            protocol::send(self.socket()?.get_ref(), enclosure, &[])
                .map_err(LaunchError::Warden)?;
            self.on_the_way = Some(enclosure.clone());
        }
        Ok(())
    }

    /// The engine whose container the warden is in.
    pub(crate) fn engine(&self) -> Option<ContainerEngine> {
        self.keeper.engine()
    }

    fn socket(&self) -> Result<&AsyncFd<OwnedFd>, LaunchError> {
        self.socket.as_ref().ok_or(LaunchError::WardenGone)
    }
}

/// How long a warden may take to end everything it started.
const PATIENCE: Duration = Duration::from_secs(2);

impl Drop for Line {
    fn drop(&mut self) {
        let Some(socket) = self.socket.take() else {
            return self.keeper.end(Farewell::Unheard);
        };
        // The warden sees the end of the line, kills what it started, tidies up, says so, and exits.
        // That last step takes the kernel ten milliseconds.
        let _ = rustix::net::shutdown(socket.get_ref(), rustix::net::Shutdown::Write);
        self.keeper.end(farewell(socket.get_ref()));
    }
}

/// Waits for the warden's last word. Whatever else was still on its way is dropped.
fn farewell(socket: &OwnedFd) -> Farewell {
    let deadline = Instant::now() + PATIENCE;
    let mut buffer = [0; GOODBYE.len()];
    loop {
        match ringfence_confine::descriptor::receive(socket, &mut buffer) {
            Ok(message) if buffer[..message.length] == *GOODBYE => return Farewell::Heard,
            // It is gone, and has not said so.
            Ok(message) if message.length == 0 => return Farewell::Unheard,
            // A message that is longer is another one.
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => continue,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return Farewell::Unheard,
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || !is_readable_within(socket, left) {
            return Farewell::Unheard;
        }
    }
}

/// Waits for a child, at most for a while.
pub(crate) fn ends_within(child: &Child, limit: Duration) -> bool {
    let Some(pid) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return false;
    };
    match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        Ok(pidfd) => gone_within(&pidfd, limit),
        Err(_) => false,
    }
}

/// Waits for a process to end, at most for a while.
pub(crate) fn gone_within(pidfd: &OwnedFd, limit: Duration) -> bool {
    is_readable_within(pidfd, limit)
}

fn is_readable_within(descriptor: &OwnedFd, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut polled = [PollFd::new(descriptor, PollFlags::IN)];
        match rustix::event::poll(&mut polled, Some(&left)) {
            // A signal to us says nothing of the other: whoever takes it for impatience kills a
            // warden that is tidying up.
            Err(rustix::io::Errno::INTR) => {}
            other => return matches!(other, Ok(1)),
        }
    }
}

/// Puts a descriptor under the reactor's eye.
pub(crate) fn nonblocking(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    rustix::io::ioctl_fionbio(&descriptor, true)?;
    #[allow(unsafe_code)]
    // SAFETY: an `OwnedFd` names the same open descriptor for as long as it lives.
    let watched = unsafe { AsyncFd::register(descriptor) };
    Ok(watched?)
}

/// Receives a message when there is one.
pub(crate) async fn receive<T: DeserializeOwned>(
    socket: &AsyncFd<OwnedFd>,
) -> io::Result<protocol::Received<T>> {
    loop {
        // Most answers are there already: looking first saves a round through the reactor.
        match protocol::receive(socket.get_ref().as_fd()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // The other end died with messages of ours unread.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            other => return other,
        }
        socket.readable().await?.clear_ready();
    }
}
