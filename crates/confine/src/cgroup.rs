//! Control groups: bounds on the memory and the number of processes of a whole tree of processes,
//! and the kernel's count of how often a bound was hit. Version 2 and version 1.
//!
//! A [`Nest`] is a folder of our own below a group that was given to us, and a [`Group`] in it
//! holds one run. A nest is locked while its owner lives, so that one whose owner was killed can
//! be told and swept away by the next. Groups of others are never touched.

mod find;

use std::ffi::CString;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Dir, FlockOperation, Mode, OFlags};

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

/// How the names of nests begin.
const PREFIX: &str = "ringfence-";

/// A folder of ours in each hierarchy, in which groups are made. It goes when this is dropped.
#[derive(Debug)]
pub struct Nest {
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
    /// Locked for as long as the nest lives.
    open: OwnedFd,
}

impl Nest {
    /// Makes a nest for these controllers, and sweeps away nests whose owners are gone.
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

    /// Where the nest's folders are.
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

impl Drop for Nest {
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
            // Between the two somebody may have taken it for a nest without an owner.
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
        let mut controls = Controls::default();
        for part in &self.parts {
            for controller in &part.controllers {
                match controller {
                    Controller::Memory => controls.memory = Some(Memory::open(part)?),
                    Controller::CpuTime => controls.cpu_time = Some(CpuTime::open(part)?),
                    Controller::Pids => {
                        controls.pids = Some(Pids {
                            most: open_control(&part.open, "pids.max", OFlags::WRONLY)?,
                            events: open_control(&part.open, "pids.events", OFlags::RDONLY)?,
                        });
                    }
                }
            }
        }
        Ok(controls)
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

/// The controls of a group, open: they serve where its folder cannot be reached any more.
#[derive(Debug, Default)]
pub struct Controls {
    memory: Option<Memory>,
    pids: Option<Pids>,
    cpu_time: Option<CpuTime>,
}

/// The CPU time that a group has used.
#[derive(Debug)]
pub struct CpuTime {
    usage: OwnedFd,
    version: Version,
}

impl CpuTime {
    fn open(part: &Part) -> io::Result<Self> {
        let name = match part.version {
            Version::Two => "cpu.stat",
            Version::One => "cpuacct.usage",
        };
        Ok(Self {
            usage: open_control(&part.open, name, OFlags::RDONLY)?,
            version: part.version,
        })
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            usage: self.usage.try_clone()?,
            version: self.version,
        })
    }

    /// How much that is by now.
    pub fn used(&self) -> Duration {
        match self.version {
            Version::Two => Duration::from_micros(counted(&self.usage, "usage_usec")),
            Version::One => Duration::from_nanos(counted(&self.usage, "")),
        }
    }
}

#[derive(Debug)]
struct Memory {
    most: OwnedFd,
    /// Swap: on its own in version 2, memory and swap together in version 1.
    swap: Option<OwnedFd>,
    events: OwnedFd,
    version: Version,
}

#[derive(Debug)]
struct Pids {
    most: OwnedFd,
    events: OwnedFd,
}

/// How often the kernel enforced a bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Processes that were killed because the group's memory was used up.
    pub out_of_memory: u64,
    /// Processes that could not be started because there were too many.
    pub refused_processes: u64,
}

impl Memory {
    fn open(part: &Part) -> io::Result<Self> {
        let (most, swap, events) = match part.version {
            Version::Two => ("memory.max", "memory.swap.max", "memory.events"),
            Version::One => (
                "memory.limit_in_bytes",
                "memory.memsw.limit_in_bytes",
                "memory.oom_control",
            ),
        };
        Ok(Self {
            most: open_control(&part.open, most, OFlags::WRONLY)?,
            // A kernel may not count swap.
            swap: open_control(&part.open, swap, OFlags::WRONLY).ok(),
            events: open_control(&part.open, events, OFlags::RDONLY)?,
            version: part.version,
        })
    }
}

/// The controls of a group on their way into another program: the numbers of their descriptors,
/// negative for one that is not there, and whether memory and CPU time are of version 2.
pub type Handed = ([RawFd; 6], [bool; 2]);

impl Controls {
    /// Leaves the controls open for the program that this process is about to become.
    pub fn hand_over(&self) -> io::Result<Handed> {
        let memory = self.memory.as_ref();
        let pids = self.pids.as_ref();
        let controls = [
            memory.map(|memory| &memory.most),
            memory.and_then(|memory| memory.swap.as_ref()),
            memory.map(|memory| &memory.events),
            pids.map(|pids| &pids.most),
            pids.map(|pids| &pids.events),
            self.cpu_time.as_ref().map(|cpu_time| &cpu_time.usage),
        ];
        for control in controls.into_iter().flatten() {
            rustix::io::fcntl_setfd(control, rustix::io::FdFlags::empty())?;
        }
        let numbers = controls.map(|control| control.map_or(-1, AsRawFd::as_raw_fd));
        let versions = [
            memory.map(|memory| memory.version),
            self.cpu_time.as_ref().map(|cpu_time| cpu_time.version),
        ];
        Ok((
            numbers,
            versions.map(|version| version == Some(Version::Two)),
        ))
    }

    /// The controls that the program before this one in the process handed over.
    ///
    /// # Safety
    /// They must have been, and nobody else may have taken them.
    pub unsafe fn taken_over((numbers, are_version_two): Handed) -> Self {
        let mut controls = numbers.map(|number| {
            // SAFETY: passed on to the caller.
            let control = (number >= 0).then(|| unsafe { OwnedFd::from_raw_fd(number) });
            if let Some(control) = &control {
                let _ = rustix::io::fcntl_setfd(control, rustix::io::FdFlags::CLOEXEC);
            }
            control
        });
        let [version, cpu_version] =
            are_version_two.map(|is_two| if is_two { Version::Two } else { Version::One });
        let [most, swap, events, processes, process_events, usage] = controls.each_mut();
        let memory = most.take().zip(events.take());
        let pids = processes.take().zip(process_events.take());
        Self {
            memory: memory.map(|(most, events)| Memory {
                most,
                swap: swap.take(),
                events,
                version,
            }),
            pids: pids.map(|(most, events)| Pids { most, events }),
            cpu_time: usage.take().map(|usage| CpuTime {
                usage,
                version: cpu_version,
            }),
        }
    }

    /// A meter of the CPU time, where the group has one.
    pub fn cpu_time(&self) -> io::Result<Option<CpuTime>> {
        self.cpu_time.as_ref().map(CpuTime::try_clone).transpose()
    }

    /// Whether the group bounds this.
    pub fn has(&self, controller: Controller) -> bool {
        match controller {
            Controller::Memory => self.memory.is_some(),
            Controller::Pids => self.pids.is_some(),
            Controller::CpuTime => self.cpu_time.is_some(),
        }
    }

    /// Bounds the memory, swap included.
    pub fn bound_memory(&self, bytes: u64) -> io::Result<()> {
        let Some(memory) = &self.memory else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        write_control(&memory.most, &bytes.to_string())?;
        if let Some(swap) = &memory.swap {
            let swap_bytes = match memory.version {
                Version::Two => 0,
                Version::One => bytes,
            };
            write_control(swap, &swap_bytes.to_string())?;
        }
        Ok(())
    }

    /// Bounds the number of processes and threads.
    pub fn bound_processes(&self, most: u64) -> io::Result<()> {
        match &self.pids {
            Some(pids) => write_control(&pids.most, &most.to_string()),
            None => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// What the kernel has counted so far.
    pub fn counts(&self) -> Counts {
        let count = |events: Option<&OwnedFd>, name| events.map_or(0, |file| counted(file, name));
        Counts {
            out_of_memory: count(
                self.memory.as_ref().map(|memory| &memory.events),
                "oom_kill",
            ),
            refused_processes: count(self.pids.as_ref().map(|pids| &pids.events), "max"),
        }
    }
}

/// A number in a file of `name number` lines.
fn counted(file: &OwnedFd, name: &str) -> u64 {
    let mut buffer = [0; 1024];
    let length = rustix::io::pread(file, &mut buffer, 0).unwrap_or(0);
    let text = String::from_utf8_lossy(&buffer[..length]);
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
        .unwrap_or(0)
}

/// Removes nests whose owners are gone: nobody holds their lock.
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

/// Removes the groups in a nest. One with a process in it stays, and so does the nest.
fn empty(nest: &OwnedFd) {
    for name in folders_in(nest) {
        let _ = rustix::fs::unlinkat(nest, &name, AtFlags::REMOVEDIR);
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

fn open_control(folder: &OwnedFd, name: &str, access: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(
        folder,
        name,
        access | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

fn write_at(folder: &OwnedFd, name: &str, text: &str) -> io::Result<()> {
    write_control(&open_control(folder, name, OFlags::WRONLY)?, text)
}

fn write_control(file: &OwnedFd, text: &str) -> io::Result<()> {
    rustix::io::write(file, text.as_bytes())?;
    Ok(())
}

fn c_string(text: &str) -> io::Result<CString> {
    CString::new(text).map_err(io::Error::other)
}
