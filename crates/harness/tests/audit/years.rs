//! A log over the years: files that follow each other, files that are too old, and kills in between.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use ringfence::audit::{self, AuditFolders, AuditLog, Clock, Durability, Fault, Timestamp, Upkeep};
use ringfence_testkit::require;

use crate::{Archive, intent, outcome};

const DAY: Duration = Duration::from_hours(24);

/// A clock that stands still until it is set. It begins with the machine's, since files have that.
#[derive(Clone)]
struct Standing(Arc<AtomicU64>);

impl Standing {
    fn new() -> Self {
        let now = Timestamp::from(SystemTime::now());
        Self(Arc::new(AtomicU64::new(now.as_millis())))
    }

    fn forward(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap();
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

fn open(folders: &AuditFolders, clock: &Standing, upkeep: Upkeep) -> AuditLog {
    let log = AuditLog::open(folders, clock.clone()).unwrap();
    log.with_upkeep(upkeep).unwrap()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn a_log_goes_on_in_another_file_when_one_is_long_or_old() {
    for (what, upkeep, step, expected) in [
        ("neither", Upkeep::default(), DAY * 400, 1),
        (
            "long",
            Upkeep {
                part_bytes: Some(2000),
                ..Upkeep::default()
            },
            Duration::from_millis(1),
            3,
        ),
        (
            "old",
            Upkeep {
                part_age: Some(DAY * 2),
                ..Upkeep::default()
            },
            DAY,
            6,
        ),
    ] {
        let archive = Archive::new();
        let clock = Standing::new();
        let log = open(&archive.folders, &clock, upkeep);
        for number in 0..12 {
            log.record(intent(number, "make")).unwrap();
            clock.forward(step);
        }
        let parts = files(&archive.folders.dir);
        assert_eq!(parts.len(), expected, "{what}");
        assert_eq!(log.path(), *parts.last().unwrap(), "{what}");
        // In one piece for whoever reads it, and each part is missed.
        let read = audit::read(&archive.folders.dir).unwrap();
        let numbers: Vec<_> = read
            .map(|entry| entry.unwrap().record.call().unwrap().0.clone())
            .collect();
        let all: Vec<_> = (0..12).map(|number| format!("call-{number}")).collect();
        assert_eq!(numbers, all, "{what}");
        assert!(archive.verify().is_intact(), "{what}");
        fs::remove_file(archive.head_of(&parts[0])).unwrap();
        fs::remove_file(&parts[0]).unwrap();
        assert_eq!(
            archive.fault(),
            Some(Fault::Removed { session: 1 }),
            "{what}"
        );
    }
}

/// Four sessions a hundred days ago, one now, and what is left of them.
#[test]
fn files_go_when_they_are_too_old_or_too_much() {
    let size = {
        let archive = Archive::new();
        let log = open(&archive.folders, &Standing::new(), Upkeep::default());
        log.record(intent(0, "make")).unwrap();
        fs::metadata(log.path()).unwrap().len()
    };
    for (what, keep_for, keep_bytes, left) in [
        ("for ever", None, None, 5),
        ("a year", Some(DAY * 365), None, 5),
        ("too old, all but the one in use", Some(DAY * 30), None, 1),
        ("too much", None, Some(2 * size), 3),
        ("a lot of room", None, Some(100 * size), 5),
    ] {
        let archive = Archive::new();
        let clock = Standing::new();
        for number in 0..4 {
            let log = open(&archive.folders, &clock, Upkeep::default());
            log.record(intent(number, "make")).unwrap();
            clock.forward(Duration::from_secs(1));
        }
        clock.forward(DAY * 100);
        let upkeep = Upkeep {
            keep_for,
            keep_bytes,
            ..Upkeep::default()
        };
        let log = open(&archive.folders, &clock, upkeep);
        log.record(intent(9, "make")).unwrap();
        assert_eq!(files(&archive.folders.dir).len(), left, "{what}");
        assert_eq!(
            files(&archive.folders.state_dir.join("audit-heads")).len(),
            left,
            "{what}"
        );
        let report = archive.verify();
        assert!(report.is_intact(), "{what}: {:?}", report.first_fault());
        assert_eq!(report.expired, 5 - left as u64, "{what}");
        // Age is no pretext for others.
        let oldest = files(&archive.folders.dir).remove(0);
        fs::remove_file(archive.head_of(&oldest)).unwrap();
        fs::remove_file(&oldest).unwrap();
        let session = 5 - left as u64 + 1;
        assert_eq!(archive.fault(), Some(Fault::Removed { session }), "{what}");
    }
}

#[test]
fn a_file_that_somebody_writes_stays_however_old_it_is() {
    let archive = Archive::new();
    let clock = Standing::new();
    let upkeep = Upkeep {
        keep_for: Some(DAY),
        ..Upkeep::default()
    };
    let idle = open(&archive.folders, &clock, upkeep);
    idle.record(intent(1, "sleep")).unwrap();
    clock.forward(DAY * 10);
    let other = open(&archive.folders, &clock, upkeep);
    other.record(intent(2, "make")).unwrap();
    idle.record(outcome(1)).unwrap();
    assert_eq!(files(&archive.folders.dir).len(), 2);
    assert!(archive.verify().is_intact());
    drop((idle, other));
    clock.forward(DAY * 10);
    open(&archive.folders, &clock, upkeep);
    assert_eq!(archive.verify().expired, 2);
}

#[test]
fn a_changed_number_of_removed_files_is_found() {
    let archive = Archive::new();
    let clock = Standing::new();
    for number in 0..3 {
        let log = open(&archive.folders, &clock, Upkeep::default());
        log.record(intent(number, "make")).unwrap();
    }
    let register = archive.folders.state_dir.join("audit.register");
    let mut bytes = fs::read(&register).unwrap();
    let line = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let text = String::from_utf8(bytes[..line].to_vec()).unwrap();
    let zero = format!(" {:020} ", 0);
    let at = text.find(&zero).unwrap() + zero.len() - 2;
    bytes[at] = b'1';
    fs::write(&register, bytes).unwrap();
    assert_eq!(archive.fault(), Some(Fault::BadRegister { entry: 1 }));
}

const VICTIM: &str = "RINGFENCE_TEST_AUDIT_YEARS";

/// Not a test of its own: the process that the next test kills.
#[test]
fn victim_of_years() {
    let Some(root) = std::env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let folders = AuditFolders {
        dir: root.join("audit"),
        state_dir: root.join("state"),
    };
    let upkeep = Upkeep {
        part_bytes: Some(1500),
        keep_bytes: Some(4000),
        sync: Durability::Outcome,
        ..Upkeep::default()
    };
    let log = open(&folders, &Standing::new(), upkeep);
    for number in 0..12 {
        log.record(intent(number, "make")).unwrap();
        log.record(outcome(number)).unwrap();
    }
}

#[test]
fn a_kill_at_any_write_leaves_a_log_that_verifies() {
    if !require::has_program("strace") {
        return require::missing("strace", "kills the program at a system call of choice");
    }
    // What changes a file: each of them is the last thing that some process does.
    let mut kills = 0;
    for change in [
        "write",
        "pwrite64",
        "openat",
        "unlink",
        "flock",
        "fdatasync",
    ] {
        for nth in 1.. {
            let archive = Archive::new();
            fs::create_dir_all(&archive.folders.dir).unwrap();
            if !is_killed_at(change, nth, archive.folders.dir.parent().unwrap()) {
                break;
            }
            kills += 1;
            let report = archive.verify();
            let fault = report.first_fault();
            assert!(report.is_intact(), "{change} {nth}: {fault:?}");
            // The next session goes on.
            let log = open(&archive.folders, &Standing::new(), Upkeep::default());
            log.record(intent(99, "make")).unwrap();
            assert!(archive.verify().is_intact(), "{change} {nth}");
        }
    }
    assert!(kills > 100, "only {kills}");
}

/// Runs the victim, which is killed at a system call, unless it makes it less often than that.
fn is_killed_at(call: &str, nth: u32, root: &Path) -> bool {
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={call}"))
        .arg("-e")
        .arg(format!("inject={call}:signal=KILL:when={nth}"))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "years::victim_of_years", "--nocapture"])
        .env(VICTIM, root)
        .output()
        .unwrap();
    !output.status.success()
}
