//! The harness's line to a warden, and the stages that come over it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ringfence_confine::descriptor;
use rustix::event::{PollFd, PollFlags, Timespec};
use serde::de::DeserializeOwned;
use tokio::io::unix::AsyncFd;

use crate::error::LaunchError;
use crate::warden::WARDEN_ARGUMENT;
use crate::warden::protocol::{self, Boot, Booted, Prepared};

/// The program that serves as warden: this one again, or the `ringfence` program by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WardenProgram {
    /// The running program, whose `main` calls [`serve_if_asked`](crate::serve_if_asked) first.
    ThisProgram,
    /// Another program that does.
    At(PathBuf),
}

/// A stage that waits for its launch.
pub(crate) struct Stage {
    pub(crate) socket: AsyncFd<OwnedFd>,
    pub(crate) pidfd: OwnedFd,
}

/// A running warden. Dropping it ends everything that the warden started.
pub(crate) struct Line {
    socket: Option<AsyncFd<OwnedFd>>,
    child: Child,
    /// Whether a stage has been asked for and not been fetched yet.
    on_the_way: bool,
}

impl Line {
    /// Starts a warden and has it make its world.
    pub(crate) async fn open(program: &WardenProgram, boot: &Boot) -> Result<Self, LaunchError> {
        let (ours, theirs) = descriptor::socket_pair().map_err(LaunchError::Warden)?;
        let path = match program {
            // The file itself, even if its name now means another one.
            WardenProgram::ThisProgram => PathBuf::from("/proc/self/exe"),
            WardenProgram::At(path) => path.clone(),
        };
        let child = Command::new(path)
            .arg0("ringfence")
            .arg(WARDEN_ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(LaunchError::Warden)?;
        let mut line = Self {
            socket: None,
            child,
            on_the_way: false,
        };
        line.socket = Some(nonblocking(ours).map_err(LaunchError::Warden)?);
        protocol::send(line.socket()?.get_ref(), boot, &[]).map_err(LaunchError::Warden)?;
        match receive::<Booted>(line.socket()?)
            .await
            .map_err(LaunchError::Warden)?
        {
            Some((Booted::Ready, _)) => {
                // The first stage is made while the harness goes on.
                line.ask()?;
                Ok(line)
            }
            Some((Booted::Failed(failure), _)) => Err(LaunchError::from(failure)),
            None => Err(LaunchError::WardenGone),
        }
    }

    /// Takes a stage, and has the next one made.
    pub(crate) async fn stage(&mut self) -> Result<Stage, LaunchError> {
        self.ask()?;
        let received = receive::<Prepared>(self.socket()?)
            .await
            .map_err(LaunchError::Warden)?;
        self.on_the_way = false;
        match received {
            Some((Prepared::Stage, descriptors)) => {
                let [socket, pidfd] =
                    <[OwnedFd; 2]>::try_from(descriptors).map_err(|_| LaunchError::WardenGone)?;
                let socket = nonblocking(socket).map_err(LaunchError::Warden)?;
                Ok(Stage { socket, pidfd })
            }
            Some((Prepared::Failed(failure), _)) => Err(LaunchError::from(failure)),
            None => Err(LaunchError::WardenGone),
        }
    }

    /// Asks for a stage, unless one is on its way.
    pub(crate) fn ask(&mut self) -> Result<(), LaunchError> {
        if !self.on_the_way {
            descriptor::send(self.socket()?.get_ref(), b"!", &[]).map_err(LaunchError::Warden)?;
            self.on_the_way = true;
        }
        Ok(())
    }

    fn socket(&self) -> Result<&AsyncFd<OwnedFd>, LaunchError> {
        self.socket.as_ref().ok_or(LaunchError::WardenGone)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // The warden sees the end of the socket, kills what it started and exits.
        self.socket = None;
        if !ends_within(&self.child, Duration::from_secs(2)) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn ends_within(child: &Child, limit: Duration) -> bool {
    let Some(pid) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return false;
    };
    let Ok(pidfd) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) else {
        return false;
    };
    let limit = Timespec {
        tv_sec: limit.as_secs().cast_signed(),
        tv_nsec: 0,
    };
    let mut polled = [PollFd::new(&pidfd, PollFlags::IN)];
    matches!(rustix::event::poll(&mut polled, Some(&limit)), Ok(1))
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
