//! What verifying an audit log finds, for a person and as JSON.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// What verifying found, file by file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// One entry per log file or head, in the order of their start.
    pub files: Vec<FileReport>,
    /// How many log files were removed because they were too old.
    pub expired: u64,
}

impl Report {
    /// Whether every file is as it was written.
    pub fn is_intact(&self) -> bool {
        self.first_fault().is_none()
    }

    /// The first file that is not, and what is wrong with it.
    pub fn first_fault(&self) -> Option<(&FileReport, &Fault)> {
        self.faults().next()
    }

    /// Every file that is not, and what is wrong with it.
    pub fn faults(&self) -> impl Iterator<Item = (&FileReport, &Fault)> {
        self.files.iter().filter_map(|file| match &file.finding {
            Finding::Bad(fault) => Some((file, fault)),
            Finding::Intact | Finding::InFlight => None,
        })
    }

    /// How many records are vouched for.
    pub fn records(&self) -> u64 {
        self.files.iter().map(|file| file.records).sum()
    }
}

/// One log file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// The log file.
    pub file: PathBuf,
    /// How many records from the beginning are as they were written.
    pub records: u64,
    /// What was found.
    pub finding: Finding,
}

impl FileReport {
    /// Whether something is wrong with it.
    pub(super) fn is_bad(&self) -> bool {
        matches!(self.finding, Finding::Bad(_))
    }
}

/// The state of one log file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Every line is there, and nothing else.
    Intact,
    /// The same, but its process died while it wrote one more record, which nobody relied on.
    InFlight,
    /// Something is wrong.
    Bad(Fault),
}

/// The first thing that is wrong with a log file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// A line that the key does not vouch for: changed, or written by a stranger.
    Changed {
        /// The line, from 1.
        line: u64,
    },
    /// A genuine line in the wrong place: a line before it is missing, or lines were swapped.
    Misplaced {
        /// The line, from 1.
        line: u64,
        /// The number of the record that stands there.
        found: u64,
    },
    /// The log ends too early.
    CutOff {
        /// The first line that is missing.
        line: u64,
        /// How many lines there should be.
        expected: u64,
    },
    /// There are lines after the last one that was written.
    Appended {
        /// The first of them.
        line: u64,
    },
    /// The file has no head: it was not written by a harness of this state directory.
    NoHead,
    /// The key does not vouch for the head.
    BadHead,
    /// The head is there, the log is not.
    NoLog {
        /// How many lines there should be.
        expected: u64,
    },
    /// The log is not a plain file.
    NotAFile,
    /// The register lists it, and both the log and its head are gone.
    Removed {
        /// Which session it was, counted from the first.
        session: u64,
    },
    /// It had more lines when the session after it began: an older copy was put in its place.
    SetBack {
        /// How many lines it had then.
        expected: u64,
    },
    /// The register does not list it.
    NotListed,
    /// The register of all log files is gone.
    NoRegister,
    /// The register was changed, cut or made with another key.
    BadRegister {
        /// The first entry that nobody vouches for, from 1.
        entry: u64,
    },
}

impl Fault {
    /// The first bad line, where the fault is in a line.
    pub fn line(&self) -> Option<u64> {
        match self {
            Self::Changed { line }
            | Self::Misplaced { line, .. }
            | Self::CutOff { line, .. }
            | Self::Appended { line } => Some(*line),
            Self::NoLog { .. } => Some(1),
            Self::NoHead
            | Self::BadHead
            | Self::NotAFile
            | Self::Removed { .. }
            | Self::SetBack { .. }
            | Self::NotListed
            | Self::NoRegister
            | Self::BadRegister { .. } => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { line } => {
                write!(f, "line {line} was changed, or not written by Ringfence")
            }
            Self::Misplaced { line, found } => {
                write!(
                    f,
                    "line {line} should hold record {line}, but holds record {found}"
                )
            }
            Self::CutOff { line, expected } => {
                write!(f, "line {line} is missing: {expected} were written")
            }
            Self::Appended { line } => write!(f, "line {line} was appended by somebody else"),
            Self::NoHead => {
                f.write_str("no head vouches for this file: Ringfence did not write it")
            }
            Self::BadHead => f.write_str("its head was changed, or made with another key"),
            Self::NoLog { expected } => {
                write!(f, "the file is missing: {expected} lines were written")
            }
            Self::NotAFile => f.write_str("this is not a plain file"),
            Self::Removed { session } => {
                write!(f, "the log of session {session} was removed, with its head")
            }
            Self::SetBack { expected } => write!(
                f,
                "an older copy is in its place: it had {expected} lines when the next session began"
            ),
            Self::NotListed => f.write_str("the register of sessions does not list this file"),
            Self::NoRegister => f.write_str(
                "the register of sessions is gone: whether logs were removed cannot be told",
            ),
            Self::BadRegister { entry } => write!(
                f,
                "the register of sessions was changed or cut at entry {entry}, or made with another key"
            ),
        }
    }
}
