//! What a million audit records take: to write, with and without waiting for the disk; to find a few of
//! them by a condition; to verify all; beside a plain read of the same bytes.
//!
//! `cargo bench -p ringfence-bench --bench audit [-- --check]`. With `--check` a target that is
//! clearly missed is a failure.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ringfence::audit::{
    self, AuditFolders, AuditLog, CallEnded, Command, Decision, Durability, Filter, Intent,
    Outcome, Record, SystemClock, Upkeep,
};
use ringfence_bench::contest::Trouble;
use ringfence_bench::target::{Bound, Target};
use ringfence_bench::venue::{self, Venue};

/// A call is an intent and an outcome.
const CALLS: u64 = 500_000;
/// As many are made when each waits for the disk.
const SYNCED: u64 = 500;
/// One call in so many is looked for.
const RARE: u64 = 10_000;

fn main() -> ExitCode {
    venue::close(run())
}

fn run() -> Result<Vec<Target>, Trouble> {
    let venue = Venue::open()?;
    let folder = venue.folder("audit")?;
    let written = write(&folder.join("many"), CALLS, Durability::Never)?;
    let synced = write(&folder.join("synced"), SYNCED, Durability::Outcome)?;
    let folders = folders(&folder.join("many"));
    let started = Instant::now();
    let mut bytes = 0;
    for file in fs::read_dir(&folders.dir)? {
        bytes += fs::read(file?.path())?.len();
    }
    let read = started.elapsed();
    let (found, shown) = find(
        &folders,
        Filter {
            tool: Some("apply_patch".to_owned()),
            ..Filter::default()
        },
    )?;
    let (failed, by_outcome) = find(
        &folders,
        Filter {
            outcome: Some(Outcome::Failed),
            ..Filter::default()
        },
    )?;
    let rare = usize::try_from(CALLS / RARE)? * 2;
    assert_eq!((found, failed), (rare, rare));
    let started = Instant::now();
    let report = audit::verify(&folders)?;
    let verified = started.elapsed();
    assert!(report.is_intact() && report.records() == 2 * CALLS);
    println!(
        "{} records, {} MB in {} files\n",
        2 * CALLS,
        bytes / 1_000_000,
        report.files.len()
    );
    for (what, took) in [
        ("read as bytes", read),
        ("found by tool", shown),
        ("found by outcome", by_outcome),
        ("verified", verified),
    ] {
        println!("{what:<44}{:>8.2} s", took.as_secs_f64());
    }
    println!(
        "{:<44}{:>8.1} µs",
        "a record, written",
        micros(written, 2 * CALLS)
    );
    println!(
        "{:<44}{:>8.1} µs",
        "a call, with its end on the disk",
        micros(synced, SYNCED)
    );
    let at_most = |what, took: Duration, seconds| Target {
        what,
        measured: took.as_secs_f64(),
        bound: Bound::AtMost(seconds),
    };
    Ok(vec![
        at_most("some of a million found by tool, seconds", shown, 2.0),
        at_most("a million verified, seconds", verified, 10.0),
    ])
}

fn micros(took: Duration, count: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far below what a float holds")]
    let count = count as f64;
    took.as_secs_f64() * 1e6 / count
}

fn folders(root: &Path) -> AuditFolders {
    AuditFolders::in_state(root, None)
}

fn find(folders: &AuditFolders, filter: Filter) -> Result<(usize, Duration), Trouble> {
    let started = Instant::now();
    let mut found = 0;
    for entry in audit::select(&folders.dir, filter)? {
        entry?;
        found += 1;
    }
    Ok((found, started.elapsed()))
}

fn write(root: &Path, calls: u64, sync: Durability) -> Result<Duration, Trouble> {
    fs::create_dir_all(root)?;
    let log = AuditLog::open(&folders(root), SystemClock)?.with_upkeep(Upkeep {
        part_bytes: Some(64 << 20),
        sync,
        ..Upkeep::default()
    })?;
    let started = Instant::now();
    for number in 0..calls {
        let is_rare = number % RARE == 0;
        log.record(Record::Intent(Intent {
            call: format!("ses_0123456789abcdef-{number}").into(),
            session: "ses_0123456789abcdef".into(),
            parent: None,
            script: None,
            tool: if is_rare { "apply_patch" } else { "bash" }.to_owned(),
            command: Command::Line(format!("cargo test -p crate{} -- --nocapture", number % 97)),
            shell: Some("/bin/bash".into()),
            cwd: "/home/you/project".into(),
            sandbox: "workspace-write".to_owned(),
            verdict: Decision::Allow,
            class: Some("safe".to_owned()),
            reason: "it is safe, which approval policy on-failure runs".to_owned(),
            rule: None,
            approved_by: None,
            justification: None,
        }))?;
        let outcome = if is_rare {
            Outcome::Failed
        } else {
            Outcome::Ok
        };
        let call = format!("ses_0123456789abcdef-{number}").into();
        log.record(Record::Outcome(CallEnded {
            fence: Some("native".to_owned()),
            exit_code: Some(0),
            duration_ms: 21,
            stdout_bytes: 4096,
            ..CallEnded::new(call, "ses_0123456789abcdef".into(), outcome)
        }))?;
    }
    Ok(started.elapsed())
}
