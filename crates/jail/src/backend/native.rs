//! The native backend: a warden that makes its world with the kernel's own means, as a child of
//! the harness.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ringfence_confine::descriptor;

use crate::error::LaunchError;
use crate::line::{Keeper, Line, WardenProgram, ends_within};
use crate::mark;
use crate::warden::WARDEN_ARGUMENT;
use crate::warden::protocol::{Boot, RawPath};

/// How long a warden may take to end everything it started.
const PATIENCE: Duration = Duration::from_secs(2);

/// Starts a warden and has it make its world.
pub(crate) async fn open(program: &WardenProgram, boot: &Boot) -> Result<Line, LaunchError> {
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
    pub(crate) child: Child,
    marks: Option<PathBuf>,
}

impl ChildKeeper {
    pub(crate) fn new(child: Child, boot: &Boot) -> Self {
        let marks = boot.marks.as_ref().map(RawPath::to_path);
        Self { child, marks }
    }
}

impl Keeper for ChildKeeper {
    fn end(&mut self) {
        if !ends_within(&self.child, PATIENCE) {
            let _ = self.child.kill();
        }
        let tidied_up = self.child.wait().is_ok_and(|status| status.success());
        if let Some(marks) = self.marks.as_deref().filter(|_| !tidied_up) {
            mark::sweep(marks);
        }
    }
}
