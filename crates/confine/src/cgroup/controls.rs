//! The controls of one group, open: bounds are written to them and counts are read from them, also
//! where the group's folder cannot be reached any more, or by the next program in the process.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use super::find::Version;
use super::{Controller, Part};

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

impl Pids {
    fn open(part: &Part) -> io::Result<Self> {
        Ok(Self {
            most: open_control(&part.open, "pids.max", OFlags::WRONLY)?,
            events: open_control(&part.open, "pids.events", OFlags::RDONLY)?,
        })
    }
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
    pub(super) fn of(parts: &[Part]) -> io::Result<Self> {
        let mut controls = Self::default();
        for part in parts {
            for controller in &part.controllers {
                match controller {
                    Controller::Memory => controls.memory = Some(Memory::open(part)?),
                    Controller::CpuTime => controls.cpu_time = Some(CpuTime::open(part)?),
                    Controller::Pids => controls.pids = Some(Pids::open(part)?),
                }
            }
        }
        Ok(controls)
    }

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

pub(super) fn open_control(folder: &OwnedFd, name: &str, access: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(
        folder,
        name,
        access | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}

pub(super) fn write_at(folder: &OwnedFd, name: &str, text: &str) -> io::Result<()> {
    write_control(&open_control(folder, name, OFlags::WRONLY)?, text)
}

fn write_control(file: &OwnedFd, text: &str) -> io::Result<()> {
    rustix::io::write(file, text.as_bytes())?;
    Ok(())
}
