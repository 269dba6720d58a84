//! What a session's container leaves on the machine while it lives: its name, and a folder for the
//! socket that the warden calls home on. Both name their owner, so that they can be told from those
//! of a harness that is gone.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::HOUSEKEEPING;
use super::engine::Found;

/// Every container of ours has this label.
pub(super) const LABEL: &str = "io.ringfence.session";
const PREFIX: &str = "ringfence";
/// Where the folders are made: short enough for the name of a socket.
const PLACE: &str = "/tmp";

const SCRATCH: &str = "scratch";

/// The trace of one container.
#[derive(Debug)]
pub(super) struct Trace {
    name: String,
}

impl Trace {
    /// Makes the folder, which nobody else can enter.
    pub(super) fn make() -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let owner = HarnessProcess::this()?;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number}", owner.prefix());
            match fs::DirBuilder::new()
                .mode(0o700)
                .create(Path::new(PLACE).join(&name))
            {
                Ok(()) => return Self { name }.furnish(),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn furnish(self) -> io::Result<Self> {
        fs::create_dir(self.shut_folder())?;
        fs::write(self.shut_file(), "")?;
        for shut in [self.shut_folder(), self.shut_file()] {
            fs::set_permissions(shut, fs::Permissions::from_mode(0o000))?;
        }
        Ok(self)
    }

    /// The container's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn folder(&self) -> PathBuf {
        Path::new(PLACE).join(&self.name)
    }

    /// The socket that the warden connects to.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder().join("line")
    }

    /// A folder that nobody can open, to cover others.
    pub(super) fn shut_folder(&self) -> PathBuf {
        self.folder().join("shut")
    }

    /// A file that nobody can open.
    pub(super) fn shut_file(&self) -> PathBuf {
        self.folder().join("shut-file")
    }

    /// Lets the container's user connect; the folder keeps everybody else out.
    pub(super) fn open_socket(&self) -> io::Result<()> {
        fs::set_permissions(self.socket(), fs::Permissions::from_mode(0o666))
    }

    /// A folder for what an engine wants to put somewhere.
    pub(super) fn scratch(&self) -> io::Result<PathBuf> {
        let folder = self.folder().join(SCRATCH);
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(folder)
    }

    pub(super) fn remove_folder(&self) {
        remove(&self.folder());
    }
}

/// Removes the folder of a container.
pub(super) fn remove_named(name: &str) {
    if HarnessProcess::of(name).is_some() {
        remove(&Path::new(PLACE).join(name));
    }
}

/// Removes a folder by what is known to be in it: the part that nobody can open cannot be listed.
fn remove(folder: &Path) {
    for name in ["line", "shut-file"] {
        let _ = fs::remove_file(folder.join(name));
    }
    let _ = fs::remove_dir(folder.join("shut"));
    let _ = fs::remove_dir_all(folder.join(SCRATCH));
    let _ = fs::remove_dir(folder);
}

/// A harness, named so that another with the same process id is not taken for it.
#[derive(Debug, PartialEq, Eq)]
struct HarnessProcess {
    /// The PID namespace: process ids of another mean nothing here.
    namespace: u64,
    pid: u32,
    /// When it was started, in the kernel's ticks.
    started: u64,
}

impl HarnessProcess {
    fn this() -> io::Result<Self> {
        let pid = std::process::id();
        Ok(Self {
            namespace: fs::metadata("/proc/self/ns/pid")?.ino(),
            pid,
            started: started(pid).ok_or(io::ErrorKind::NotFound)?,
        })
    }

    fn prefix(&self) -> String {
        format!("{PREFIX}-{}-{}-{}", self.namespace, self.pid, self.started)
    }

    fn of(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.strip_prefix('-')?.split('-');
        let mut next = || parts.next()?.parse::<u64>().ok();
        Some(Self {
            namespace: next()?,
            pid: u32::try_from(next()?).ok()?,
            started: next()?,
        })
    }

    /// Whether it belonged to a harness of this PID namespace that is gone.
    fn is_gone(&self) -> bool {
        let here = Self::this().is_ok_and(|this| this.namespace == self.namespace);
        here && started(self.pid) != Some(self.started)
    }
}

fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; the start is the twentieth field after it.
    stat.rsplit_once(')')?
        .1
        .split_whitespace()
        .nth(19)?
        .parse()
        .ok()
}

/// Removes what harnesses that are gone have left.
pub(super) fn sweep(found: &Found) {
    let filter = format!("label={LABEL}");
    let arguments = ["ps", "--all", "--filter", &filter, "--format", "{{.Names}}"];
    if let Ok(ran) = found.run(&arguments, HOUSEKEEPING) {
        for name in ran.stdout.lines().map(str::trim) {
            if HarnessProcess::of(name).is_some_and(|owner| owner.is_gone()) {
                found.remove(name);
            }
        }
    }
    for entry in fs::read_dir(PLACE).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if HarnessProcess::of(&name).is_some_and(|owner| owner.is_gone()) {
            remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_told_from_one_that_is_gone() {
        let this = HarnessProcess::this().unwrap();
        let name = format!("{}-7", this.prefix());
        assert_eq!(HarnessProcess::of(&name).as_ref(), Some(&this));
        assert!(!this.is_gone());
        let earlier = HarnessProcess {
            started: this.started - 1,
            ..this
        };
        assert!(earlier.is_gone());
        let elsewhere = HarnessProcess {
            namespace: earlier.namespace + 1,
            ..earlier
        };
        assert!(!elsewhere.is_gone());
        for name in [
            "ringfence",
            "ringfence-1-2",
            "other-1-2-3-4",
            "ringfence-a-b-c",
        ] {
            assert_eq!(HarnessProcess::of(name), None, "{name}");
        }
    }
}
