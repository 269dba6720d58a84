//! The init of a run: it reaps, forwards signals, reports the command's end and what was left
//! running, and ends the run when the harness lets go of it.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use ringfence_confine::process::{self, Pid, Reap, Reaped};
use ringfence_confine::signal;
use rustix::event::{PollFd, PollFlags};

use super::protocol::{self, LeftRunning, Order, Report};

/// Attends to a run until nothing of it is left, or the harness lets go.
pub(super) fn attend(harness: &OwnedFd, command: Pid, own_pids: bool) -> io::Result<()> {
    let children = signal::as_descriptor(libc::SIGCHLD)?;
    let mut command = Some(command);
    let mut ended = None;
    loop {
        loop {
            match process::reap()? {
                Reap::Ended(reaped) if Some(reaped.pid) == command => {
                    command = None;
                    ended = Some(reaped);
                }
                Reap::Ended(_) => {}
                Reap::Running => {
                    if let Some(ended) = ended.take() {
                        report_end(harness, &ended, left_running(own_pids))?;
                    }
                    break;
                }
                Reap::NoChildren => {
                    if let Some(ended) = ended.take() {
                        report_end(harness, &ended, Vec::new())?;
                    }
                    return Ok(());
                }
            }
        }
        let mut polled = [
            PollFd::new(harness, PollFlags::IN),
            PollFd::new(&children, PollFlags::IN),
        ];
        match rustix::event::poll(&mut polled, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !polled[1].revents().is_empty() {
            let _ = rustix::io::read(&children, &mut [0u8; 512]);
        }
        if !polled[0].revents().is_empty() {
            match protocol::receive::<Order>(harness) {
                Ok(Some((Order::Signal(number), _))) => forward(number, command),
                Ok(None) | Err(_) => return end(own_pids),
            }
        }
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

fn report_end(harness: &OwnedFd, ended: &Reaped, left: Vec<LeftRunning>) -> io::Result<()> {
    let report = Report::Exited {
        status: ended.ending.status(),
        cpu_micros: ended.cpu_micros,
        max_rss_kib: ended.max_rss_kib,
        left,
    };
    protocol::send(harness, &report, &[])
}

/// The processes of this run that live on.
fn left_running(own_pids: bool) -> Vec<LeftRunning> {
    const MOST: usize = 64;
    let ours = rustix::process::getpid().as_raw_nonzero().get();
    let pids = if own_pids {
        every_process()
    } else {
        descendants(&children_of(ours))
    };
    pids.into_iter()
        .filter(|pid| *pid != ours)
        .filter_map(|pid| command_line(pid).map(|command| LeftRunning { pid, command }))
        .take(MOST)
        .collect()
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

fn descendants(roots: &[i32]) -> Vec<i32> {
    let mut found = roots.to_vec();
    let mut next = 0;
    while next < found.len() && found.len() < 4096 {
        found.extend(children_of(found[next]));
        next += 1;
    }
    found
}

/// The command line of a process, or nothing for one that has ended.
fn command_line(pid: i32) -> Option<String> {
    const LONGEST: usize = 200;
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<_> = bytes
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(String::from_utf8_lossy)
        .collect();
    let line: String = words.join(" ").chars().take(LONGEST).collect();
    if line.is_empty() {
        name(pid)
    } else {
        Some(line)
    }
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
