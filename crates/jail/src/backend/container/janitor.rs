//! The janitor: a small process that removes a session's container when the harness lets go of it,
//! however the harness ends, and releases the marks that the container was made with. An engine's
//! own `--rm` depends on a monitor that may be killed too.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ringfence_confine::{descriptor, mount, process};

use crate::error::LaunchError;
use crate::line::{WardenProgram, ends_within};
use crate::mark::{Attendance, Holdings, Ledger, Registry};
use crate::standing::Standing;
use crate::warden::protocol::{Failure, Step};

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
pub(super) struct Janitor {
    child: Child,
    /// The janitor's work begins with the end of this.
    line: Option<OwnedFd>,
}

impl Janitor {
    /// Starts one. It does nothing until it is let go. `marks` is the registry, and the workspace
    /// that the session is noted with there.
    pub(super) fn start(
        program: &WardenProgram,
        found: &Found,
        trace: &Trace,
        marks: Option<(&Path, &Path)>,
    ) -> io::Result<Self> {
        let (ours, theirs) = descriptor::socket_pair()?;
        let mut command = Command::new(program.path());
        command
            .arg0("ringfence")
            .arg(JANITOR_ARGUMENT)
            .arg(found.path())
            .arg(trace.name());
        if let Some((registry, workspace)) = marks {
            command.arg(registry).arg(workspace);
        }
        let child = command
            .current_dir("/")
            // A key pressed at the user's terminal is not meant for it.
            .process_group(0)
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self {
            child,
            line: Some(ours),
        })
    }

    /// Makes the marks that a container needs, each with the root that it is in. The janitor has the
    /// locks on them. Says which nodes stand at the paths now.
    pub(super) fn hold(
        &mut self,
        absent: &[(PathBuf, PathBuf)],
        registry: Option<&Path>,
    ) -> Result<Vec<Standing>, LaunchError> {
        let Some(survivor) = self.line.take() else {
            return Err(LaunchError::WardenGone);
        };
        let registry = registry.and_then(|folder| Registry::open(folder).ok());
        let ledger = Ledger {
            registry: registry.as_ref(),
            survivor,
        };
        let mut holdings = Holdings::new(&ledger);
        for (root, path) in absent {
            hold(&mut holdings, root, path).map_err(|error| {
                let step = match error.raw_os_error() {
                    Some(libc::ENOLCK) => Step::Marks,
                    _ => Step::ProtectedPath,
                };
                Failure::new(step, &error, path.display().to_string())
            })?;
        }
        let locks = holdings.into_locks();
        for some in locks.chunks(descriptor::MAX_DESCRIPTORS) {
            let some: Vec<_> = some.iter().map(AsFd::as_fd).collect();
            descriptor::send(&ledger.survivor, b"!", &some).map_err(LaunchError::Warden)?;
        }
        self.line = Some(ledger.survivor);
        let paths = absent.iter().map(|(_, path)| path);
        Ok(paths.filter_map(|path| Standing::at(path)).collect())
    }

    /// Has the container removed, and waits for that.
    pub(super) fn dismiss(&mut self) {
        self.line = None;
        if !ends_within(&self.child, PATIENCE) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

fn hold(holdings: &mut Holdings<'_>, root: &Path, path: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = mount::open_path(folder)?;
    holdings.hold(root, folder.as_fd(), Path::new(name), path)?;
    Ok(())
}

/// Serves as a janitor for an engine's program and a container's name. Never returns.
pub(crate) fn serve(mut arguments: impl Iterator<Item = OsString>) -> ! {
    let engine = arguments.next().map(PathBuf::from);
    let name = arguments.next();
    let registry = arguments
        .next()
        .and_then(|folder| Registry::open(Path::new(&folder)).ok());
    let workspace = arguments.next().unwrap_or_default();
    if let (Some(engine), Some(name)) = (engine, name) {
        let attendance = registry.as_ref().map(|registry| {
            registry.sweep();
            let harness = rustix::process::getppid();
            let harness = harness.map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
            Attendance::note(registry, harness, Path::new(&workspace))
        });
        let (records, locks) = wait_for_the_end();
        remove(&engine, &name);
        if let Some(name) = name.to_str() {
            super::trace::remove_named(name);
        }
        drop(locks);
        if let Some(registry) = &registry {
            for record in &records {
                registry.release(record);
            }
        }
        drop(attendance);
    }
    process::exit_now(0)
}

/// Waits for the end of the harness, and keeps what it hands over until then.
fn wait_for_the_end() -> (Vec<String>, Vec<OwnedFd>) {
    let (mut records, mut locks) = (Vec::new(), Vec::new());
    let mut buffer = [0; 256];
    loop {
        match descriptor::receive(rustix::stdio::stdin(), &mut buffer) {
            Ok(message) if message.length > 0 => {
                locks.extend(message.descriptors);
                let record = String::from_utf8_lossy(&buffer[..message.length]);
                records.push(record.into_owned());
            }
            _ => return (records, locks),
        }
    }
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
