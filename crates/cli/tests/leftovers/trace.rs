//! A run under `strace`, which stops whoever makes a system call for the nth time, and what is left
//! of a run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use ringfence_confine::cgroup::{Controller, GroupRoot};
use rustix::process::{Pid, Signal};

use crate::program::{Place, RINGFENCE};

/// A system call, and the how-manieth of somebody's it is.
pub(crate) type Moment = (&'static str, u32);

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What `strace` has to say.
pub(crate) struct Trace {
    file: PathBuf,
    moment: Moment,
}

impl Trace {
    pub(crate) fn new(place: &Place, moment: Moment) -> Self {
        let file = place.outside().join("trace");
        std::fs::write(&file, "").unwrap();
        Self { file, moment }
    }

    /// The program, to be stopped at the moment. The tracer is in a session of its own.
    pub(crate) fn command(&self, place: &Place, arguments: &[&str]) -> Command {
        let (call, nth) = self.moment;
        let plain = place.ringfence(arguments);
        let mut command = Command::new("strace");
        command
            .args(["-DDD", "-f", "-qq", "-o"])
            .arg(&self.file)
            .arg(format!("--trace={call},execve"))
            .arg(format!("--inject={call}:signal=STOP:when={nth}"))
            .arg(RINGFENCE)
            .args(plain.get_args())
            .current_dir(place.work())
            .env_clear()
            .envs(
                plain
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .stdin(std::process::Stdio::null());
        command
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.file).unwrap()).into_owned()
    }

    /// Waits until somebody has been stopped; false if the program ends without that.
    pub(crate) fn reached(&self, program: u32) -> bool {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let ended = has_ended(program);
            if !self.stopped().is_empty() {
                return true;
            }
            if ended {
                return false;
            }
            assert!(
                Instant::now() < deadline,
                "{:?}: {}",
                self.moment,
                self.text()
            );
            std::thread::yield_now();
        }
    }

    /// Those that were stopped.
    fn stopped(&self) -> BTreeSet<i32> {
        let text = self.text();
        let lines = text.lines();
        lines
            .filter(|line| line.contains("--- stopped by SIGSTOP ---"))
            .filter_map(|line| line.split_whitespace().next()?.parse().ok())
            .collect()
    }

    /// All processes that were traced.
    pub(crate) fn processes(&self) -> BTreeSet<i32> {
        let text = self.text();
        let pids = text
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        pids.filter_map(|pid| pid.parse().ok()).collect()
    }

    /// Lets everybody go who was stopped, and whoever is stopped later, until nobody is left.
    pub(crate) fn let_go_until_all_have_ended(&self, place: &Place, program: &mut Child) {
        let deadline = Instant::now() + PATIENCE;
        let mut status = None;
        loop {
            for pid in self.stopped() {
                let pid = Pid::from_raw(pid).unwrap();
                let _ = rustix::process::kill_process(pid, Signal::CONT);
            }
            status = status.or(program.try_wait().unwrap());
            if status.is_some() && processes_of(place).is_empty() {
                return;
            }
            if Instant::now() > deadline {
                let left = processes_of(place);
                panic!("{:?}: {status:?}, {left:?}\n{}", self.moment, self.text());
            }
            std::thread::yield_now();
        }
    }
}

fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.trim().chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

/// The name that every path of a place has in it.
fn name_of(place: &Place) -> String {
    let root = place.home();
    let root = root.parent().unwrap().file_name().unwrap();
    root.to_string_lossy().into_owned()
}

/// Everything that is left of a run whose processes were these.
pub(crate) fn left_of(place: &Place, processes: &BTreeSet<i32>) -> Vec<String> {
    let mut left = names_in(&place.work());
    left.extend(processes_of(place));
    left.extend(names_in(&place.home().join(".local/state/ringfence/marks")));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let name = name_of(place);
    left.extend(
        mounts
            .lines()
            .filter(|line| line.contains(&name))
            .map(str::to_owned),
    );
    left.extend(groups_of(processes));
    left
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The processes that have to do with a place: their folder, what they have open, their words.
pub(crate) fn processes_of(place: &Place) -> Vec<String> {
    let name = name_of(place);
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy() != own.as_str())
        .filter_map(|entry| {
            let folder = entry.path();
            let words = std::fs::read(folder.join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            let points = |link: PathBuf| {
                let target = std::fs::read_link(link);
                target.is_ok_and(|target| target.to_string_lossy().contains(&name))
            };
            let open = std::fs::read_dir(folder.join("fd")).into_iter().flatten();
            let has_to_do = words.contains(&name)
                || points(folder.join("cwd"))
                || open.flatten().any(|entry| points(entry.path()));
            has_to_do.then(|| format!("{} {words}", entry.file_name().to_string_lossy()))
        })
        .collect()
}

/// The control groups that some of these processes have made.
fn groups_of(processes: &BTreeSet<i32>) -> Vec<String> {
    let Ok(root) = GroupRoot::make(&[Controller::Pids]) else {
        return Vec::new();
    };
    let paths = root.paths();
    let folders = paths.iter().filter_map(|path| path.parent());
    folders
        .flat_map(names_in)
        .filter(|name| {
            let maker = name
                .strip_prefix("ringfence-")
                .and_then(|rest| rest.split('-').next());
            maker.is_some_and(|pid| pid.parse().is_ok_and(|pid| processes.contains(&pid)))
        })
        .collect()
}
