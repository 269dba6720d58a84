//! Whether the log still says what was written.
//!
//! Verifying looks at every log file and at every head: a file without a head was not written by
//! this harness, a head without a file vouches for lines that are gone, and a log that the register
//! lists and that has neither was removed, unless the register says that it was too old.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::digest::Digest;
use super::folders::{AuditFolders, log_files};
use super::head::{Head, HeadFile};
use super::key::{FileKey, MasterKey};
use super::line::{self, Link};
use super::log::AuditError;
use super::read::read_line;
use super::register::{self, Damage, Listed, Reading};
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

/// Verifies every log file in these folders. It may be in use meanwhile.
pub fn verify(folders: &AuditFolders) -> Result<Report, VerifyError> {
    let mut names = names(folders)?;
    let register = folders.register_file();
    if names.is_empty() && !register.exists() {
        return Ok(Report::default());
    }
    let master = MasterKey::open(&folders.key_file())?;
    let read_failed = |path: &Path| {
        let path = path.to_owned();
        move |source| VerifyError::Read { path, source }
    };
    let look = || register::read(&register, &master).map_err(read_failed(&register));
    let mut sessions = Sessions::of(look()?);
    names.extend(sessions.listed.iter().map(|listed| listed.name.clone()));
    let mut files = Vec::new();
    for name in names {
        let path = folders.dir.join(&name);
        if sessions.is_expired(&name) && fs::symlink_metadata(&path).is_err() {
            continue;
        }
        let key = master.for_file(&name);
        let mut found = verify_file(folders, &key, &name, &sessions).map_err(read_failed(&path))?;
        if found.1 == Finding::Bad(Fault::NotListed) {
            // It was started meanwhile: what has a line by now is listed by now.
            sessions = Sessions::of(look()?);
            found = verify_file(folders, &key, &name, &sessions).map_err(read_failed(&path))?;
        }
        let (records, finding) = found;
        files.push(FileReport {
            file: path,
            records,
            finding,
        });
    }
    // Killed while the very first log was opened: there never was a register, nor a record.
    let is_untouched = sessions.fault == Some(Fault::NoRegister)
        && files.iter().all(|file| file.records == 0 && !file.is_bad());
    if let Some(fault) = sessions.fault.filter(|_| !is_untouched) {
        let of_register = FileReport {
            file: register,
            records: 0,
            finding: Finding::Bad(fault),
        };
        files.insert(0, of_register);
    }
    Ok(Report {
        files,
        expired: sessions.expired,
    })
}

/// What the register says of the sessions.
struct Sessions {
    listed: Vec<Listed>,
    /// Where in it each log stands.
    positions: HashMap<String, usize>,
    expired: u64,
    fault: Option<Fault>,
}

impl Sessions {
    fn of(reading: Reading) -> Self {
        let Reading {
            listed,
            expired,
            damage,
        } = reading;
        let positions = listed.iter().enumerate();
        let positions = positions.map(|(position, listed)| (listed.name.clone(), position));
        Self {
            positions: positions.collect(),
            listed,
            expired,
            fault: damage.map(|damage| match damage {
                Damage::Missing => Fault::NoRegister,
                Damage::From(entry) => Fault::BadRegister { entry },
            }),
        }
    }

    /// Where a log stands in the register.
    fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Whether a log was removed because it was too old.
    fn is_expired(&self, name: &str) -> bool {
        let position = self.position(name);
        position.is_some_and(|position| (position as u64) < self.expired)
    }

    /// How many lines a log is known to have had.
    fn at_least(&self, position: usize) -> u64 {
        let next = self.listed.get(position + 1);
        next.map_or(0, |next| next.before)
    }
}

/// The names of all log files, those included of which only the head is left.
fn names(folders: &AuditFolders) -> Result<BTreeSet<String>, VerifyError> {
    let read = |dir: &Path, listed: io::Result<Vec<PathBuf>>| match listed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(VerifyError::Read {
            path: dir.to_owned(),
            source,
        }),
        Ok(paths) => Ok(paths),
    };
    let heads = folders.heads();
    let listed = fs::read_dir(&heads).and_then(|entries| {
        entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect()
    });
    let logs = read(&folders.dir, log_files(&folders.dir))?;
    let heads = read(&heads, listed)?.into_iter().filter_map(|path| {
        path.extension()
            .is_some_and(|extension| extension == "head")
            .then(|| path.with_extension(""))
    });
    let name = |path: PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    Ok(logs.into_iter().chain(heads).filter_map(name).collect())
}

fn verify_file(
    folders: &AuditFolders,
    key: &FileKey,
    name: &str,
    sessions: &Sessions,
) -> io::Result<(u64, Finding)> {
    let bad = |fault| Ok((0, Finding::Bad(fault)));
    let position = sessions.position(name);
    let head_file = match HeadFile::open(&folders.head_file(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let gone = fs::symlink_metadata(folders.dir.join(name)).is_err();
            return bad(match position {
                Some(position) if gone => Fault::Removed {
                    session: position as u64 + 1,
                },
                _ => Fault::NoHead,
            });
        }
        opened => opened?,
    };
    let path = folders.dir.join(name);
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
        // Made a moment ago, or when its process was killed: nothing else is there yet.
        let unmade = metadata.is_err() && position.is_none() && head_file.is_empty()?;
        return if unmade {
            Ok((0, Finding::InFlight))
        } else {
            bad(Fault::BadHead)
        };
    };
    let metadata = match metadata {
        // Killed between making the head and making the log: nothing was recorded.
        Err(error) if error.kind() == ErrorKind::NotFound && head.count == 0 => {
            return Ok((0, Finding::InFlight));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let expected = head.count;
            return bad(Fault::NoLog { expected });
        }
        metadata => metadata?,
    };
    if !metadata.is_file() {
        return bad(Fault::NotAFile);
    }
    let first = position.map(|position| sessions.listed[position].hash);
    if first.is_none() && sessions.fault.is_none() && head.count > 0 {
        return bad(Fault::NotListed);
    }
    let expected = position.map_or(0, |position| sessions.at_least(position));
    if head.count < expected {
        return bad(Fault::SetBack { expected });
    }
    let mut lines = BufReader::new(File::open(&path)?.take(metadata.len()));
    follow(&mut lines, key, first, head, draft.as_deref())
}

/// Follows the chain from what its first line refers to, where that is known, to its head. Returns
/// how many records are good, and the finding.
fn follow(
    lines: &mut impl io::BufRead,
    key: &FileKey,
    first: Option<Digest>,
    head: Head,
    draft: Option<&[u8]>,
) -> io::Result<(u64, Finding)> {
    // The head of a log that is just being opened knows nothing yet.
    let start = first.unwrap_or(head.hash);
    let mut next = Link {
        seq: 1,
        prev: start,
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
        let prev = (next.seq > 1).then_some(next.prev).or(first);
        if let Some(fault) = bad_line(&bytes, key, next.seq, prev) {
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
    if next.prev != head.hash && head.count > 0 {
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

/// What is wrong with a line that should be the one of this number, behind one of this hash where
/// that is known.
fn bad_line(bytes: &[u8], key: &FileKey, line: u64, prev: Option<Digest>) -> Option<Fault> {
    let Some(link) = bytes
        .strip_suffix(b"\n")
        .and_then(|line| line::open(key, line))
    else {
        return Some(Fault::Changed { line });
    };
    if link.seq != line {
        return Some(Fault::Misplaced {
            line,
            found: link.seq,
        });
    }
    prev.is_some_and(|prev| prev != link.prev)
        .then_some(Fault::Changed { line })
}
