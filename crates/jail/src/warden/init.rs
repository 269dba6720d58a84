//! The init of a run: it reaps, forwards signals, reports the command's end and what was left
//! running, and ends the run when the harness lets go of it.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use ringfence_confine::cgroup::Controls;
use ringfence_confine::process::{self, Ending, Pid, Reap, Reaped};
use ringfence_confine::signal;
use ringfence_policy::permissions::Limit;
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::standing::Standing;

use super::guard::Guard;
use super::lookout::Lookout;
use super::protocol::{self, LeftRunning, Order, RawPath, Report, RunLimits, Tmp};
use super::start::{self, Start};
use super::watch::Watch;

/// A run, as its init has it.
pub(super) struct Run<'a> {
    pub(super) harness: &'a OwnedFd,
    /// Where the command comes from, unless it has come before.
    pub(super) launch: Option<&'a OwnedFd>,
    /// Whether every process that can be seen is the run's.
    pub(super) own_pids: bool,
    pub(super) limits: &'a RunLimits,
    /// Which `/tmp` it has, if it is fenced.
    pub(super) tmp: Option<Tmp>,
    pub(super) controls: &'a Controls,
    pub(super) watch: Watch,
}

impl Run<'_> {
    /// Waits for the command's start, and attends to the run until nothing of it is left, or the
    /// harness lets go.
    pub(super) fn attend(
        mut self,
        command: Pid,
        word: &OwnedFd,
        lookout: Option<Lookout>,
        mut guard: Option<Guard<'_>>,
    ) -> io::Result<()> {
        let exposed = match start::wait(word, self.launch, guard.as_mut())? {
            Start::Started(started) => {
                self.report_start(started.terminal.as_ref(), started.covered)?;
                started.exposed
            }
            Start::Failed(failure) => {
                return protocol::send(self.harness, &Report::Failed(failure), &[]);
            }
            Start::Unwanted => return Ok(()),
        };
        self.watch.begin();
        if let Some(guard) = &mut guard {
            guard.forget_lists();
        }
        self.see_through(command, lookout, guard, exposed)
    }

    fn report_start(&self, terminal: Option<&OwnedFd>, covered: Vec<Standing>) -> io::Result<()> {
        let mut along: Vec<_> = terminal.iter().map(AsFd::as_fd).collect();
        let own = rustix::process::pidfd_open(
            rustix::process::getpid(),
            rustix::process::PidfdFlags::empty(),
        )?;
        if self.launch.is_none() {
            // The warden only knows the `bwrap` that we are the first process in.
            along.push(own.as_fd());
        }
        protocol::send(self.harness, &Report::Started { covered }, &along)
    }

    fn see_through(
        &self,
        command: Pid,
        mut lookout: Option<Lookout>,
        mut guard: Option<Guard<'_>>,
        exposed: Vec<RawPath>,
    ) -> io::Result<()> {
        let children = signal::as_descriptor(libc::SIGCHLD)?;
        let mut command = Some(command);
        let mut ended = None;
        let mut stopped = !exposed.is_empty();
        let mut hit = Hit {
            exposed,
            ..Hit::default()
        };
        if stopped {
            self.kill_everybody();
        }
        loop {
            loop {
                match process::reap()? {
                    Reap::Ended(reaped) => {
                        hit.add(self.told_by(reaped.ending));
                        if let Some(lookout) = &mut lookout {
                            lookout.has_ended(reaped.pid);
                        }
                        if Some(reaped.pid) == command {
                            command = None;
                            ended = Some(reaped);
                        }
                    }
                    Reap::Running => {
                        // Those that were killed with the command are not left running.
                        if let Some(ended) = ended.take_if(|_| !stopped) {
                            let mut left = left_running(self.own_pids);
                            let own = lookout.as_ref().map(Lookout::own_processes);
                            left.retain(|left| !own.iter().flatten().any(|own| *own == left.pid));
                            if let Some(used) = guard.as_mut().and_then(Guard::used) {
                                hit.exposed.extend(used);
                                stopped = true;
                                self.kill_everybody();
                            }
                            self.report_end(&ended, &mut hit, lookout.as_mut(), left)?;
                        }
                        break;
                    }
                    Reap::NoChildren => {
                        // The last that it did may not have been told yet.
                        hit.exposed
                            .extend(guard.as_mut().and_then(Guard::used).unwrap_or_default());
                        return match ended.take() {
                            Some(ended) => {
                                self.report_end(&ended, &mut hit, lookout.as_mut(), Vec::new())
                            }
                            None => self.report_over(hit.exposed),
                        };
                    }
                }
            }
            let pause = match self.watch.look() {
                Ok(pause) => pause,
                Err(limit) => {
                    hit.add([limit]);
                    stopped = true;
                    self.kill_everybody();
                    Some(KILL_PAUSE)
                }
            };
            let mut polled = vec![
                PollFd::new(self.harness, PollFlags::IN),
                PollFd::new(&children, PollFlags::IN),
            ];
            let seen_from = lookout.as_ref().and_then(Lookout::descriptor);
            let noticed_from = guard.as_ref().map(Guard::descriptor);
            let lookout_at = polled.len();
            let guard_at = lookout_at + usize::from(seen_from.is_some());
            let more = seen_from.into_iter().chain(noticed_from);
            polled.extend(more.map(|calls| PollFd::from_borrowed_fd(calls, PollFlags::IN)));
            match rustix::event::poll(&mut polled, pause.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let [from_harness, from_children, from_lookout, from_guard] =
                [0, 1, lookout_at, guard_at].map(|index| {
                    polled
                        .get(index)
                        .map_or(PollFlags::empty(), PollFd::revents)
                });
            // Before anything else: whoever is answered here goes on.
            if !from_guard.is_empty()
                && let Some(used) = guard.as_mut().and_then(Guard::used)
            {
                hit.exposed.extend(used);
                stopped = true;
                self.kill_everybody();
            }
            if let Some(lookout) = lookout.as_mut().filter(|_| guard_at > lookout_at) {
                lookout.attend(from_lookout)?;
            }
            if !from_children.is_empty() {
                let _ = rustix::io::read(&children, &mut [0u8; 512]);
            }
            if !from_harness.is_empty() {
                match protocol::receive::<Order>(self.harness) {
                    Ok(Some((Order::Signal(number), _))) => forward(number, command),
                    Ok(Some((Order::End, _)) | None) | Err(_) => return end(self.own_pids),
                }
            }
        }
    }

    /// The limit that the signal tells of that ended a process.
    fn told_by(&self, ending: Ending) -> Option<Limit> {
        match ending.signal() {
            Some(libc::SIGXCPU) => self.limits.cpu_seconds.map(|_| Limit::CpuTime),
            Some(libc::SIGXFSZ) => self.limits.file_size_bytes.map(|_| Limit::FileSize),
            _ => None,
        }
    }

    /// The limits that the kernel has counted or measured.
    fn known_now(&self) -> Vec<Limit> {
        let mut hit = self.watch.last_look();
        let counts = self.controls.counts();
        if counts.out_of_memory > 0 {
            hit.push(Limit::Memory);
        }
        if counts.refused_processes > 0 {
            hit.push(Limit::Processes);
        }
        // Nothing is left of it: whoever writes there now is refused.
        let is_full = || rustix::fs::statvfs("/tmp").is_ok_and(|tmp| tmp.f_bavail == 0);
        if self.tmp == Some(Tmp::Session) && is_full() {
            hit.push(Limit::Tmp);
        }
        hit
    }

    fn report_end(
        &self,
        ended: &Reaped,
        hit: &mut Hit,
        lookout: Option<&mut Lookout>,
        left: Vec<LeftRunning>,
    ) -> io::Result<()> {
        hit.add(self.known_now());
        let report = Report::Exited {
            status: ended.ending.status(),
            cpu_micros: ended.cpu_micros,
            max_rss_kib: ended.max_rss_kib,
            left,
            hit: hit.take_new(),
            denied: lookout.map(Lookout::take).unwrap_or_default(),
            exposed: std::mem::take(&mut hit.exposed),
        };
        protocol::send(self.harness, &report, &[])?;
        // The kernel takes a while to bury an init: whoever waits for the report goes first.
        std::thread::yield_now();
        Ok(())
    }

    /// Says what lay open after the command's own end.
    fn report_over(&self, exposed: Vec<RawPath>) -> io::Result<()> {
        if exposed.is_empty() {
            return Ok(());
        }
        protocol::send(self.harness, &Report::Over { exposed }, &[])
    }

    /// Kills all processes of the run but its init.
    fn kill_everybody(&self) {
        if self.own_pids {
            #[allow(unsafe_code)]
            // SAFETY: kill takes numbers; from the first process of a PID namespace, this reaches
            // everybody else in it and nobody outside.
            unsafe {
                libc::kill(-1, libc::SIGKILL);
            }
        } else {
            let ours = rustix::process::getpid().as_raw_nonzero().get();
            for pid in children_of(ours) {
                kill_tree(pid);
            }
        }
    }
}

/// How long to wait for those that were killed before killing what they may have started.
const KILL_PAUSE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 5_000_000,
};

/// Limits that were hit, each told once, and what lay open.
#[derive(Debug, Default)]
struct Hit {
    all: Vec<Limit>,
    told: usize,
    exposed: Vec<RawPath>,
}

impl Hit {
    fn add(&mut self, limits: impl IntoIterator<Item = Limit>) {
        for limit in limits {
            if !self.all.contains(&limit) {
                self.all.push(limit);
            }
        }
    }

    /// Those that have not been told.
    fn take_new(&mut self) -> Vec<Limit> {
        let new = self.all[self.told..].to_vec();
        self.told = self.all.len();
        new
    }
}

fn forward(number: i32, command: Option<Pid>) {
    if let Some(pid) = command {
        #[allow(unsafe_code)]
        // SAFETY: kill takes numbers; the group is that of our own child, which leads its session.
        unsafe {
            libc::kill(-pid.as_raw_nonzero().get(), number);
        }
    }
}

/// Ends the run. In a PID namespace the kernel kills the rest with us.
fn end(own_pids: bool) -> io::Result<()> {
    if !own_pids {
        let ours = rustix::process::getpid().as_raw_nonzero().get();
        for _ in 0..64 {
            for pid in children_of(ours) {
                kill_tree(pid);
            }
            match process::reap()? {
                Reap::NoChildren => break,
                Reap::Ended(_) => {}
                Reap::Running => std::thread::sleep(std::time::Duration::from_millis(2)),
            }
        }
    }
    Ok(())
}

/// The processes of this run that live on.
fn left_running(own_pids: bool) -> Vec<LeftRunning> {
    const MOST: usize = 64;
    others(own_pids)
        .into_iter()
        .filter_map(|pid| command_line(pid).map(|command| LeftRunning { pid, command }))
        .take(MOST)
        .collect()
}

/// The processes of this run besides the calling one, which is its init, by their names in
/// `/proc`.
pub(super) fn others(own_pids: bool) -> Vec<i32> {
    let ours = rustix::process::getpid().as_raw_nonzero().get();
    let in_proc = fs::read_link("/proc/self")
        .ok()
        .and_then(|name| name.to_str()?.parse().ok())
        .unwrap_or(ours);
    // Where the machine's own `/proc` stands in for the run's, everybody is in it, and by other
    // numbers.
    let mut pids = if own_pids && in_proc == ours {
        every_process()
    } else {
        descendants(&children_of(in_proc))
    };
    pids.retain(|pid| *pid != in_proc);
    pids
}

fn every_process() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let mut pids: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    pids
}

/// Processes and all that they have started.
fn descendants(roots: &[i32]) -> Vec<i32> {
    let mut found = roots.to_vec();
    let mut next = 0;
    while next < found.len() && found.len() < 4096 {
        found.extend(children_of(found[next]));
        next += 1;
    }
    found
}

/// The command line of a process, or nothing for one that has ended. One that executes a program at
/// this moment has none, and will.
fn command_line(pid: i32) -> Option<String> {
    const LONGEST: usize = 200;
    const TRIES: usize = 100;
    let mut name = None;
    for _ in 0..TRIES {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<_> = bytes
            .split(|byte| *byte == 0)
            .filter(|word| !word.is_empty())
            .map(String::from_utf8_lossy)
            .collect();
        let line: String = words.join(" ").chars().take(LONGEST).collect();
        if !line.is_empty() {
            return Some(line);
        }
        name = Some(self::name(pid)?);
        std::thread::yield_now();
    }
    name
}

/// The name of a process that has no command line, as one has for a moment while it executes a
/// program, and for good once it has ended: only the latter is none.
fn name(pid: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (before, after) = stat.rsplit_once(')')?;
    let ended = matches!(after.trim_start().chars().next(), Some('Z' | 'X') | None);
    let name = before.split_once('(')?.1;
    (!ended).then(|| name.to_owned())
}

/// The processes that a process has started and not reaped.
pub(super) fn children_of(pid: i32) -> Vec<i32> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Kills a process and its descendants, parents first so that none can fork again unseen: whoever
/// is orphaned comes to the subreaper and is found in the next round.
pub(super) fn kill_tree(pid: i32) {
    for pid in descendants(&[pid]) {
        #[allow(unsafe_code)]
        // SAFETY: kill takes numbers, and these are descendants of ours.
        unsafe {
            libc::kill(pid, libc::SIGKILL);
        }
    }
}
