//! What verifying an audit log finds, for a person and as JSON.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// What verifying found, file by file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// One entry per log file or head, in the order of their start.
    pub files: Vec<FileReport>,
}

impl Report {
    /// Whether every file is as it was written.
    pub fn is_intact(&self) -> bool {
        self.first_fault().is_none()
    }

    /// The first file that is not, and what is wrong with it.
    pub fn first_fault(&self) -> Option<(&FileReport, &Fault)> {
        self.files.iter().find_map(|file| match &file.finding {
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
            Self::NoHead | Self::BadHead | Self::NotAFile => None,
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
        }
    }
}
