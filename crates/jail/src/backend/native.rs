//! The native backend: a warden that makes its world with the kernel's own means, as a child of
//! the harness.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ringfence_confine::descriptor;

use crate::error::LaunchError;
use crate::line::{Keeper, Line, WardenProgram, ends_within};
use crate::warden::WARDEN_ARGUMENT;
use crate::warden::protocol::{Boot, Enclosure};

/// How long a warden may take to end everything it started.
const PATIENCE: Duration = Duration::from_secs(2);

/// Starts a warden and has it make its world.
pub(crate) async fn open(
    program: &WardenProgram,
    boot: &Boot,
    first: &Enclosure,
) -> Result<Line, LaunchError> {
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
    Line::open(ours, Box::new(ChildKeeper(child)), boot, first).await
}

/// A warden, or what it was started by, that is a child of ours.
pub(crate) struct ChildKeeper(pub(crate) Child);

impl Keeper for ChildKeeper {
    fn end(&mut self) {
        if !ends_within(&self.0, PATIENCE) {
            let _ = self.0.kill();
        }
        let _ = self.0.wait();
    }
}
