//! Whoever waits for the answer to a notified call: its descriptors, and where it stands in
//! `/proc`.
//!
//! A process id can be given to another process once its owner has ended. Whoever acts on what is
//! learnt here asks the listener afterwards whether the caller still waits.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::notify::Notification;
use crate::process::Pid;

/// A thread that waits for an answer.
#[derive(Debug)]
pub struct Caller {
    pidfd: OwnedFd,
}

impl Caller {
    /// Whoever makes a call.
    pub fn of(call: &Notification) -> io::Result<Self> {
        // `PIDFD_THREAD`: a thread by itself, since Linux 6.9.
        const THREAD: u32 = libc::O_EXCL.cast_unsigned();
        let pidfd = open(call.thread, THREAD)
            .or_else(|_| open(call.thread, 0))
            .or_else(|_| open(leader(call.thread)?, 0))?;
        Ok(Self { pidfd })
    }

    /// A copy of one of its descriptors.
    pub fn descriptor(&self, number: i32) -> io::Result<OwnedFd> {
        copy(&self.pidfd, number)
    }

    /// Its name in `/proc`, which may show another PID namespace than ours.
    pub fn name_in_proc(&self) -> io::Result<String> {
        let number = self.pidfd.as_raw_fd();
        let text = fs::read_to_string(format!("/proc/self/fdinfo/{number}"))?;
        text.lines()
            .find_map(|line| line.strip_prefix("Pid:"))
            .map(str::trim)
            .filter(|pid| pid.parse::<u32>().is_ok_and(|pid| pid > 0))
            .map(str::to_owned)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Whether a signal has arrived that it has a handler for: a call that waits ends then.
    pub fn is_interrupted(&self) -> bool {
        let status = self
            .name_in_proc()
            .and_then(|name| fs::read_to_string(format!("/proc/{name}/status")));
        let Ok(status) = status else {
            return false;
        };
        let mask = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
                .unwrap_or(0)
        };
        (mask("SigPnd:") | mask("ShdPnd:")) & mask("SigCgt:") & !mask("SigBlk:") != 0
    }
}

/// Whether descriptors can be copied out of other processes here: some container engines refuse it.
pub fn can_copy_descriptors() -> io::Result<()> {
    let own = open(rustix::process::getpid(), 0)?;
    let number = own.as_raw_fd();
    copy(&own, number).map(|_| ())
}

fn open(pid: Pid, flags: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers.
    let descriptor =
        unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw_nonzero().get(), flags) };
    owned(descriptor)
}

fn copy(pidfd: &OwnedFd, number: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers.
    let copy = unsafe { libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), number, 0) };
    owned(copy)
}

fn owned(descriptor: i64) -> io::Result<OwnedFd> {
    match i32::try_from(descriptor) {
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The process that a thread belongs to.
fn leader(thread: Pid) -> io::Result<Pid> {
    let path = format!("/proc/{}/status", thread.as_raw_nonzero());
    fs::read_to_string(path)?
        .lines()
        .find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}
