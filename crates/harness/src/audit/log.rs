//! The writer of the audit log.
//!
//! A record is kept when [`AuditLog::record`] returns `Ok`, and only then. Whatever goes wrong is
//! an error to the caller, who must not go on: no record, no run.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

use super::clock::Clock;
use super::digest::Digest;
use super::head::{Head, HeadFile};
use super::key::{FileKey, MasterKey};
use super::line::{self, Link, MAX_LINE};
use super::place::{AuditPlace, LOG_EXTENSION};
use super::record::Record;
use super::redact::Redactor;
use super::register::Register;

/// Why a record could not be kept, or a log not be opened.
#[derive(Debug, Error)]
pub enum AuditError {
    /// A directory cannot be made or looked at.
    #[error("the audit directory {} cannot be used: {source}; choose another with `audit.dir`", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others can write the directory, or read the key.
    #[error("{} has mode {mode:03o}, which lets others tamper with the audit log; run `chmod {want:03o} {}`", path.display(), path.display())]
    Exposed {
        /// The directory or file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// The mode that it should have.
        want: u32,
    },
    /// The key file cannot be made or read.
    #[error("the audit key {} cannot be used: {source}", path.display())]
    Key {
        /// The key file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The key file does not hold a key.
    #[error("{} is not an audit key; restore it from a backup, or move it away to start with a new key (older logs can then no longer be verified)", path.display())]
    BadKey {
        /// The key file.
        path: PathBuf,
    },
    /// The log or its head cannot be written: the disk may be full.
    #[error("the audit log {} cannot be written: {source}; nothing is run without a record", path.display())]
    Write {
        /// The log or head file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else wrote, cut or removed the log while it was in use.
    #[error("the audit log {} was changed by somebody else while in use; run `ringfence audit verify`, then start anew", path.display())]
    Interfered {
        /// The log file.
        path: PathBuf,
    },
    /// An earlier write failed halfway and could not be taken back.
    #[error("the audit log {} ends in a broken line after an earlier failure; start anew", path.display())]
    Broken {
        /// The log file.
        path: PathBuf,
    },
    /// A record that is larger than any reader accepts.
    #[error("a record of {bytes} bytes is too large for the audit log (at most {MAX_LINE})")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// A record that cannot be written as JSON.
    #[error("a record cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The audit log of this process.
pub struct AuditLog {
    path: PathBuf,
    key: FileKey,
    clock: Box<dyn Clock>,
    redactor: Redactor,
    end: Mutex<End>,
}

/// The growing end of the log.
struct End {
    log: File,
    head_file: HeadFile,
    head: Head,
    bytes: u64,
    broken: bool,
}

impl AuditLog {
    /// Starts a log file of its own in this place, making directories and key where needed.
    pub fn open(place: &AuditPlace, clock: impl Clock + 'static) -> Result<Self, AuditError> {
        place.prepare()?;
        let master = MasterKey::open_or_make(&place.key_file())?;
        let name = file_name(&clock, place)?;
        let (path, head_path) = (place.dir.join(&name), place.head_file(&name));
        let key = master.for_file(&name);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| AuditError::Write { path, source }
        };
        // Made first, listed last: a log that is listed is missed when it is gone. The head comes
        // before the log: a log without one would look like a stranger's.
        let mut head = Head {
            count: 0,
            hash: Digest::of(b""),
        };
        let head_file = HeadFile::create(&head_path)
            .and_then(|file| file.write(&key, head).map(|()| file))
            .map_err(failed(&head_path))?;
        let log = OpenOptions::new()
            .append(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed(&path))?;
        let register = place.register_file();
        head.hash = Register::open(&register, &master)
            .and_then(|register| register.add(place, &master, &name))
            .map_err(failed(&register))?;
        head_file.write(&key, head).map_err(failed(&head_path))?;
        let end = Mutex::new(End {
            log,
            head_file,
            head,
            bytes: 0,
            broken: false,
        });
        Ok(Self {
            path,
            key,
            clock: Box::new(clock),
            redactor: Redactor::default(),
            end,
        })
    }

    /// The same log, with a redactor that knows some secrets by value.
    #[must_use]
    pub fn with_redactor(self, redactor: Redactor) -> Self {
        Self { redactor, ..self }
    }

    /// The file that this log writes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps a record. Secrets are redacted and overlong texts clipped first.
    pub fn record(&self, record: Record) -> Result<(), AuditError> {
        let record = record.fit_to_keep(&self.redactor);
        let at = self.clock.now();
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        if end.broken {
            return Err(AuditError::Broken {
                path: self.path.clone(),
            });
        }
        let link = Link {
            seq: end.head.count + 1,
            prev: end.head.hash,
        };
        let mut line = line::seal(&self.key, link, at, &record)?;
        if line.len() > MAX_LINE {
            return Err(AuditError::TooLarge { bytes: line.len() });
        }
        let hash = Digest::of(&line);
        line.push(b'\n');
        let head = Head {
            count: link.seq,
            hash,
        };
        let failed = |source| AuditError::Write {
            path: self.path.clone(),
            source,
        };
        end.head_file.lock().map_err(failed)?;
        let kept = self.append(&mut end, &line, head);
        let unlocked = end.head_file.unlock().map_err(failed);
        kept.and(unlocked)
    }

    /// The three writes; see the module's documentation for their order.
    fn append(&self, end: &mut End, line: &[u8], head: Head) -> Result<(), AuditError> {
        let failed = |source| AuditError::Write {
            path: self.path.clone(),
            source,
        };
        let metadata = end.log.metadata().map_err(failed)?;
        if metadata.len() != end.bytes || metadata.nlink() == 0 {
            return Err(AuditError::Interfered {
                path: self.path.clone(),
            });
        }
        let written = end
            .head_file
            .write_draft(line)
            .and_then(|()| end.log.write_all(line))
            .and_then(|()| end.head_file.write(&self.key, head));
        if let Err(source) = written {
            // Take back whatever part of the line was written, so that the next record may try
            // again once there is room.
            end.broken = end.log.set_len(end.bytes).is_err();
            // The head may have been torn, too.
            end.broken |= end.head_file.write(&self.key, end.head).is_err();
            return Err(failed(source));
        }
        end.head = head;
        end.bytes += line.len() as u64;
        Ok(())
    }
}

/// A name that sorts by start and that no other process has.
fn file_name(clock: &dyn Clock, place: &AuditPlace) -> Result<String, AuditError> {
    let mut nonce = [0; 4];
    getrandom::fill(&mut nonce).map_err(|error| AuditError::Key {
        path: place.key_file(),
        source: error.into(),
    })?;
    let (started, process) = (clock.now().compact(), std::process::id());
    Ok(format!(
        "{started}-{process}-{:08x}.{LOG_EXTENSION}",
        u32::from_ne_bytes(nonce)
    ))
}

impl std::fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditLog")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
