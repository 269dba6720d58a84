//! Whether the log still says what was written.
//!
//! Verifying looks at every log file and at every head: a file without a head was not written by
//! this harness, a head without a file vouches for lines that are gone.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::digest::Digest;
use super::head::{Head, HeadFile};
use super::key::{FileKey, MasterKey};
use super::line::{self, Link};
use super::log::AuditError;
use super::place::{AuditPlace, log_files};
use super::read::read_line;
use super::report::{Fault, FileReport, Finding, Report};

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
