//! Control groups: bounds on the memory and the number of processes of a whole tree of processes,
//! and the kernel's count of how often a bound was hit. Version 2 and version 1.
//!
//! A [`GroupRoot`] is a folder of our own below a group that was given to us, and a [`Group`] in it
//! holds one run. A root is locked while its owner lives, so that one whose owner was killed can
//! be told and swept away by the next. Groups of others are never touched.

mod controls;
mod find;

use std::ffi::CString;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Dir, FlockOperation, Mode, OFlags};

pub use controls::{Controls, Counts, CpuTime, Handed};
use controls::{open_control, write_at};
pub use find::NotDelegated;
use find::{Hierarchy, Version};

/// What a group can bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// Memory of all processes together.
    Memory,
    /// Processes and threads alive at once.
    Pids,
    /// Nothing: it counts the CPU time of all processes, ended ones included.
    CpuTime,
}

impl Controller {
    /// The kernel's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Pids => "pids",
            Self::CpuTime => "cpuacct",
        }
    }

    /// Whether every group of version 2 has it, without its being passed on.
    const fn is_everywhere(self) -> bool {
        matches!(self, Self::CpuTime)
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the names of roots begin.
const PREFIX: &str = "ringfence-";

/// A folder of ours in each hierarchy, in which groups are made. It goes when this is dropped.
#[derive(Debug)]
pub struct GroupRoot {
    folders: Vec<Folder>,
    made: u64,
}

#[derive(Debug)]
struct Folder {
    controllers: Vec<Controller>,
    version: Version,
    path: PathBuf,
    /// The folder above, by which it is removed even where its path means something else by now.
    above: OwnedFd,
    name: CString,
    /// Locked for as long as the root lives.
    open: OwnedFd,
}

impl GroupRoot {
    /// Makes a root for these controllers, and sweeps away roots whose owners are gone.
    pub fn make(controllers: &[Controller]) -> Result<Self, NotDelegated> {
        let mut folders = Vec::new();
        for hierarchy in find::delegated(controllers)? {
            let refused = |reason: io::Error| NotDelegated {
                controllers: hierarchy.controllers.clone(),
                reason: format!("{}: {reason}", hierarchy.folder.display()),
            };
            sweep(&hierarchy.folder);
            folders.push(Folder::make(&hierarchy).map_err(refused)?);
        }
        Ok(Self { folders, made: 0 })
    }

    /// Where the root's folders are.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.folders
            .iter()
            .map(|folder| folder.path.clone())
            .collect()
    }

    /// Makes a group for one run.
    pub fn group(&mut self) -> io::Result<Group> {
        self.made += 1;
        let name = c_string(&format!("run-{}", self.made))?;
        let mut group = Group {
            name: name.clone(),
            parts: Vec::new(),
        };
        for folder in &self.folders {
            rustix::fs::mkdirat(&folder.open, &name, Mode::from_raw_mode(0o755))?;
            let open = open_folder(&folder.open, &name)?;
            group.parts.push(Part {
                controllers: folder.controllers.clone(),
                version: folder.version,
                above: folder.open.try_clone()?,
                open,
            });
        }
        Ok(group)
    }
}

impl Drop for GroupRoot {
    fn drop(&mut self) {
        for folder in &self.folders {
            empty(&folder.open);
            let _ = rustix::fs::unlinkat(&folder.above, &folder.name, AtFlags::REMOVEDIR);
        }
    }
}

impl Folder {
    fn make(hierarchy: &Hierarchy) -> io::Result<Self> {
        const TRIES: u32 = 8;
        let above = open_folder(CWD, &hierarchy.folder)?;
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let pid = rustix::process::getpid().as_raw_nonzero();
        for attempt in 0..TRIES {
            let name = format!("{PREFIX}{pid}-{}{:09}-{attempt}", now.tv_sec, now.tv_nsec);
            let path = hierarchy.folder.join(&name);
            let name = c_string(&name)?;
            rustix::fs::mkdirat(&above, &name, Mode::from_raw_mode(0o755))?;
            // Between the two somebody may have taken it for a root without an owner.
            let Ok(open) = open_folder(&above, &name) else {
                continue;
            };
            let locked = rustix::fs::flock(&open, FlockOperation::NonBlockingLockShared).is_ok();
            if !locked || !still_there(&above, &name, &open) {
                continue;
            }
            let folder = Self {
                controllers: hierarchy.controllers.clone(),
                version: hierarchy.version,
                path,
                above,
                name,
                open,
            };
            return folder.pass_on_controllers();
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// In version 2 a folder says which controllers the folders in it have.
    fn pass_on_controllers(self) -> io::Result<Self> {
        if self.version == Version::Two {
            let all: Vec<String> = self
                .controllers
                .iter()
                .filter(|controller| !controller.is_everywhere())
                .map(|controller| format!("+{controller}"))
                .collect();
            let written = write_at(&self.open, "cgroup.subtree_control", &all.join(" "));
            if let Err(error) = written {
                let _ = rustix::fs::unlinkat(&self.above, &self.name, AtFlags::REMOVEDIR);
                return Err(error);
            }
        }
        Ok(self)
    }
}

/// The group of one run.
#[derive(Debug)]
pub struct Group {
    name: CString,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    controllers: Vec<Controller>,
    version: Version,
    above: OwnedFd,
    open: OwnedFd,
}

impl Group {
    /// Moves a process into the group. What it starts from then on is in it too.
    pub fn admit(&self, pid: crate::process::Pid) -> io::Result<()> {
        let pid = pid.as_raw_nonzero().to_string();
        self.parts
            .iter()
            .try_for_each(|part| write_at(&part.open, "cgroup.procs", &pid))
    }

    /// The group's controls, for whoever sets the bounds and reads the counts.
    pub fn controls(&self) -> io::Result<Controls> {
        Controls::of(&self.parts)
    }

    /// Kills every process in the group.
    pub fn kill(&self) {
        for part in &self.parts {
            if part.version == Version::Two && write_at(&part.open, "cgroup.kill", "1").is_ok() {
                return;
            }
            // Each round kills what was there when the list was read; what those have forked
            // meanwhile is on the next list.
            for _ in 0..64 {
                let pids = members(&part.open);
                if pids.is_empty() {
                    return;
                }
                for pid in pids {
                    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                }
            }
        }
    }

    /// Removes the group. Nothing may run in it any more; the kernel may need a moment to see
    /// that.
    pub fn remove(&self) -> io::Result<()> {
        const TRIES: u32 = 50;
        const PAUSE: Duration = Duration::from_millis(1);
        for part in &self.parts {
            for attempt in 1.. {
                match rustix::fs::unlinkat(&part.above, &self.name, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(rustix::io::Errno::NOENT) => break,
                    Err(rustix::io::Errno::BUSY) if attempt < TRIES => std::thread::sleep(PAUSE),
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }
}

/// Removes roots whose owners are gone: nobody holds their lock.
fn sweep(folder: &Path) {
    let Ok(above) = open_folder(CWD, folder) else {
        return;
    };
    for name in folders_in(&above) {
        if !name.to_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let Ok(open) = open_folder(&above, &name) else {
            continue;
        };
        if rustix::fs::flock(&open, FlockOperation::NonBlockingLockExclusive).is_ok() {
            empty(&open);
            let _ = rustix::fs::unlinkat(&above, &name, AtFlags::REMOVEDIR);
        }
    }
}

/// Removes the groups in a root. One with a process in it stays, and so does the root.
fn empty(root: &OwnedFd) {
    for name in folders_in(root) {
        let _ = rustix::fs::unlinkat(root, &name, AtFlags::REMOVEDIR);
    }
}

fn folders_in(folder: &OwnedFd) -> Vec<CString> {
    let Ok(entries) = Dir::read_from(folder) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter(|entry| entry.file_type() == rustix::fs::FileType::Directory)
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| !matches!(name.to_bytes(), b"." | b".."))
        .collect()
}

fn members(folder: &OwnedFd) -> Vec<crate::process::Pid> {
    let Ok(list) = open_control(folder, "cgroup.procs", OFlags::RDONLY) else {
        return Vec::new();
    };
    let mut buffer = vec![0; 64 * 1024];
    let length = rustix::io::read(&list, &mut buffer).unwrap_or(0);
    String::from_utf8_lossy(&buffer[..length])
        .lines()
        .filter_map(|line| crate::process::Pid::from_raw(line.parse().ok()?))
        .collect()
}

fn still_there(above: &OwnedFd, name: &CString, open: &OwnedFd) -> bool {
    let here = rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW);
    let ours = rustix::fs::fstat(open);
    matches!((here, ours), (Ok(here), Ok(ours)) if here.st_ino == ours.st_ino)
}

fn open_folder(above: impl AsFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(above, name, flags, Mode::empty())?)
}

fn c_string(text: &str) -> io::Result<CString> {
    CString::new(text).map_err(io::Error::other)
}
