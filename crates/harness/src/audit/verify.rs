//! Whether the log still says what was written.
//!
//! Verifying looks at every log file and at every head: a file without a head was not written by
//! this harness, a head without a file vouches for lines that are gone.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use super::digest::Digest;
use super::head::{Head, HeadFile};
use super::key::{FileKey, MasterKey};
use super::line::{self, Link};
use super::log::AuditError;
use super::place::{AuditPlace, log_files};
use super::read::read_line;

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

/// Why nothing could be verified.
#[derive(Debug, Error)]
pub enum VerifyError {
    /// The key cannot be read.
    #[error(transparent)]
    Key(#[from] AuditError),
    /// A file or directory cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Verifies every log file of a place. It may be in use meanwhile.
pub fn verify(place: &AuditPlace) -> Result<Report, VerifyError> {
    let names = names(place)?;
    if names.is_empty() {
        return Ok(Report { files: Vec::new() });
    }
    let master = MasterKey::open(&place.key_file())?;
    let verified = names.into_iter().map(|name| {
        let path = place.dir.join(&name);
        let (records, finding) =
            verify_file(place, &master.for_file(&name), &name).map_err(|source| {
                VerifyError::Read {
                    path: path.clone(),
                    source,
                }
            })?;
        Ok(FileReport {
            file: path,
            records,
            finding,
        })
    });
    Ok(Report {
        files: verified.collect::<Result<_, VerifyError>>()?,
    })
}

/// The names of all log files, those included of which only the head is left.
fn names(place: &AuditPlace) -> Result<BTreeSet<String>, VerifyError> {
    let read = |dir: &Path, listed: io::Result<Vec<PathBuf>>| match listed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(VerifyError::Read {
            path: dir.to_owned(),
            source,
        }),
        Ok(paths) => Ok(paths),
    };
    let heads = place.heads();
    let listed = fs::read_dir(&heads).and_then(|entries| {
        entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect()
    });
    let logs = read(&place.dir, log_files(&place.dir))?;
    let heads = read(&heads, listed)?.into_iter().filter_map(|path| {
        path.extension()
            .is_some_and(|extension| extension == "head")
            .then(|| path.with_extension(""))
    });
    let name = |path: PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    Ok(logs.into_iter().chain(heads).filter_map(name).collect())
}

fn verify_file(place: &AuditPlace, key: &FileKey, name: &str) -> io::Result<(u64, Finding)> {
    let head_file = match HeadFile::open(&place.head_file(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok((0, Finding::Bad(Fault::NoHead)));
        }
        opened => opened?,
    };
    let path = place.dir.join(name);
    // Everything that belongs together is taken under the lock; the lines themselves do not
    // change once they are there.
    head_file.lock_shared()?;
    let head = head_file.read(key)?;
    let draft = head
        .map(|head| head_file.read_draft(key, head))
        .transpose()?
        .flatten();
    let metadata = fs::symlink_metadata(&path);
    head_file.unlock()?;
    let Some(head) = head else {
        return Ok((0, Finding::Bad(Fault::BadHead)));
    };
    let metadata = match metadata {
        // Killed between making the head and making the log: nothing was recorded.
        Err(error) if error.kind() == ErrorKind::NotFound && head.count == 0 => {
            return Ok((0, Finding::InFlight));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok((
                0,
                Finding::Bad(Fault::NoLog {
                    expected: head.count,
                }),
            ));
        }
        metadata => metadata?,
    };
    if !metadata.is_file() {
        return Ok((0, Finding::Bad(Fault::NotAFile)));
    }
    let mut lines = BufReader::new(File::open(&path)?.take(metadata.len()));
    follow(&mut lines, key, name, head, draft.as_deref())
}

/// Follows the chain to its head. Returns how many records are good, and the finding.
fn follow(
    lines: &mut impl io::BufRead,
    key: &FileKey,
    name: &str,
    head: Head,
    draft: Option<&[u8]>,
) -> io::Result<(u64, Finding)> {
    let mut next = Link {
        seq: 1,
        prev: line::genesis(name),
    };
    let mut bytes = Vec::new();
    while next.seq <= head.count {
        let good = next.seq - 1;
        bytes.clear();
        read_line(lines, &mut bytes)?;
        if bytes.is_empty() {
            let fault = Fault::CutOff {
                line: next.seq,
                expected: head.count,
            };
            return Ok((good, Finding::Bad(fault)));
        }
        if let Some(fault) = bad_line(&bytes, key, next) {
            return Ok((good, Finding::Bad(fault)));
        }
        let hash = Digest::of(&bytes[..bytes.len() - 1]);
        next = Link {
            seq: next.seq + 1,
            prev: hash,
        };
    }
    // Every line carries the key's code and the hash of the one before; only a head that was put
    // back from an older copy could disagree here.
    if next.prev != head.hash {
        return Ok((head.count.saturating_sub(1), Finding::Bad(Fault::BadHead)));
    }
    let mut tail = Vec::new();
    let longest = draft.map_or(0, <[u8]>::len) as u64;
    lines.take(longest + 1).read_to_end(&mut tail)?;
    if tail.is_empty() {
        return Ok((head.count, Finding::Intact));
    }
    if draft.is_some_and(|draft| draft.starts_with(&tail)) {
        return Ok((head.count, Finding::InFlight));
    }
    // A whole draft may be followed by something that is not ours.
    let after_draft = u64::from(draft.is_some_and(|draft| tail.starts_with(draft)));
    let line = head.count + after_draft + 1;
    Ok((
        head.count + after_draft,
        Finding::Bad(Fault::Appended { line }),
    ))
}

fn bad_line(bytes: &[u8], key: &FileKey, expected: Link) -> Option<Fault> {
    let line = expected.seq;
    let Some(link) = bytes
        .strip_suffix(b"\n")
        .and_then(|line| line::open(key, line))
    else {
        return Some(Fault::Changed { line });
    };
    if link.seq != expected.seq {
        return Some(Fault::Misplaced {
            line,
            found: link.seq,
        });
    }
    (link.prev != expected.prev).then_some(Fault::Changed { line })
}
