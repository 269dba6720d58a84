//! A warden that is a fork of the harness, made while that is small and has a single thread. It
//! spares a program that runs one command the time that it takes to start itself again.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

use ringfence_confine::descriptor;
use ringfence_confine::process::{self, Child, Fork};
use rustix::fs::{Mode, OFlags};

use crate::line::WardenProgram;
use crate::warden;

/// A process that waits to be a warden.
#[derive(Debug, Clone)]
pub struct Forked(Arc<Mutex<Option<(OwnedFd, Child)>>>);

impl PartialEq for Forked {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Forked {}

impl Forked {
    /// The process and the line to it, unless it serves already.
    pub(crate) fn take(&self) -> Option<(OwnedFd, Child)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl WardenProgram {
    /// Forks a warden now. A program that has several threads, or cannot fork, will start itself
    /// again when it needs one.
    pub fn fork_now() -> Self {
        match fork() {
            Ok(Some(forked)) => Self::Forked(Forked(Arc::new(Mutex::new(Some(forked))))),
            Ok(None) | Err(_) => Self::ThisProgram,
        }
    }
}

fn fork() -> io::Result<Option<(OwnedFd, Child)>> {
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Ok(None);
    }
    let (ours, theirs) = descriptor::socket_pair()?;
    #[allow(unsafe_code)]
    // SAFETY: the process has a single thread, as the kernel has just said.
    match unsafe { process::fork() }? {
        Fork::Parent(child) => Ok(Some((ours, child))),
        Fork::Child => serve(theirs),
    }
}

fn serve(line: OwnedFd) -> ! {
    match keep_nothing_but(line) {
        Ok(line) => warden::serve_on(line),
        Err(_) => process::exit_now(1),
    }
}

/// Lets go of everything that belongs to the program this was forked from: its folder, its
/// descriptors.
fn keep_nothing_but(line: OwnedFd) -> io::Result<OwnedFd> {
    use std::os::fd::{AsRawFd, FromRawFd};
    rustix::process::chdir("/")?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    for number in 0..3 {
        descriptor::place(&null, number)?;
    }
    const LINE: i32 = 3;
    if line.as_raw_fd() != LINE {
        descriptor::place(&line, LINE)?;
    }
    // Their owners are never dropped in this process, which ends by `_exit`.
    std::mem::forget((line, null));
    #[allow(unsafe_code)]
    // SAFETY: nobody in this process uses or drops what is closed; `LINE` was put there just now,
    // for us alone.
    let line = unsafe {
        descriptor::close_from(LINE + 1)?;
        OwnedFd::from_raw_fd(LINE)
    };
    rustix::io::fcntl_setfd(&line, rustix::io::FdFlags::CLOEXEC)?;
    Ok(line)
}
