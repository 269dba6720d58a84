//! The janitor: a small process that removes a session's container when the harness lets go of it,
//! however the harness ends. An engine's own `--rm` depends on a monitor that may be killed too.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ringfence_confine::process;

use crate::line::{WardenProgram, ends_within};

use super::engine::Found;
use super::trace::Trace;

/// The argument that makes the program a janitor.
pub(crate) const JANITOR_ARGUMENT: &str = "__janitor";

/// How often removing is tried: an engine that is just noticing the end itself may be in the way.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(200);
/// How long the janitor may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The janitor of one container, as the harness holds it.
#[derive(Debug)]
pub(super) struct Janitor(Child);

impl Janitor {
    /// Starts one. It does nothing until it is let go.
    pub(super) fn start(program: &WardenProgram, found: &Found, trace: &Trace) -> io::Result<Self> {
        let child = Command::new(program.path())
            .arg0("ringfence")
            .arg(JANITOR_ARGUMENT)
            .arg(found.path())
            .arg(trace.name())
            .current_dir("/")
            // A key pressed at the user's terminal is not meant for it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }

    /// Has the container removed, and waits for that.
    pub(super) fn dismiss(&mut self) {
        drop(self.0.stdin.take());
        if !ends_within(&self.0, PATIENCE) {
            let _ = self.0.kill();
        }
        let _ = self.0.wait();
    }
}

/// Serves as a janitor for an engine's program and a container's name. Never returns.
pub(crate) fn serve(mut arguments: impl Iterator<Item = OsString>) -> ! {
    if let (Some(engine), Some(name)) = (arguments.next(), arguments.next()) {
        // Nothing is ever written there: this is the end of the harness.
        let _ = io::stdin().read(&mut [0; 1]);
        remove(&PathBuf::from(engine), &name);
        if let Some(name) = name.to_str() {
            super::trace::remove_named(name);
        }
    }
    process::exit_now(0)
}

/// Removes a container until the engine says that it is gone.
fn remove(engine: &PathBuf, name: &OsStr) {
    for _ in 0..TRIES {
        let quiet = |arguments: &[&str]| {
            Command::new(engine)
                .args(arguments)
                .arg(name)
                .current_dir("/")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success())
        };
        quiet(&["rm", "--force", "--volumes"]);
        if !quiet(&["container", "inspect"]) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}
