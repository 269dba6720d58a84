//! A running command: its input, its output, its end.
//!
//! Whoever holds a [`Process`] owns it. Dropping it kills the command and everything that the
//! command started.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use ringfence_confine::process as kernel;
use ringfence_policy::permissions::Limit;
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

use crate::backend::Holder;
use crate::git::{Leaving, Repair, Setup};
use crate::line;
#[cfg(feature = "launch")]
use crate::net::Outlet;
use crate::standing::Standing;
use crate::terminal::Terminal;
use crate::warden::protocol::{self, Order, RawPath, Report};

pub use crate::warden::protocol::{DeniedAccess, LeftRunning};

/// A running command.
#[derive(Debug)]
pub struct Process {
    control: AsyncFd<OwnedFd>,
    pidfd: OwnedFd,
    grouping: Grouping,
    holder: Holder,
    /// Standard input, if it was asked for.
    pub input: Option<pipe::Sender>,
    /// Standard output and error, or the terminal; taken by whoever reads them.
    pub output: Option<Output>,
    exit: Option<Exit>,
    /// What was covered for it when it began.
    covered: Vec<Standing>,
    /// Its way to the hosts that it may reach, which ends with it.
    #[cfg(feature = "launch")]
    outlet: Option<Outlet>,
    /// Git's set-up as it was before, until nothing of the run is left.
    setup: Option<Setup>,
}

/// What holds the processes of a run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// A PID namespace: the end of its first process is the end of all.
    Namespace,
    /// Nothing but descent: the first process has to find them, and ends after them.
    Descent,
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
    /// The limits that the run hit, as far as the kernel or the run's init knows it for certain.
    pub limits_hit: Vec<Limit>,
    /// What the fence was seen to refuse it.
    pub denied: Vec<DeniedAccess>,
    /// What it had changed of git's set-up, and what was done about it.
    pub mended: Vec<Repair>,
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
        (pidfd, grouping): (OwnedFd, Grouping),
        holder: Holder,
        input: Option<pipe::Sender>,
        output: Output,
    ) -> Self {
        Self {
            control,
            pidfd,
            grouping,
            holder,
            input,
            output: Some(output),
            exit: None,
            covered: Vec::new(),
            #[cfg(feature = "launch")]
            outlet: None,
            setup: None,
        }
    }

    #[cfg(feature = "launch")]
    pub(crate) fn with_outlet(mut self, outlet: Option<Outlet>) -> Self {
        self.outlet = outlet;
        self
    }

    pub(crate) fn with_covered(mut self, covered: Vec<Standing>) -> Self {
        self.covered = covered;
        self
    }

    pub(crate) fn with_setup(mut self, setup: Option<Setup>) -> Self {
        let covered = std::mem::take(&mut self.covered);
        self.setup = setup.map(|setup| setup.with_covered(covered));
        self
    }

    /// What holds it.
    pub fn holder(&self) -> Holder {
        self.holder
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
                        hit,
                        denied,
                        exposed,
                    },
                    _,
                )) => {
                    if !exposed.is_empty() {
                        self.doubt_covers();
                    }
                    let mut mended = self.setup.as_ref().map_or_else(Vec::new, Setup::mend);
                    mended.extend(self.see_to(&exposed));
                    let exit = Exit {
                        status: ExitStatus::from_raw(status),
                        cpu: Duration::from_micros(cpu_micros),
                        max_rss_bytes: max_rss_kib * 1024,
                        left_running: left,
                        limits_hit: hit,
                        denied,
                        mended,
                    };
                    self.exit = Some(exit.clone());
                    return Ok(exit);
                }
                Some(_) => {}
                // The whole run was killed, by us or by the kernel.
                None => {
                    self.wait_for_the_last().await?;
                    self.doubt_covers();
                    let exit = Exit {
                        status: ExitStatus::from_raw(libc::SIGKILL),
                        cpu: Duration::ZERO,
                        max_rss_bytes: 0,
                        left_running: Vec::new(),
                        limits_hit: Vec::new(),
                        denied: Vec::new(),
                        mended: self
                            .setup
                            .take()
                            .map_or_else(Vec::new, |setup| setup.mend()),
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
        self.wait_for_the_last().await?;
        let mut exposed = Vec::new();
        if let Ok(Some((Report::Over { exposed: more }, _))) =
            protocol::receive(self.control.get_ref())
        {
            exposed = more;
        }
        if !exposed.is_empty() {
            self.doubt_covers();
        }
        let exposed = self.see_to(&exposed);
        if let Some(setup) = self.setup.take() {
            setup.mend_and_keep(exposed);
        }
        Ok(())
    }

    fn doubt_covers(&self) {
        if let Some(setup) = &self.setup {
            setup.doubt_covers();
        }
    }

    /// What becomes of paths that lay open.
    fn see_to(&self, exposed: &[RawPath]) -> Vec<Repair> {
        // One may have been replaced many times.
        let exposed: BTreeSet<&RawPath> = exposed.iter().collect();
        let exposed = exposed.into_iter().map(RawPath::to_path);
        match &self.setup {
            Some(setup) => setup.see_to_exposed(exposed.collect()),
            None => exposed.map(Repair::exposed).collect(),
        }
    }

    /// The descriptor of a run's first process becomes readable when the kernel is done with it, and
    /// that is after it has killed the rest.
    async fn wait_for_the_last(&self) -> io::Result<()> {
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
        // It cannot tell any more whether its covers held.
        self.doubt_covers();
        // Whoever has to find the others must live to do so.
        let told = self.grouping == Grouping::Descent
            && protocol::send(self.control.get_ref(), &Order::End, &[]).is_ok();
        if told {
            Ok(())
        } else {
            kernel::kill(&self.pidfd)
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
        let leaving = match &self.exit {
            Some(exit) if exit.left_running.is_empty() => Leaving::Idle,
            _ => Leaving::Busy,
        };
        if let (Some(setup), Ok(last)) = (self.setup.take(), self.pidfd.try_clone()) {
            setup.see_off(last, leaving);
        }
    }
}
