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
use super::folders::log_files;
use super::line::{Body, MAX_LINE};
use super::older;
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
    Ok(Entries(Lines::of(dir)?))
}

/// The records of a directory, one at a time. A bad line is reported and the reading goes on.
#[derive(Debug)]
pub struct Entries(Lines);

impl Iterator for Entries {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.0.advance()? {
            Ok(()) => Some(self.0.entry()),
            Err(error) => Some(Err(error)),
        }
    }
}

/// The lines of a directory, one at a time.
#[derive(Debug)]
pub(super) struct Lines {
    /// The files still to come, the next one last.
    files: Vec<PathBuf>,
    current: Option<OpenFile>,
    /// The line that the last step brought, without its line feed.
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    lines: BufReader<File>,
    line: u64,
}

impl Lines {
    /// The lines of all log files of a directory.
    pub(super) fn of(dir: &Path) -> Result<Self, ReadError> {
        let mut files = log_files(dir).map_err(|source| ReadError::File {
            path: dir.to_owned(),
            source,
        })?;
        files.reverse();
        Ok(Self {
            files,
            current: None,
            bytes: Vec::new(),
        })
    }

    /// Without the files that nobody has written to since this moment.
    pub(super) fn written_since(mut self, since: Timestamp) -> Self {
        self.files.retain(|file| {
            let written = fs::symlink_metadata(file).and_then(|metadata| metadata.modified());
            // One that cannot be looked at is reported when it is its turn.
            written.map_or(true, |written| Timestamp::from(written) >= since)
        });
        self
    }

    /// Goes to the next line; nothing after the last.
    pub(super) fn advance(&mut self) -> Option<Result<(), ReadError>> {
        const BUFFER: usize = 256 * 1024;
        loop {
            if let Some(open) = &mut self.current {
                self.bytes.clear();
                match read_line(&mut open.lines, &mut self.bytes) {
                    Ok(()) if self.bytes.is_empty() => {}
                    Ok(()) => {
                        open.line += 1;
                        return Some(Ok(()));
                    }
                    Err(source) => {
                        let path = open.path.clone();
                        self.current = None;
                        return Some(Err(ReadError::File { path, source }));
                    }
                }
            }
            let path = self.files.pop()?;
            match open_plain(&path) {
                Ok(file) => {
                    self.current = Some(OpenFile {
                        path,
                        lines: BufReader::with_capacity(BUFFER, file),
                        line: 0,
                    });
                }
                Err(source) => {
                    self.current = None;
                    return Some(Err(ReadError::File { path, source }));
                }
            }
        }
    }

    /// The line as it stands there.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The record in the line.
    pub(super) fn entry(&self) -> Result<Entry, ReadError> {
        let place = self.current.as_ref().map(|open| (&open.path, open.line));
        let (file, line) = place.map_or_else(Default::default, |(path, line)| (path.clone(), line));
        let body = serde_json::from_slice::<Body<Record>>(&self.bytes);
        match body.or_else(|error| older::read(&self.bytes).ok_or(error)) {
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

/// Appends the next line with its line feed; nothing at the end of the file. A line that is too
/// long to be ours comes in pieces.
pub(super) fn read_line(lines: &mut impl BufRead, into: &mut Vec<u8>) -> io::Result<()> {
    lines
        .take(MAX_LINE as u64 + 1)
        .read_until(b'\n', into)
        .map(|_| ())
}
