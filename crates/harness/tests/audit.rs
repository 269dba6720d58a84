//! The audit log as its users see it: written, read back, verified, tampered with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use proptest::prelude::*;
use ringfence::audit::{
    self, AuditError, AuditLog, AuditPlace, CallEnded, Clock, Command, Decision, Fault, Finding,
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

struct Place {
    _dir: tempfile::TempDir,
    place: AuditPlace,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let place = AuditPlace {
            dir: dir.path().join("audit"),
            state_dir: dir.path().join("state"),
        };
        Self { _dir: dir, place }
    }

    /// A place with one log of this many records.
    fn with_records(count: u64) -> (Self, PathBuf) {
        let place = Self::new();
        let log = place.open();
        for number in 0..count {
            log.record(intent(number, "make test")).unwrap();
        }
        let path = log.path().to_owned();
        (place, path)
    }

    fn open(&self) -> AuditLog {
        AuditLog::open(&self.place, ticking()).unwrap()
    }

    fn verify(&self) -> Report {
        audit::verify(&self.place).unwrap()
    }

    fn fault(&self) -> Option<Fault> {
        self.verify().first_fault().map(|(_, fault)| fault.clone())
    }

    fn head_of(&self, log: &Path) -> PathBuf {
        let name = log.file_name().unwrap().to_str().unwrap();
        self.place
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
    let place = Place::new();
    let log = place.open();
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
    let entries: Vec<_> = audit::read(&place.place.dir)
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
    let (_place, path) = Place::with_records(2);
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
    let place = Place::new();
    let log = place
        .open()
        .with_redactor(Redactor::knowing(["correct horse"]));
    log.record(intent(
        1,
        "echo correct horse; TOKEN=abcdef x; curl https://me:pw123@host",
    ))
    .unwrap();
    let text = fs::read_to_string(log.path()).unwrap();
    let head = fs::read(place.head_of(log.path())).unwrap();
    for secret in ["correct horse", "abcdef x", "pw123"] {
        assert!(!text.contains(secret), "{text}");
        assert!(!String::from_utf8_lossy(&head).contains(secret));
    }
    assert!(text.contains("echo [redacted]; TOKEN=[redacted] x; curl https://me:[redacted]@host"));
}

#[test]
fn files_and_directories_are_private() {
    let (place, path) = Place::with_records(1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&place.place.dir), 0o700);
    assert_eq!(mode(&place.place.state_dir), 0o700);
    assert_eq!(mode(&place.place.state_dir.join("audit.key")), 0o600);
    assert_eq!(mode(&place.head_of(&path)), 0o600);
}

#[test]
fn ten_thousand_records_verify_and_cost_little() {
    let place = Place::new();
    let log = AuditLog::open(&place.place, SystemClock).unwrap();
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
    let report = place.verify();
    println!("verifying 10000 records: {:?}", start.elapsed());
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.records(), 10_000);
    // Any line removed, the last one too; checked at a few places of the long log.
    let all = lines(log.path());
    for removed in [0, 1, 4999, 9998, 9999] {
        let mut left = all.clone();
        left.remove(removed);
        write_lines(log.path(), &left);
        let line = place.fault().and_then(|fault| fault.line());
        assert_eq!(line, Some(removed as u64 + 1));
    }
    write_lines(log.path(), &all);
    assert!(place.verify().is_intact());
}

#[test]
fn every_removed_line_and_every_swap_is_found() {
    let (place, path) = Place::with_records(8);
    let all = lines(&path);
    for first in 0..all.len() {
        let mut left = all.clone();
        left.remove(first);
        write_lines(&path, &left);
        assert_eq!(
            place.fault().and_then(|fault| fault.line()),
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
            assert_eq!(place.fault(), Some(expected));
        }
    }
    write_lines(&path, &all);
    assert_eq!(place.fault(), None);
}

#[test]
fn cutting_the_log_at_any_byte_is_found() {
    let (place, path) = Place::with_records(3);
    let bytes = fs::read(&path).unwrap();
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let whole = line_feeds(&bytes[..length]);
        assert_eq!(
            place.fault().and_then(|fault| fault.line()),
            Some(whole + 1),
            "{length}"
        );
    }
}

#[test]
fn appended_lines_are_found() {
    let (place, path) = Place::with_records(3);
    let bytes = fs::read(&path).unwrap();
    let last = lines(&path).pop().unwrap() + "\n";
    for appended in ["\n", "x", "{}\n", last.as_str(), &last[..10]] {
        fs::write(&path, [&bytes, appended.as_bytes()].concat()).unwrap();
        assert_eq!(
            place.fault(),
            Some(Fault::Appended { line: 4 }),
            "{appended}"
        );
    }
}

#[test]
fn files_that_come_go_or_change_places_are_found() {
    let (place, path) = Place::with_records(3);
    let other = {
        let log = place.open();
        log.record(intent(1, "ls")).unwrap();
        log.path().to_owned()
    };
    assert!(place.verify().is_intact());

    let stranger = place.place.dir.join("20200101T000000000Z-1-00000000.jsonl");
    fs::copy(&path, &stranger).unwrap();
    assert_eq!(place.fault(), Some(Fault::NoHead));
    fs::remove_file(&stranger).unwrap();

    let kept = fs::read(&path).unwrap();
    fs::copy(&other, &path).unwrap();
    assert_eq!(place.fault(), Some(Fault::Changed { line: 1 }));
    fs::remove_file(&path).unwrap();
    assert_eq!(place.fault(), Some(Fault::NoLog { expected: 3 }));
    fs::create_dir(&path).unwrap();
    assert_eq!(place.fault(), Some(Fault::NotAFile));
    fs::remove_dir(&path).unwrap();
    fs::write(&path, kept).unwrap();
    assert!(place.verify().is_intact());

    fs::copy(place.head_of(&other), place.head_of(&path)).unwrap();
    assert_eq!(place.fault(), Some(Fault::BadHead));
}

/// Puts the head back to where it was before the last record, as a kill between the two writes
/// would leave it; the draft stays.
fn lag_head(place: &Place, path: &Path, before: &[u8]) {
    let head = place.head_of(path);
    let mut now = fs::read(&head).unwrap();
    now[..256].copy_from_slice(&before[..256]);
    fs::write(head, now).unwrap();
}

#[test]
fn a_kill_at_any_moment_leaves_a_log_that_verifies_and_no_more_than_that() {
    let place = Place::new();
    let log = place.open();
    log.record(intent(
        1,
        "a rather long first command, so that the second draft is shorter",
    ))
    .unwrap();
    let head = fs::read(place.head_of(log.path())).unwrap();
    let one = fs::read(log.path()).unwrap();
    log.record(intent(2, "second")).unwrap();
    let two = fs::read(log.path()).unwrap();
    let (place, path) = (place, log.path().to_owned());
    lag_head(&place, &path, &head);
    let finding = |place: &Place| place.verify().files[0].finding.clone();

    // Killed within the write, or right after it.
    for length in one.len()..=two.len() {
        fs::write(&path, &two[..length]).unwrap();
        let expected = if length == one.len() {
            Finding::Intact
        } else {
            Finding::InFlight
        };
        assert_eq!(finding(&place), expected, "{length}");
    }
    // A stranger's bytes in the same place.
    for at in one.len()..two.len() {
        let mut changed = two.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        assert_eq!(
            finding(&place),
            Finding::Bad(Fault::Appended { line: 2 }),
            "{at}"
        );
    }
    fs::write(&path, [two.as_slice(), b"x"].concat()).unwrap();
    assert_eq!(finding(&place), Finding::Bad(Fault::Appended { line: 3 }));
    // Without the draft, nothing vouches for the second line.
    fs::write(&path, &two).unwrap();
    fs::write(place.head_of(&path), &head).unwrap();
    assert_eq!(finding(&place), Finding::Bad(Fault::Appended { line: 2 }));
}

/// Set in the environment of a writer that is to be killed: the directory of its log.
const VICTIM: &str = "AUDIT_TEST_VICTIM";

/// Not a test of its own: the process that the next test kills.
#[test]
fn victim() {
    let Some(root) = std::env::var_os(VICTIM).map(PathBuf::from) else {
        return;
    };
    let place = AuditPlace {
        dir: root.join("audit"),
        state_dir: root.join("state"),
    };
    let log = AuditLog::open(&place, SystemClock).unwrap();
    for number in 0.. {
        log.record(intent(number, &"x".repeat(3000))).unwrap();
        println!("recorded");
    }
}

#[test]
fn a_killed_process_leaves_a_log_that_verifies_with_all_that_it_was_told_is_kept() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let place = Place::new();
    for records in 1..=30 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--nocapture"])
            .env(VICTIM, place.place.dir.parent().unwrap())
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
        let report = place.verify();
        assert!(report.is_intact(), "{:?}", report.first_fault());
        assert!(
            report
                .files
                .iter()
                .any(|file| file.records >= records as u64)
        );
    }
    assert_eq!(place.verify().files.len(), 30);
}

/// A limit on the size of files ends a write halfway, as a full disk does.
#[test]
fn a_write_that_ends_halfway_is_an_error_and_leaves_no_trace() {
    let place = Place::new();
    let output = std::process::Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 20; exec \"$0\" --exact victim --nocapture",
        ])
        .arg(std::env::current_exe().unwrap())
        .env(VICTIM, place.place.dir.parent().unwrap())
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
    let report = place.verify();
    assert_eq!(report.files[0].finding, Finding::Intact);
    assert!(told > 0 && report.records() == told, "{report:?}");
}

#[test]
fn a_log_that_was_opened_and_never_written_is_intact() {
    let place = Place::new();
    let log = place.open();
    assert_eq!(place.verify().files[0].finding, Finding::Intact);
    fs::remove_file(log.path()).unwrap();
    assert_eq!(place.verify().files[0].finding, Finding::InFlight);
    assert!(matches!(
        log.record(outcome(1)),
        Err(AuditError::Interfered { .. })
    ));
}

#[test]
fn interference_while_in_use_stops_the_writer() {
    let place = Place::new();
    let log = place.open();
    log.record(outcome(1)).unwrap();
    let bytes = fs::read(log.path()).unwrap();
    fs::write(log.path(), [bytes.as_slice(), b"{}\n"].concat()).unwrap();
    assert!(matches!(
        log.record(outcome(2)),
        Err(AuditError::Interfered { .. })
    ));
    fs::write(log.path(), &bytes).unwrap();
    log.record(outcome(2)).unwrap();
    assert!(place.verify().is_intact());
}

#[test]
fn places_that_cannot_be_trusted_are_refused() {
    let place = Place::new();
    drop(place.open());
    let open = || {
        AuditLog::open(&place.place, ticking())
            .map(|_| ())
            .unwrap_err()
    };
    let chmod = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let key = place.place.state_dir.join("audit.key");

    chmod(&place.place.dir, 0o777);
    assert!(matches!(
        open(),
        AuditError::Exposed {
            mode: 0o777,
            want: 0o700,
            ..
        }
    ));
    chmod(&place.place.dir, 0o700);
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

    let file = place.place.dir.join("file");
    fs::write(&file, "").unwrap();
    let inside = AuditPlace {
        dir: file.join("audit"),
        state_dir: place.place.state_dir.clone(),
    };
    let error = AuditLog::open(&inside, ticking()).map(|_| ()).unwrap_err();
    assert!(matches!(error, AuditError::Directory { .. }));
}

#[test]
fn verifying_while_others_write_never_cries_wolf() {
    let place = Place::new();
    let (log, done) = (place.open(), AtomicU64::new(0));
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
            let report = place.verify();
            assert_eq!(report.files[0].finding, Finding::Intact);
        }
    });
    assert_eq!(place.verify().records(), 600);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_changed_byte_is_found_in_its_line(place_in_log in 0.0..1.0f64, change in 1..=255u8) {
        let (place, path) = Place::with_records(5);
        let mut bytes = fs::read(&path).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let at = (place_in_log * bytes.len() as f64) as usize;
        let line = line_feeds(&bytes[..at]) + 1;
        bytes[at] ^= change;
        fs::write(&path, &bytes).unwrap();
        prop_assert_eq!(place.fault().and_then(|fault| fault.line()), Some(line));
    }
}

fn take(place: &Place, path: &Path) {
    fs::remove_file(path).unwrap();
    fs::remove_file(place.head_of(path)).unwrap();
}

fn register(place: &Place) -> PathBuf {
    place.place.state_dir.join("audit.register")
}

/// Where the entries of the register begin, and how long each is.
const ENTRIES_AT: usize = 256;
const ENTRY: usize = 384;

/// Changes the bytes of the register.
fn edit_register(place: &Place, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(register(place)).unwrap();
    edit(&mut bytes);
    fs::write(register(place), bytes).unwrap();
}

type Deed = fn(&Place, &[PathBuf]);

/// What is done to four sessions that are over, and what must be found.
const DEEDS: &[(&str, Deed, Option<Fault>)] = &[
    ("nothing", |_, _| {}, None),
    (
        "the first is taken away",
        |place, logs| take(place, &logs[0]),
        Some(Fault::Removed { session: 1 }),
    ),
    (
        "one of them",
        |place, logs| take(place, &logs[2]),
        Some(Fault::Removed { session: 3 }),
    ),
    (
        "the last",
        |place, logs| take(place, &logs[3]),
        Some(Fault::Removed { session: 4 }),
    ),
    (
        "all",
        |place, logs| logs.iter().for_each(|log| take(place, log)),
        Some(Fault::Removed { session: 1 }),
    ),
    (
        "the last, and its entry",
        |place, logs| {
            take(place, &logs[3]);
            edit_register(place, |bytes| bytes.truncate(bytes.len() - ENTRY));
        },
        Some(Fault::BadRegister { entry: 4 }),
    ),
    (
        "one of them, and its entry",
        |place, logs| {
            take(place, &logs[1]);
            edit_register(place, |bytes| {
                bytes.drain(ENTRIES_AT + ENTRY..ENTRIES_AT + 2 * ENTRY);
            });
        },
        Some(Fault::BadRegister { entry: 2 }),
    ),
    (
        "two entries change places",
        |place, _| {
            edit_register(place, |bytes| {
                let (first, second) = bytes[ENTRIES_AT..].split_at_mut(ENTRY);
                first.swap_with_slice(&mut second[..ENTRY]);
            });
        },
        Some(Fault::BadRegister { entry: 1 }),
    ),
    (
        "a letter of the register",
        |place, _| edit_register(place, |bytes| bytes[ENTRIES_AT + 2 * ENTRY + 30] ^= 1),
        Some(Fault::BadRegister { entry: 3 }),
    ),
    (
        "the register",
        |place, _| fs::remove_file(register(place)).unwrap(),
        Some(Fault::NoRegister),
    ),
    (
        "one of them and the register, and another session begins",
        |place, logs| {
            take(place, &logs[1]);
            fs::remove_file(register(place)).unwrap();
            place.open().record(intent(9, "ls")).unwrap();
        },
        Some(Fault::NotListed),
    ),
    (
        "an older copy is put in the place of one",
        |place, logs| {
            for path in [logs[0].clone(), place.head_of(&logs[0])] {
                fs::copy(path.with_extension("old"), path).unwrap();
            }
        },
        Some(Fault::SetBack { expected: 2 }),
    ),
];

#[test]
fn a_session_that_is_taken_away_is_named() {
    for (what, deed, expected) in DEEDS {
        let place = Place::new();
        let session = |number: u64| {
            let clock = Ticking(AtomicU64::new(1_767_323_045_678 + number * 60_000));
            let log = AuditLog::open(&place.place, clock).unwrap();
            log.record(intent(1, "make")).unwrap();
            if number == 0 {
                for path in [log.path().to_owned(), place.head_of(log.path())] {
                    fs::copy(&path, path.with_extension("old")).unwrap();
                }
            }
            log.record(outcome(1)).unwrap();
            log.path().to_owned()
        };
        let mut logs: Vec<PathBuf> = Vec::new();
        for number in 0..4 {
            logs.push(session(number));
        }
        deed(&place, &logs);
        assert_eq!(place.fault(), *expected, "{what}");
    }
}

/// A log that was opened and not listed yet, as a kill leaves it, has no line.
#[test]
fn a_kill_while_a_log_is_opened_leaves_nothing_to_miss() {
    let (place, path) = Place::with_records(2);
    let before = fs::read(register(&place)).unwrap();
    drop(place.open());
    let after = fs::read(register(&place)).unwrap();
    // Killed before it was listed; in the middle of the entry; before it was counted.
    for length in [before.len(), before.len() + 100, after.len()] {
        let mut bytes = after[..length].to_vec();
        bytes[..ENTRIES_AT].copy_from_slice(&before[..ENTRIES_AT]);
        fs::write(register(&place), &bytes).unwrap();
        assert_eq!(place.fault(), None, "{length}");
    }
    // The next one takes that place, and all is as it should be.
    place.open().record(intent(1, "ls")).unwrap();
    assert_eq!(place.fault(), None);
    assert_eq!(lines(&path).len(), 2);
}

#[test]
fn many_sessions_at_once_are_all_listed() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for number in 0..5 {
                    let log = AuditLog::open(&place.place, SystemClock).unwrap();
                    log.record(intent(number, "ls")).unwrap();
                    assert!(place.verify().is_intact(), "{:?}", place.fault());
                }
            });
        }
    });
    let report = place.verify();
    assert!(report.is_intact(), "{report:?}");
    assert_eq!(report.files.len(), 40);
}
