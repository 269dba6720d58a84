//! A running command: its input, its output, its end.
//!
//! Whoever holds a [`Process`] owns it. Dropping it kills the command and everything that the
//! command started.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use ringfence_confine::process as kernel;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

use crate::line;
use crate::terminal::Terminal;
use crate::warden::protocol::{self, Order, Report};

pub use crate::warden::protocol::LeftRunning;

/// A running command.
#[derive(Debug)]
pub struct Process {
    control: AsyncFd<OwnedFd>,
    pidfd: OwnedFd,
    /// Standard input, if it was asked for.
    pub input: Option<pipe::Sender>,
    /// Standard output and error, or the terminal; taken by whoever reads them.
    pub output: Option<Output>,
    exit: Option<Exit>,
}

/// Where a command's output comes from.
#[derive(Debug)]
pub enum Output {
    /// Standard output and standard error.
    Pipes {
        /// Standard output.
        stdout: pipe::Receiver,
        /// Standard error.
        stderr: pipe::Receiver,
    },
    /// A terminal, which also takes the input.
    Terminal(Terminal),
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Its status.
    pub status: ExitStatus,
    /// The CPU time that it and its children used.
    pub cpu: Duration,
    /// The largest resident set of any one process, in bytes.
    pub max_rss_bytes: u64,
    /// The processes that it left running.
    pub left_running: Vec<LeftRunning>,
}

impl Exit {
    /// The exit code as a shell would give it: 128 and the number for a signal.
    pub fn code(&self) -> i32 {
        self.status
            .code()
            .or_else(|| self.status.signal().map(|n| 128 + n))
            .unwrap_or(1)
    }
}

impl Process {
    pub(crate) fn new(
        control: AsyncFd<OwnedFd>,
        pidfd: OwnedFd,
        input: Option<pipe::Sender>,
        output: Output,
    ) -> Self {
        Self {
            control,
            pidfd,
            input,
            output: Some(output),
            exit: None,
        }
    }

    /// Waits until the command has ended. What it left running lives on. May be called again, and
    /// may be dropped half-way without losing anything.
    pub async fn exited(&mut self) -> io::Result<Exit> {
        if let Some(exit) = &self.exit {
            return Ok(exit.clone());
        }
        loop {
            match line::receive::<Report>(&self.control).await? {
                Some((
                    Report::Exited {
                        status,
                        cpu_micros,
                        max_rss_kib,
                        left,
                    },
                    _,
                )) => {
                    let exit = Exit {
                        status: ExitStatus::from_raw(status),
                        cpu: Duration::from_micros(cpu_micros),
                        max_rss_bytes: max_rss_kib * 1024,
                        left_running: left,
                    };
                    self.exit = Some(exit.clone());
                    return Ok(exit);
                }
                Some(_) => {}
                // The whole run was killed, by us or by the kernel.
                None => {
                    let exit = Exit {
                        status: ExitStatus::from_raw(libc::SIGKILL),
                        cpu: Duration::ZERO,
                        max_rss_bytes: 0,
                        left_running: Vec::new(),
                    };
                    self.exit = Some(exit.clone());
                    return Ok(exit);
                }
            }
        }
    }

    /// Waits until nothing of the run is left, neither the command nor what it started.
    pub async fn gone(&mut self) -> io::Result<()> {
        self.exited().await?;
        // The descriptor of a run's first process becomes readable when the kernel is done with
        // it, and that is after it has killed the rest.
        let watched = line::nonblocking(self.pidfd.try_clone()?)?;
        watched.readable().await?.retain_ready();
        Ok(())
    }

    /// Sends a signal to the command's process group.
    pub fn signal(&self, number: i32) -> io::Result<()> {
        protocol::send(self.control.get_ref(), &Order::Signal(number), &[])
    }

    /// Kills the command and everything it started, at once.
    pub fn kill(&self) -> io::Result<()> {
        kernel::kill(&self.pidfd)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}
