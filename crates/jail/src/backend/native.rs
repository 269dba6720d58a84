//! The native backend: a warden that makes its world with the kernel's own means, as a child of
//! the harness. It is this program again, or a fork of it that was made while that was small and had a
//! single thread, which spares a program that runs one command the time that it takes to start itself
//! again.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use ringfence_confine::descriptor;
use ringfence_confine::process::{self, Fork};
use rustix::fs::{Mode, OFlags};

use crate::error::LaunchError;
use crate::line::{Farewell, Keeper, Line, WardenProgram};
use crate::mark;
use crate::warden::protocol::{Boot, RawPath};
use crate::warden::{self, WARDEN_ARGUMENT};

/// Starts a warden and has it make its world.
pub(crate) async fn open(program: &WardenProgram, boot: &Boot) -> Result<Line, LaunchError> {
    if let WardenProgram::Forked(forked) = program
        && let Some((line, child)) = forked.take()
    {
        let marks = boot.marks.as_ref().map(RawPath::to_path);
        let keeper = Box::new(ForkKeeper { child, marks });
        return Line::open(line, keeper, boot).await;
    }
    let (ours, theirs) = descriptor::socket_pair().map_err(LaunchError::Warden)?;
    let child = Command::new(program.path())
        .arg0("ringfence")
        .arg(WARDEN_ARGUMENT)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(LaunchError::Warden)?;
    Line::open(ours, Box::new(ChildKeeper::new(child, boot)), boot).await
}

/// A warden, or what it was started by, that is a child of ours.
pub(crate) struct ChildKeeper {
    child: Option<Child>,
    marks: Option<PathBuf>,
}

impl ChildKeeper {
    pub(crate) fn new(child: Child, boot: &Boot) -> Self {
        Self {
            child: Some(child),
            marks: boot.marks.as_ref().map(RawPath::to_path),
        }
    }

    /// The child, unless its end has come.
    pub(crate) fn child(&mut self) -> Option<&mut Child> {
        self.child.as_mut()
    }
}

impl Keeper for ChildKeeper {
    fn end(&mut self, farewell: Farewell) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        match farewell {
            Farewell::Heard => bury(move || {
                let _ = child.wait();
            }),
            Farewell::Unheard => {
                let _ = child.kill();
                let _ = child.wait();
                tidy_up_after(self.marks.as_deref());
            }
        }
    }
}

/// A warden that was forked.
struct ForkKeeper {
    child: process::Child,
    marks: Option<PathBuf>,
}

impl Keeper for ForkKeeper {
    fn end(&mut self, farewell: Farewell) {
        let pid = self.child.pid;
        match farewell {
            Farewell::Heard => bury(move || {
                let _ = process::wait_pid(pid);
            }),
            Farewell::Unheard => {
                let _ = process::kill(&self.child.pidfd);
                let _ = process::wait_pid(pid);
                tidy_up_after(self.marks.as_deref());
            }
        }
    }
}

/// Tidies up in the place of a warden that could not.
fn tidy_up_after(marks: Option<&Path>) {
    if let Some(marks) = marks {
        mark::sweep(marks);
    }
}

/// Waits for a process whose end is certain, and has somebody else do so if that takes its time.
fn bury(wait: impl FnOnce() + Send + 'static) {
    // Without a thread for it, it stays in the table of processes for as long as we do.
    let _ = std::thread::Builder::new()
        .name("ringfence-burial".to_owned())
        .spawn(wait);
}

/// A process that waits to be a warden.
#[derive(Debug, Clone)]
pub struct ForkedWarden(Arc<Mutex<Option<(OwnedFd, process::Child)>>>);

impl PartialEq for ForkedWarden {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ForkedWarden {}

impl ForkedWarden {
    /// The process and the line to it, unless it serves already.
    pub(crate) fn take(&self) -> Option<(OwnedFd, process::Child)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl WardenProgram {
    /// Forks a warden now. A program that has several threads, or cannot fork, will start itself
    /// again when it needs one.
    pub fn fork_now() -> Self {
        match fork() {
            Ok(Some(forked)) => Self::Forked(ForkedWarden(Arc::new(Mutex::new(Some(forked))))),
            Ok(None) | Err(_) => Self::ThisProgram,
        }
    }
}

fn fork() -> io::Result<Option<(OwnedFd, process::Child)>> {
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
    // There may be secrets among the variables that no process inside the fence is to have in its
    // memory.
    #[allow(unsafe_code)]
    // SAFETY: the process has a single thread.
    unsafe {
        process::forget_environment();
    }
    match keep_nothing_but(line) {
        Ok(line) => warden::serve_on(&line),
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
