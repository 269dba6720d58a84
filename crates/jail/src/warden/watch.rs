//! The watch over a run: limits that the kernel does not enforce for a whole run are measured by
//! its init, which ends the run when one is passed.
//!
//! CPU time and what was written to disks are sums over processes: those that live, as `/proc`
//! tells, and those that have ended, which the kernel adds to whoever waited for them and in the
//! end to the init.

use std::fs;
use std::io;
use std::time::{Duration, Instant};

use ringfence_policy::permissions::Limit;
use rustix::event::Timespec;

use super::init;
use super::protocol::RunLimits;

/// What is written is looked at this often: a run can pass its limit by what a disk takes
/// meanwhile.
const DISK_PAUSE: Duration = Duration::from_millis(50);
/// CPU time is looked at when it can have been used up, and never more often than this.
const CPU_PAUSE: Duration = Duration::from_millis(10);
/// The unit in which the kernel tells CPU time: the same on every machine that this runs on.
const TICKS_PER_SECOND: u64 = 100;
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The watch over one run.
#[derive(Debug)]
pub(super) struct Watch {
    cpu: Option<Duration>,
    disk: Option<u64>,
    wall: Option<Duration>,
    deadline: Option<Instant>,
    own_pids: bool,
    cpus: u32,
}

impl Watch {
    /// A watch over a run that is yet to begin. Fails where the kernel does not count what is to be
    /// watched.
    pub(super) fn new(limits: &RunLimits, own_pids: bool) -> io::Result<Self> {
        if limits.disk_bytes.is_some() {
            written_by("self").ok_or(io::ErrorKind::Unsupported)?;
        }
        let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok(Self {
            cpu: limits.cpu_seconds.map(Duration::from_secs),
            disk: limits.disk_bytes,
            wall: limits.wall_millis.map(Duration::from_millis),
            deadline: None,
            own_pids,
            cpus: u32::try_from(cpus).unwrap_or(1),
        })
    }

    /// The command has started, and so has its clock.
    pub(super) fn begin(&mut self) {
        self.deadline = self.wall.and_then(|wall| Instant::now().checked_add(wall));
    }

    /// The limit that has been passed, if any, and otherwise how long there is no need to look
    /// again.
    pub(super) fn look(&self) -> Result<Option<Timespec>, Limit> {
        let mut pause: Option<Duration> = None;
        let mut at_most = |longest: Duration| {
            pause = Some(pause.map_or(longest, |pause| pause.min(longest)));
        };
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Limit::WallClock);
            }
            at_most(left);
        }
        if let Some(limit) = self.cpu {
            let left = limit.saturating_sub(self.cpu_used());
            if left.is_zero() {
                return Err(Limit::CpuTime);
            }
            at_most((left / self.cpus).max(CPU_PAUSE));
        }
        if let Some(limit) = self.disk {
            if self.written() > limit {
                return Err(Limit::Disk);
            }
            at_most(DISK_PAUSE);
        }
        Ok(pause.map(|pause| {
            let pause = pause.min(LONGEST_PAUSE);
            Timespec {
                tv_sec: pause.as_secs().cast_signed(),
                tv_nsec: pause.subsec_nanos().into(),
            }
        }))
    }

    /// The limits that turn out to have been reached at the end.
    pub(super) fn last_look(&self) -> Vec<Limit> {
        let mut hit = Vec::new();
        if self.cpu.is_some_and(|limit| self.cpu_used() >= limit) {
            hit.push(Limit::CpuTime);
        }
        if self.disk.is_some_and(|limit| self.written() > limit) {
            hit.push(Limit::Disk);
        }
        hit
    }

    fn cpu_used(&self) -> Duration {
        let of_the_living: Duration = init::others(self.own_pids)
            .iter()
            .filter_map(|pid| cpu_of(*pid))
            .sum();
        ringfence_confine::process::cpu_of_children() + of_the_living
    }

    fn written(&self) -> u64 {
        let living = init::others(self.own_pids);
        let of_the_living = living.iter().map(|pid| written_by(&pid.to_string()));
        of_the_living
            .chain([written_by("self")])
            .flatten()
            .fold(0, u64::saturating_add)
    }
}

/// The CPU time of a process and of those that it has waited for.
fn cpu_of(pid: i32) -> Option<Duration> {
    // The name, in brackets, may hold anything.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    let ticks: u64 = after
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Some(Duration::from_millis(
        ticks.saturating_mul(1000 / TICKS_PER_SECOND),
    ))
}

/// What a process, and those that it has waited for, caused to be written to disks.
fn written_by(pid: &str) -> Option<u64> {
    fs::read_to_string(format!("/proc/{pid}/io"))
        .ok()?
        .lines()
        .find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok())
}
