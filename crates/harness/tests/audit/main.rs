//! The audit log as its users see it: written, read back, verified, tampered with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod selection;
mod years;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use proptest::prelude::*;
use ringfence::audit::{
    self, AuditError, AuditFolders, AuditLog, CallEnded, Clock, Command, Decision, Fault, Finding,
    Intent, Outcome, Record, Redactor, Report, SessionStarted, SystemClock, Timestamp,
};

/// A clock that ticks a second at every look.
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1000, Ordering::Relaxed))
    }
}

fn ticking() -> Ticking {
    Ticking(AtomicU64::new(1_767_323_045_678))
}

struct Archive {
    _dir: tempfile::TempDir,
    folders: AuditFolders,
}

impl Archive {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folders = AuditFolders {
            dir: dir.path().join("audit"),
            state_dir: dir.path().join("state"),
        };
        Self { _dir: dir, folders }
    }

    /// An archive with one log of this many records.
    fn with_records(count: u64) -> (Self, PathBuf) {
        let archive = Self::new();
        let log = archive.open();
        for number in 0..count {
            log.record(intent(number, "make test")).unwrap();
        }
        let path = log.path();
        (archive, path)
    }

    fn open(&self) -> AuditLog {
        AuditLog::open(&self.folders, ticking()).unwrap()
    }

    fn verify(&self) -> Report {
        audit::verify(&self.folders).unwrap()
    }

    fn fault(&self) -> Option<Fault> {
        self.verify().first_fault().map(|(_, fault)| fault.clone())
    }

    fn head_of(&self, log: &Path) -> PathBuf {
        let name = log.file_name().unwrap().to_str().unwrap();
        self.folders
            .state_dir
            .join("audit-heads")
            .join(format!("{name}.head"))
    }
}

fn intent(number: u64, command: &str) -> Record {
    Record::Intent(Intent {
        call: format!("call-{number}").into(),
        session: "session-1".into(),
        parent: None,
        script: None,
        tool: "bash".into(),
        command: Command::Line(command.into()),
        shell: None,
        cwd: "/work/project".into(),
        sandbox: "workspace-write".into(),
        verdict: Decision::Allow,
        class: None,
        reason: "safe: make runs inside the fence".into(),
        rule: None,
        approved_by: Some("terminal".into()),
        justification: Some("runs the tests".into()),
    })
}

fn outcome(number: u64) -> Record {
    let call = format!("call-{number}").into();
    Record::Outcome(CallEnded {
        fence: Some("native".into()),
        exit_code: Some(0),
        duration_ms: 12,
        stdout_bytes: 1024,
        ..CallEnded::new(call, "session-1".into(), Outcome::Ok)
    })
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(ToOwned::to_owned)
        .collect()
}

fn line_feeds(bytes: &[u8]) -> u64 {
    bytes.split(|byte| *byte == b'\n').count() as u64 - 1
}

fn write_lines(path: &Path, lines: &[String]) {
    fs::write(
        path,
        lines
            .iter()
            .flat_map(|line| [line.as_str(), "\n"])
            .collect::<String>(),
    )
    .unwrap();
}

#[test]
fn records_come_back_as_they_were_written() {
    let archive = Archive::new();
    let log = archive.open();
    let started = Record::SessionStarted(SessionStarted {
        session: "session-1".into(),
        cwd: "/work".into(),
        sandbox: "workspace-write".into(),
        approval: "on-request".into(),
        front: "cli".into(),
        version: "0.1.0".into(),
    });
    let written = [started, intent(1, "ls"), outcome(1)];
    for record in &written {
        log.record(record.clone()).unwrap();
    }
    let entries: Vec<_> = audit::read(&archive.folders.dir)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        entries
            .iter()
            .map(|entry| entry.record.clone())
            .collect::<Vec<_>>(),
        written
    );
    assert_eq!(
        entries.iter().map(|entry| entry.line).collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(entries[0].at.to_string(), "2026-01-02T03:04:06.678Z");
}

#[test]
fn a_line_is_plain_json_with_the_hash_of_the_line_before() {
    let (_archive, path) = Archive::with_records(2);
    let lines = lines(&path);
    let second: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
    let keys: Vec<_> = second
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(keys[..5], ["seq", "at", "prev", "event", "call"]);
    assert_eq!(keys.last(), Some(&"mac"));
    let hash: [u8; 32] = {
        use sha2::Digest as _;
        sha2::Sha256::digest(lines[0].as_bytes()).into()
    };
    let prev = second["prev"].as_str().unwrap();
    let bytes: Vec<u8> = (0..32)
        .map(|at| u8::from_str_radix(&prev[at * 2..at * 2 + 2], 16).unwrap())
        .collect();
    assert_eq!(bytes, hash);
}

#[test]
fn secrets_do_not_reach_the_disk() {
    let archive = Archive::new();
    let log = archive
        .open()
        .with_redactor(Redactor::knowing(["correct horse"]));
    log.record(intent(
        1,
        "echo correct horse; TOKEN=abcdef x; curl https://me:pw123@host",
    ))
    .unwrap();
    let text = fs::read_to_string(log.path()).unwrap();
    let head = fs::read(archive.head_of(&log.path())).unwrap();
    for secret in ["correct horse", "abcdef x", "pw123"] {
        assert!(!text.contains(secret), "{text}");
        assert!(!String::from_utf8_lossy(&head).contains(secret));
    }
    assert!(text.contains("echo [redacted]; TOKEN=[redacted] x; curl https://me:[redacted]@host"));
}

#[test]
fn files_and_directories_are_private() {
    let (archive, path) = Archive::with_records(1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&archive.folders.dir), 0o700);
    assert_eq!(mode(&archive.folders.state_dir), 0o700);
    assert_eq!(mode(&archive.folders.state_dir.join("audit.key")), 0o600);
    assert_eq!(mode(&archive.head_of(&path)), 0o600);
}

#[test]
fn ten_thousand_records_verify_and_cost_little() {
    let archive = Archive::new();
    let log = AuditLog::open(&archive.folders, SystemClock).unwrap();
    let start = Instant::now();
    for number in 0..5000 {
        log.record(intent(number, "cargo test --workspace -- --nocapture"))
            .unwrap();
        log.record(outcome(number)).unwrap();
    }
    let each = start.elapsed() / 10_000;
    println!("one record: {each:?}");
    // Far above what it costs, far below what a forgotten sync would.
    assert!(each.as_micros() < 1000, "{each:?}");
    let start = Instant::now();
    let report = archive.verify();
    println!("verifying 10000 records: {:?}", start.elapsed());
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.records(), 10_000);
    // Any line removed, the last one too; checked at a few places of the long log.
    let all = lines(&log.path());
    for removed in [0, 1, 4999, 9998, 9999] {
        let mut left = all.clone();
        left.remove(removed);
        write_lines(&log.path(), &left);
        let line = archive.fault().and_then(|fault| fault.line());
        assert_eq!(line, Some(removed as u64 + 1));
    }
    write_lines(&log.path(), &all);
    assert!(archive.verify().is_intact());
}

#[test]
fn every_removed_line_and_every_swap_is_found() {
    let (archive, path) = Archive::with_records(8);
    let all = lines(&path);
    for first in 0..all.len() {
        let mut left = all.clone();
        left.remove(first);
        write_lines(&path, &left);
        assert_eq!(
            archive.fault().and_then(|fault| fault.line()),
            Some(first as u64 + 1)
        );
        for second in first + 1..all.len() {
            let mut swapped = all.clone();
            swapped.swap(first, second);
            write_lines(&path, &swapped);
            let expected = Fault::Misplaced {
                line: first as u64 + 1,
                found: second as u64 + 1,
            };
            assert_eq!(archive.fault(), Some(expected));
        }
    }
    write_lines(&path, &all);
    assert_eq!(archive.fault(), None);
}

#[test]
fn cutting_the_log_at_any_byte_is_found() {
    let (archive, path) = Archive::with_records(3);
    let bytes = fs::read(&path).unwrap();
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let whole = line_feeds(&bytes[..length]);
        assert_eq!(
            archive.fault().and_then(|fault| fault.line()),
            Some(whole + 1),
            "{length}"
        );
    }
}

#[test]
fn appended_lines_are_found() {
    let (archive, path) = Archive::with_records(3);
    let bytes = fs::read(&path).unwrap();
    let last = lines(&path).pop().unwrap() + "\n";
    for appended in ["\n", "x", "{}\n", last.as_str(), &last[..10]] {
        fs::write(&path, [&bytes, appended.as_bytes()].concat()).unwrap();
        assert_eq!(
            archive.fault(),
            Some(Fault::Appended { line: 4 }),
            "{appended}"
        );
    }
}

#[test]
fn files_that_come_go_or_change_places_are_found() {
    let (archive, path) = Archive::with_records(3);
    let other = {
        let log = archive.open();
        log.record(intent(1, "ls")).unwrap();
        log.path()
    };
    assert!(archive.verify().is_intact());

    let stranger = archive
        .folders
        .dir
        .join("20200101T000000000Z-1-00000000.jsonl");
    fs::copy(&path, &stranger).unwrap();
    assert_eq!(archive.fault(), Some(Fault::NoHead));
    fs::remove_file(&stranger).unwrap();

    let kept = fs::read(&path).unwrap();
    fs::copy(&other, &path).unwrap();
    assert_eq!(archive.fault(), Some(Fault::Changed { line: 1 }));
    fs::remove_file(&path).unwrap();
    assert_eq!(archive.fault(), Some(Fault::NoLog { expected: 3 }));
    fs::create_dir(&path).unwrap();
    assert_eq!(archive.fault(), Some(Fault::NotAFile));
    fs::remove_dir(&path).unwrap();
    fs::write(&path, kept).unwrap();
    assert!(archive.verify().is_intact());

    fs::copy(archive.head_of(&other), archive.head_of(&path)).unwrap();
    assert_eq!(archive.fault(), Some(Fault::BadHead));
}

/// Puts the head back to where it was before the last record, as a kill between the two writes
/// would leave it; the draft stays.
fn lag_head(archive: &Archive, path: &Path, before: &[u8]) {
    let head = archive.head_of(path);
    let mut now = fs::read(&head).unwrap();
    now[..256].copy_from_slice(&before[..256]);
    fs::write(head, now).unwrap();
}

#[test]
fn a_kill_at_any_moment_leaves_a_log_that_verifies_and_no_more_than_that() {
    let archive = Archive::new();
    let log = archive.open();
    log.record(intent(
        1,
        "a rather long first command, so that the second draft is shorter",
    ))
    .unwrap();
    let head = fs::read(archive.head_of(&log.path())).unwrap();
    let one = fs::read(log.path()).unwrap();
    log.record(intent(2, "second")).unwrap();
    let two = fs::read(log.path()).unwrap();
    let (archive, path) = (archive, log.path());
    lag_head(&archive, &path, &head);
    let finding = |archive: &Archive| archive.verify().files[0].finding.clone();

    // Killed within the write, or right after it.
    for length in one.len()..=two.len() {
        fs::write(&path, &two[..length]).unwrap();
        let expected = if length == one.len() {
            Finding::Intact
        } else {
            Finding::InFlight
        };
        assert_eq!(finding(&archive), expected, "{length}");
    }
    // A stranger's bytes in the same place.
    for at in one.len()..two.len() {
        let mut changed = two.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        assert_eq!(
            finding(&archive),
            Finding::Bad(Fault::Appended { line: 2 }),
            "{at}"
        );
    }
    fs::write(&path, [two.as_slice(), b"x"].concat()).unwrap();
    assert_eq!(finding(&archive), Finding::Bad(Fault::Appended { line: 3 }));
    // Without the draft, nothing vouches for the second line.
    fs::write(&path, &two).unwrap();
    fs::write(archive.head_of(&path), &head).unwrap();
    assert_eq!(finding(&archive), Finding::Bad(Fault::Appended { line: 2 }));
}

/// Set in the environment of a writer that is to be killed: the directory of its log.
const VICTIM: &str = "AUDIT_TEST_VICTIM";

/// Not a test of its own: the process that the next test kills.
#[test]
fn victim() {
    let Some(root) = std::env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let folders = AuditFolders {
        dir: root.join("audit"),
        state_dir: root.join("state"),
    };
    let log = AuditLog::open(&folders, SystemClock).unwrap();
    for number in 0.. {
        log.record(intent(number, &"x".repeat(3000))).unwrap();
        println!("recorded");
    }
}

#[test]
fn a_killed_process_leaves_a_log_that_verifies_with_all_that_it_was_told_is_kept() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let archive = Archive::new();
    for records in 1..=30 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--nocapture"])
            .env(VICTIM, archive.folders.dir.parent().unwrap())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let told = output
            .lines()
            .filter(|line| line.as_ref().unwrap() == "recorded");
        assert_eq!(told.take(records).count(), records);
        child.kill().unwrap();
        child.wait().unwrap();
        let report = archive.verify();
        assert!(report.is_intact(), "{:?}", report.first_fault());
        assert!(
            report
                .files
                .iter()
                .any(|file| file.records >= records as u64)
        );
    }
    assert_eq!(archive.verify().files.len(), 30);
}

/// A limit on the size of files ends a write halfway, as a full disk does.
#[test]
fn a_write_that_ends_halfway_is_an_error_and_leaves_no_trace() {
    let archive = Archive::new();
    let output = std::process::Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 20; exec \"$0\" --exact victim --nocapture",
        ])
        .arg(std::env::current_exe().unwrap())
        .env(VICTIM, archive.folders.dir.parent().unwrap())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        error.contains("Write") && error.contains("FileTooLarge"),
        "{error}"
    );
    let told = String::from_utf8_lossy(&output.stdout)
        .matches("recorded")
        .count() as u64;
    let report = archive.verify();
    assert_eq!(report.files[0].finding, Finding::Intact);
    assert!(told > 0 && report.records() == told, "{report:?}");
}

#[test]
fn a_log_that_was_opened_and_never_written_is_intact() {
    let archive = Archive::new();
    let log = archive.open();
    assert_eq!(archive.verify().files[0].finding, Finding::Intact);
    fs::remove_file(log.path()).unwrap();
    assert_eq!(archive.verify().files[0].finding, Finding::InFlight);
    assert!(matches!(
        log.record(outcome(1)),
        Err(AuditError::Interfered { .. })
    ));
}

#[test]
fn interference_while_in_use_stops_the_writer() {
    let archive = Archive::new();
    let log = archive.open();
    log.record(outcome(1)).unwrap();
    let bytes = fs::read(log.path()).unwrap();
    fs::write(log.path(), [bytes.as_slice(), b"{}\n"].concat()).unwrap();
    assert!(matches!(
        log.record(outcome(2)),
        Err(AuditError::Interfered { .. })
    ));
    fs::write(log.path(), &bytes).unwrap();
    log.record(outcome(2)).unwrap();
    assert!(archive.verify().is_intact());
}

#[test]
fn places_that_cannot_be_trusted_are_refused() {
    let archive = Archive::new();
    drop(archive.open());
    let open = || {
        AuditLog::open(&archive.folders, ticking())
            .map(|_| ())
            .unwrap_err()
    };
    let chmod = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let key = archive.folders.state_dir.join("audit.key");

    chmod(&archive.folders.dir, 0o777);
    assert!(matches!(
        open(),
        AuditError::Exposed {
            mode: 0o777,
            want: 0o700,
            ..
        }
    ));
    chmod(&archive.folders.dir, 0o700);
    chmod(&key, 0o644);
    assert!(matches!(
        open(),
        AuditError::Exposed {
            mode: 0o644,
            want: 0o600,
            ..
        }
    ));
    chmod(&key, 0o600);
    fs::write(&key, "short").unwrap();
    assert!(matches!(open(), AuditError::BadKey { .. }));

    let file = archive.folders.dir.join("file");
    fs::write(&file, "").unwrap();
    let inside = AuditFolders {
        dir: file.join("audit"),
        state_dir: archive.folders.state_dir.clone(),
    };
    let error = AuditLog::open(&inside, ticking()).map(|_| ()).unwrap_err();
    assert!(matches!(error, AuditError::Directory { .. }));
}

#[test]
fn verifying_while_others_write_never_cries_wolf() {
    let archive = Archive::new();
    let (log, done) = (archive.open(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (log, done) = (&log, &done);
            scope.spawn(move || {
                for number in 0..300 {
                    log.record(intent(writer * 1000 + number, "ls")).unwrap();
                }
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
        while done.load(Ordering::SeqCst) < 2 {
            let report = archive.verify();
            assert_eq!(report.files[0].finding, Finding::Intact);
        }
    });
    assert_eq!(archive.verify().records(), 600);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_changed_byte_is_found_in_its_line(place_in_log in 0.0..1.0f64, change in 1..=255u8) {
        let (archive, path) = Archive::with_records(5);
        let mut bytes = fs::read(&path).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let at = (place_in_log * bytes.len() as f64) as usize;
        let line = line_feeds(&bytes[..at]) + 1;
        bytes[at] ^= change;
        fs::write(&path, &bytes).unwrap();
        prop_assert_eq!(archive.fault().and_then(|fault| fault.line()), Some(line));
    }
}

fn take(archive: &Archive, path: &Path) {
    fs::remove_file(path).unwrap();
    fs::remove_file(archive.head_of(path)).unwrap();
}

fn register(archive: &Archive) -> PathBuf {
    archive.folders.state_dir.join("audit.register")
}

/// Where the entries of the register begin, and how long each is.
const ENTRIES_AT: usize = 256;
const ENTRY: usize = 384;

/// Changes the bytes of the register.
fn edit_register(archive: &Archive, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(register(archive)).unwrap();
    edit(&mut bytes);
    fs::write(register(archive), bytes).unwrap();
}

type Deed = fn(&Archive, &[PathBuf]);

/// What is done to four sessions that are over, and what must be found.
const DEEDS: &[(&str, Deed, Option<Fault>)] = &[
    ("nothing", |_, _| {}, None),
    (
        "the first is taken away",
        |archive, logs| take(archive, &logs[0]),
        Some(Fault::Removed { session: 1 }),
    ),
    (
        "one of them",
        |archive, logs| take(archive, &logs[2]),
        Some(Fault::Removed { session: 3 }),
    ),
    (
        "the last",
        |archive, logs| take(archive, &logs[3]),
        Some(Fault::Removed { session: 4 }),
    ),
    (
        "all",
        |archive, logs| logs.iter().for_each(|log| take(archive, log)),
        Some(Fault::Removed { session: 1 }),
    ),
    (
        "the last, and its entry",
        |archive, logs| {
            take(archive, &logs[3]);
            edit_register(archive, |bytes| bytes.truncate(bytes.len() - ENTRY));
        },
        Some(Fault::BadRegister { entry: 4 }),
    ),
    (
        "one of them, and its entry",
        |archive, logs| {
            take(archive, &logs[1]);
            edit_register(archive, |bytes| {
                bytes.drain(ENTRIES_AT + ENTRY..ENTRIES_AT + 2 * ENTRY);
            });
        },
        Some(Fault::BadRegister { entry: 2 }),
    ),
    (
        "two entries change places",
        |archive, _| {
            edit_register(archive, |bytes| {
                let (first, second) = bytes[ENTRIES_AT..].split_at_mut(ENTRY);
                first.swap_with_slice(&mut second[..ENTRY]);
            });
        },
        Some(Fault::BadRegister { entry: 1 }),
    ),
    (
        "a letter of the register",
        |archive, _| edit_register(archive, |bytes| bytes[ENTRIES_AT + 2 * ENTRY + 30] ^= 1),
        Some(Fault::BadRegister { entry: 3 }),
    ),
    (
        "the register",
        |archive, _| fs::remove_file(register(archive)).unwrap(),
        Some(Fault::NoRegister),
    ),
    (
        "one of them and the register, and another session begins",
        |archive, logs| {
            take(archive, &logs[1]);
            fs::remove_file(register(archive)).unwrap();
            archive.open().record(intent(9, "ls")).unwrap();
        },
        Some(Fault::NotListed),
    ),
    (
        "an older copy is put in the archive of one",
        |archive, logs| {
            for path in [logs[0].clone(), archive.head_of(&logs[0])] {
                fs::copy(path.with_extension("old"), path).unwrap();
            }
        },
        Some(Fault::SetBack { expected: 2 }),
    ),
];

#[test]
fn a_session_that_is_taken_away_is_named() {
    for (what, deed, expected) in DEEDS {
        let archive = Archive::new();
        let session = |number: u64| {
            let clock = Ticking(AtomicU64::new(1_767_323_045_678 + number * 60_000));
            let log = AuditLog::open(&archive.folders, clock).unwrap();
            log.record(intent(1, "make")).unwrap();
            if number == 0 {
                for path in [log.path(), archive.head_of(&log.path())] {
                    fs::copy(&path, path.with_extension("old")).unwrap();
                }
            }
            log.record(outcome(1)).unwrap();
            log.path()
        };
        let mut logs: Vec<PathBuf> = Vec::new();
        for number in 0..4 {
            logs.push(session(number));
        }
        deed(&archive, &logs);
        assert_eq!(archive.fault(), *expected, "{what}");
    }
}

/// A log that was opened and not listed yet, as a kill leaves it, has no line.
#[test]
fn a_kill_while_a_log_is_opened_leaves_nothing_to_miss() {
    let (archive, path) = Archive::with_records(2);
    let before = fs::read(register(&archive)).unwrap();
    drop(archive.open());
    let after = fs::read(register(&archive)).unwrap();
    // Killed before it was listed; in the middle of the entry; before it was counted.
    for length in [before.len(), before.len() + 100, after.len()] {
        let mut bytes = after[..length].to_vec();
        bytes[..ENTRIES_AT].copy_from_slice(&before[..ENTRIES_AT]);
        fs::write(register(&archive), &bytes).unwrap();
        assert_eq!(archive.fault(), None, "{length}");
    }
    // The next one takes that place, and all is as it should be.
    archive.open().record(intent(1, "ls")).unwrap();
    assert_eq!(archive.fault(), None);
    assert_eq!(lines(&path).len(), 2);
}

#[test]
fn many_sessions_at_once_are_all_listed() {
    let archive = Archive::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for number in 0..5 {
                    let log = AuditLog::open(&archive.folders, SystemClock).unwrap();
                    log.record(intent(number, "ls")).unwrap();
                    assert!(archive.verify().is_intact(), "{:?}", archive.fault());
                }
            });
        }
    });
    let report = archive.verify();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.files.len(), 40);
}
