//! Reading the records back, for `audit show` and `audit tail`.
//!
//! Reading does not verify: it shows what stands there. [`super::verify`] says whether to believe
//! it.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use super::clock::Timestamp;
use super::line::{Body, MAX_LINE};
use super::place::log_files;
use super::record::Record;

/// A record as it stands in a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The log file.
    pub file: PathBuf,
    /// The line in it, from 1.
    pub line: u64,
    /// When the record was made.
    pub at: Timestamp,
    /// What was recorded.
    #[serde(flatten)]
    pub record: Record,
}

/// Why a log, or a line of it, cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The directory or file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    File {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is not a record of this version.
    #[error("{}:{line}: not an audit record ({reason}); run `ringfence audit verify`", file.display())]
    Line {
        /// The log file.
        file: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

/// All records of an audit directory: file by file in the order of their start, oldest first.
pub fn read(dir: &Path) -> Result<Entries, ReadError> {
    let mut files = log_files(dir).map_err(|source| ReadError::File {
        path: dir.to_owned(),
        source,
    })?;
    files.reverse();
    Ok(Entries {
        files,
        current: None,
    })
}

/// The records of a directory, one at a time. A bad line is reported and the reading goes on.
#[derive(Debug)]
pub struct Entries {
    /// Those still to come, the next one last.
    files: Vec<PathBuf>,
    current: Option<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    lines: BufReader<File>,
    line: u64,
}

impl Iterator for Entries {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(open) = &mut self.current {
                match open.next_entry() {
                    Some(Err(error @ ReadError::File { .. })) => {
                        self.current = None;
                        return Some(Err(error));
                    }
                    Some(entry) => return Some(entry),
                    None => self.current = None,
                }
            }
            let path = self.files.pop()?;
            match open_plain(&path) {
                Ok(file) => {
                    self.current = Some(OpenFile {
                        path,
                        lines: BufReader::new(file),
                        line: 0,
                    });
                }
                Err(source) => return Some(Err(ReadError::File { path, source })),
            }
        }
    }
}

/// A pipe that somebody put there would make us wait for ever.
fn open_plain(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("not a plain file"));
    }
    File::open(path)
}

impl OpenFile {
    fn next_entry(&mut self) -> Option<Result<Entry, ReadError>> {
        let mut bytes = Vec::new();
        match read_line(&mut self.lines, &mut bytes) {
            Ok(()) if bytes.is_empty() => return None,
            Ok(()) => {}
            Err(source) => {
                return Some(Err(ReadError::File {
                    path: self.path.clone(),
                    source,
                }));
            }
        }
        self.line += 1;
        let (file, line) = (self.path.clone(), self.line);
        Some(match serde_json::from_slice::<Body<Record>>(&bytes) {
            Ok(body) => Ok(Entry {
                file,
                line,
                at: body.at,
                record: body.record,
            }),
            Err(error) => Err(ReadError::Line {
                file,
                line,
                reason: error.to_string(),
            }),
        })
    }
}

/// Appends the next line with its line feed; nothing at the end of the file. A line that is too
/// long to be ours comes in pieces.
pub(super) fn read_line(lines: &mut impl BufRead, into: &mut Vec<u8>) -> io::Result<()> {
    lines
        .take(MAX_LINE as u64 + 1)
        .read_until(b'\n', into)
        .map(|_| ())
}
