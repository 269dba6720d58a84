//! The writer of the audit log.
//!
//! A record is kept when [`AuditLog::record`] returns `Ok`, and only then. Whatever goes wrong is
//! an error to the caller, who must not go on: no record, no run.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use thiserror::Error;

use super::clock::Clock;
use super::expiry;
use super::folders::AuditFolders;
use super::key::MasterKey;
use super::line::MAX_LINE;
use super::part::Part;
use super::record::Record;
use super::redact::Redactor;
use super::upkeep::{Durability, Upkeep};

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
    folders: AuditFolders,
    master: MasterKey,
    clock: Box<dyn Clock>,
    redactor: Redactor,
    upkeep: Upkeep,
    part: Mutex<Part>,
}

impl AuditLog {
    /// Starts a log file of its own in these folders, making directories and key where needed.
    pub fn open(folders: &AuditFolders, clock: impl Clock + 'static) -> Result<Self, AuditError> {
        folders.prepare()?;
        let master = MasterKey::open_or_make(&folders.key_file())?;
        let part = Part::begin(folders, &master, clock.now())?;
        Ok(Self {
            folders: folders.clone(),
            master,
            clock: Box::new(clock),
            redactor: Redactor::default(),
            upkeep: Upkeep::default(),
            part: Mutex::new(part),
        })
    }

    /// The same log, with a redactor that knows some secrets by value.
    #[must_use]
    pub fn with_redactor(self, redactor: Redactor) -> Self {
        Self { redactor, ..self }
    }

    /// The same log, looked after like this. What is too old goes now.
    pub fn with_upkeep(self, upkeep: Upkeep) -> Result<Self, AuditError> {
        let log = Self { upkeep, ..self };
        log.expire()?;
        Ok(log)
    }

    /// The file that this log writes at present.
    pub fn path(&self) -> PathBuf {
        let part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
        part.path().to_owned()
    }

    /// Keeps a record. Secrets are redacted and overlong texts clipped first.
    pub fn record(&self, record: Record) -> Result<(), AuditError> {
        let is_outcome = matches!(record, Record::Outcome(_));
        self.keep(&record.fit_to_keep(&self.redactor))?;
        if is_outcome && self.upkeep.sync == Durability::Outcome {
            let part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
            part.sync()?;
        }
        Ok(())
    }

    pub(super) fn keep(&self, record: &impl Serialize) -> Result<(), AuditError> {
        let at = self.clock.now();
        let mut part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
        if self.upkeep.wants_another_part(&part, at) {
            *part = Part::begin(&self.folders, &self.master, at)?;
            self.expire()?;
        }
        part.record(at, record)
    }

    /// Removes what is too old.
    fn expire(&self) -> Result<(), AuditError> {
        expiry::expire(&self.folders, &self.master, self.upkeep, self.clock.now())
    }
}

impl std::fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditLog")
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}
