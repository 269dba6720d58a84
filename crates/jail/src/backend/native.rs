//! The native backend: a warden that makes its world with the kernel's own means, as a child of
//! the harness.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use ringfence_confine::{descriptor, process};

use crate::error::LaunchError;
use crate::line::{Farewell, Keeper, Line, WardenProgram};
use crate::warden::WARDEN_ARGUMENT;
use crate::warden::protocol::{Boot, Enclosure};

/// Starts a warden and has it make its world.
pub(crate) async fn open(
    program: &WardenProgram,
    boot: &Boot,
    first: &Enclosure,
) -> Result<Line, LaunchError> {
    if let WardenProgram::Forked(forked) = program
        && let Some((line, child)) = forked.take()
    {
        return Line::open(line, Box::new(ForkKeeper(child)), boot, first).await;
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
    Line::open(ours, Box::new(ChildKeeper::new(child)), boot, first).await
}

/// A warden, or what it was started by, that is a child of ours.
pub(crate) struct ChildKeeper(Option<Child>);

impl ChildKeeper {
    pub(crate) fn new(child: Child) -> Self {
        Self(Some(child))
    }

    /// The child, unless its end has come.
    pub(crate) fn child(&mut self) -> Option<&mut Child> {
        self.0.as_mut()
    }
}

impl Keeper for ChildKeeper {
    fn end(&mut self, farewell: Farewell) {
        if let Some(mut child) = self.0.take() {
            if farewell == Farewell::Unheard {
                let _ = child.kill();
            }
            bury(move || {
                let _ = child.wait();
            });
        }
    }
}

/// A warden that was forked.
struct ForkKeeper(process::Child);

impl Keeper for ForkKeeper {
    fn end(&mut self, farewell: Farewell) {
        if farewell == Farewell::Unheard {
            let _ = process::kill(&self.0.pidfd);
        }
        let pid = self.0.pid;
        bury(move || {
            let _ = process::wait_pid(pid);
        });
    }
}

/// Waits for a process whose end is certain, and has somebody else do so if that takes its time.
fn bury(wait: impl FnOnce() + Send + 'static) {
    // Without a thread for it, it stays in the table of processes for as long as we do.
    let _ = std::thread::Builder::new()
        .name("ringfence-burial".to_owned())
        .spawn(wait);
}
