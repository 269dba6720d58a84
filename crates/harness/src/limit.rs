//! Limits that a run hit: which one, its value, how that is known, and the setting that raises it.
//!
//! Whoever holds a limit says so where it can: the kernel's counters, a signal, the run's own
//! init, the call's clock. A refusal that only the program is told of (a file too large for a
//! program that ignores the signal, one descriptor too many) can be read off its output alone,
//! and is marked as such. Only limits that are set can be hit.

use std::time::Duration;

use ringfence_policy::permissions::{Limit, Limits};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::execution::{Ending, Execution};

/// A limit that was hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LimitHit {
    /// Which.
    #[schemars(schema_with = "names")]
    pub limit: Limit,
    /// Its value.
    pub value: u64,
    /// What the value counts.
    pub unit: Unit,
    /// The setting that raises it.
    pub setting: &'static str,
    /// How it is known.
    pub evidence: Evidence,
    /// All of it in one sentence.
    pub message: String,
}

/// What the value of a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "LimitUnit")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Thousandths of a second.
    Milliseconds,
    /// Processes and threads.
    Processes,
    /// Open descriptors.
    Descriptors,
}

/// How it is known that a limit was hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "LimitEvidence")]
pub enum Evidence {
    /// Whoever enforces the limit has told. A fact.
    Enforced,
    /// The command exited the way a shell does after such an end of its child.
    ExitCode,
    /// The output says what a program says then.
    Output,
}

/// The names of limits, which the policy knows without schemas.
fn names(_: &mut SchemaGenerator) -> Schema {
    const ALL: [Limit; 9] = [
        Limit::CpuTime,
        Limit::Memory,
        Limit::ProcessMemory,
        Limit::Processes,
        Limit::FileSize,
        Limit::OpenFiles,
        Limit::Disk,
        Limit::Tmp,
        Limit::WallClock,
    ];
    schemars::json_schema!({ "type": "string", "enum": ALL })
}

/// The limits that a run hit.
pub(crate) fn find(
    limits: &Limits,
    timeout: Option<Duration>,
    execution: &Execution,
    output: &str,
) -> Vec<LimitHit> {
    let mut hits: Vec<LimitHit> = execution
        .exit
        .limits_hit
        .iter()
        .filter_map(|limit| hit(*limit, limits, Evidence::Enforced))
        .collect();
    if let (Ending::TimedOut, Some(timeout)) = (execution.ending, timeout) {
        hits.push(told(
            Limit::WallClock,
            (millis(timeout), Unit::Milliseconds),
            "timeout",
            Evidence::Enforced,
        ));
    }
    let known: Vec<Limit> = hits.iter().map(|hit| hit.limit).collect();
    let guesses = suspected(execution.exit_code(), output)
        .into_iter()
        .filter(|(limit, _)| !known.contains(limit))
        .filter_map(|(limit, evidence)| hit(limit, limits, evidence));
    hits.extend(guesses);
    hits
}

impl Evidence {
    /// How much a sentence about it may claim.
    const fn verb(self) -> &'static str {
        match self {
            Self::Enforced => "hit",
            Self::ExitCode | Self::Output => "seems to have hit",
        }
    }
}

/// A limit that is set.
fn hit(limit: Limit, limits: &Limits, evidence: Evidence) -> Option<LimitHit> {
    let bytes = |value: Option<u64>, setting| Some(((value?, Unit::Bytes), setting));
    let time =
        |value: Option<Duration>, setting| Some(((millis(value?), Unit::Milliseconds), setting));
    let (value, setting) = match limit {
        Limit::CpuTime => time(limits.cpu_time, "limits.cpu_seconds"),
        Limit::WallClock => time(limits.wall_time, "limits.wall_seconds"),
        Limit::Memory => bytes(limits.memory_bytes, "limits.memory_bytes"),
        Limit::ProcessMemory => bytes(limits.process_memory_bytes, "limits.process_memory_bytes"),
        Limit::FileSize => bytes(limits.file_size_bytes, "limits.file_size_bytes"),
        Limit::Disk => bytes(limits.disk_bytes, "limits.disk_bytes"),
        Limit::Tmp => bytes(limits.tmp_bytes, "limits.tmp_bytes"),
        Limit::Processes => limits
            .processes
            .map(|most| ((most, Unit::Processes), "limits.processes")),
        Limit::OpenFiles => limits
            .open_files
            .map(|most| ((most, Unit::Descriptors), "limits.open_files")),
    }?;
    Some(told(limit, value, setting, evidence))
}

fn told(
    limit: Limit,
    (value, unit): (u64, Unit),
    setting: &'static str,
    evidence: Evidence,
) -> LimitHit {
    let what = match limit {
        Limit::CpuTime => "CPU time",
        Limit::Memory => "the memory of a run",
        Limit::ProcessMemory => "the memory of a process",
        Limit::Processes => "processes",
        Limit::FileSize => "the size of a file",
        Limit::OpenFiles => "open files",
        Limit::Disk => "what a run may write to disk",
        Limit::Tmp => "the size of /tmp",
        Limit::WallClock => "the time it may take",
    };
    let verb = evidence.verb();
    LimitHit {
        limit,
        value,
        unit,
        setting,
        evidence,
        message: format!(
            "the command {verb} the limit on {what} ({}); `{setting}` raises it",
            shown(value, unit)
        ),
    }
}

/// A value for a person.
fn shown(value: u64, unit: Unit) -> String {
    match unit {
        Unit::Bytes => {
            let scales = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
            let scale = scales
                .iter()
                .find(|(_, shift)| value >= 1 << shift && value.trailing_zeros() >= *shift);
            match scale {
                Some((name, shift)) => format!("{} {name}", value >> shift),
                None => format!("{value} bytes"),
            }
        }
        Unit::Milliseconds if value.is_multiple_of(1000) => format!("{} s", value / 1000),
        Unit::Milliseconds => format!("{value} ms"),
        Unit::Processes | Unit::Descriptors => value.to_string(),
    }
}

/// What programs say when they run into a limit. All words of a line's entry must be in one line
/// of the output, in lower case.
const MESSAGES: &[(&[&str], &[Limit])] = &[
    (&["file too large"], &[Limit::FileSize]),
    (&["file size limit exceeded"], &[Limit::FileSize]),
    (&["cpu time limit exceeded"], &[Limit::CpuTime]),
    (&["cputime limit exceeded"], &[Limit::CpuTime]),
    (&["too many open files"], &[Limit::OpenFiles]),
    (&["emfile"], &[Limit::OpenFiles]),
    (&["cannot allocate memory"], MEMORY),
    (&["out of memory"], MEMORY),
    (&["memoryerror"], MEMORY),
    (&["memory exhausted"], MEMORY),
    (&["bad_alloc"], MEMORY),
    (&["memory allocation of", "failed"], MEMORY),
    (
        &["fork", "resource temporarily unavailable"],
        &[Limit::Processes],
    ),
    (&["can't start new thread"], &[Limit::Processes]),
    (&["cannot fork"], &[Limit::Processes]),
    (&["can't fork"], &[Limit::Processes]),
    (&["/tmp/", "no space left on device"], &[Limit::Tmp]),
];

/// The limit of a process is met before that of the run.
const MEMORY: &[Limit] = &[Limit::ProcessMemory, Limit::Memory];

/// Limits that a failed command may have hit, going by what it left behind.
fn suspected(exit_code: i32, output: &str) -> Vec<(Limit, Evidence)> {
    let mut found: Vec<(Limit, Evidence)> = Vec::new();
    match exit_code {
        0 => return found,
        152 => found.push((Limit::CpuTime, Evidence::ExitCode)),
        153 => found.push((Limit::FileSize, Evidence::ExitCode)),
        _ => {}
    }
    for line in output.lines() {
        let line = line.to_lowercase();
        // The machine's own limit, not ours.
        if line.contains("too many open files in system") {
            continue;
        }
        for (words, limits) in MESSAGES {
            if words.iter().all(|word| line.contains(word)) {
                for limit in *limits {
                    if !found.iter().any(|(known, _)| known == limit) {
                        found.push((*limit, Evidence::Output));
                    }
                }
            }
        }
    }
    found
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_is_told_apart() {
        for (code, output, expected) in [
            (
                1,
                "cp: error writing 'x': File too large",
                Some(Limit::FileSize),
            ),
            (153, "", Some(Limit::FileSize)),
            (152, "", Some(Limit::CpuTime)),
            (
                1,
                "OSError: [Errno 24] Too many open files: 'x'",
                Some(Limit::OpenFiles),
            ),
            (1, "cat: x: Too many open files in system", None),
            (254, "sh: 1: Cannot fork", Some(Limit::Processes)),
            (1, "read: Resource temporarily unavailable", None),
            (
                1,
                "tar: /tmp/x: write: No space left on device",
                Some(Limit::Tmp),
            ),
            (1, "tar: /srv/x: write: No space left on device", None),
            (0, "File too large", None),
        ] {
            let found = suspected(code, output);
            assert_eq!(found.first().map(|(limit, _)| *limit), expected, "{output}");
        }
    }

    #[test]
    fn only_limits_that_are_set_are_told() {
        let limits = Limits {
            memory_bytes: Some(64 << 20),
            ..Limits::default()
        };
        let names = |output| -> Vec<_> {
            let suspected = suspected(1, output).into_iter();
            suspected
                .filter_map(|(limit, evidence)| hit(limit, &limits, evidence))
                .map(|hit| hit.message)
                .collect()
        };
        assert_eq!(
            names("python: MemoryError"),
            [
                "the command seems to have hit the limit on the memory of a run (64 MiB); \
              `limits.memory_bytes` raises it"
            ]
        );
        assert!(names("Too many open files").is_empty());
    }
}
