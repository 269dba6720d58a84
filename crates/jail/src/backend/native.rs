//! The native backend: a warden that makes its world with the kernel's own means, as a child of
//! the harness.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use ringfence_confine::{descriptor, process};

use crate::error::LaunchError;
use crate::line::{Farewell, Keeper, Line, WardenProgram};
use crate::mark;
use crate::warden::WARDEN_ARGUMENT;
use crate::warden::protocol::{Boot, RawPath};

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
