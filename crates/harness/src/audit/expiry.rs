//! Log files that are old enough to go.
//!
//! They go from the oldest on, so that one number in the register says which are gone by intent: it
//! is written before a file is removed, and nobody without the key can write it. A file that is
//! missing beyond that number was taken away by somebody else.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::clock::Timestamp;
use super::folders::AuditFolders;
use super::key::MasterKey;
use super::log::AuditError;
use super::register::Register;
use super::upkeep::Upkeep;

/// Removes the log files that are too old, or too much.
pub(super) fn expire(
    folders: &AuditFolders,
    master: &MasterKey,
    upkeep: Upkeep,
    now: Timestamp,
) -> Result<(), AuditError> {
    if !upkeep.removes() {
        return Ok(());
    }
    let path = folders.register_file();
    let expired = Register::open(&path, master).and_then(|register| {
        let mut over = match upkeep.keep_bytes {
            Some(most) => bytes_in(&folders.dir)?.saturating_sub(most),
            None => 0,
        };
        register.expire(
            |name| {
                let found = look(&folders.dir.join(name))?;
                let goes = match found {
                    Found::Nothing => true,
                    Found::InUse => false,
                    Found::Idle { bytes, written } => {
                        let is_old = upkeep
                            .keep_for
                            .is_some_and(|longest| now.since(written) > longest);
                        let is_too_much = over > 0;
                        over = over.saturating_sub(bytes);
                        is_old || is_too_much
                    }
                };
                Ok(goes)
            },
            |name| {
                remove(&folders.dir.join(name))?;
                remove(&folders.head_file(name))
            },
        )
    });
    expired.map_err(|source| AuditError::Write { path, source })
}

/// A log file, as far as its removal goes.
enum Found {
    Nothing,
    /// Somebody writes it.
    InUse,
    /// Nobody does, since this moment.
    Idle {
        bytes: u64,
        written: Timestamp,
    },
}

fn look(path: &Path) -> io::Result<Found> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        opened => opened?,
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(Found::InUse),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    let metadata = file.metadata()?;
    Ok(Found::Idle {
        bytes: metadata.len(),
        written: metadata.modified()?.into(),
    })
}

/// The size of everything in a folder.
fn bytes_in(dir: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(dir)? {
        // One that goes meanwhile takes up nothing.
        sum += entry?.metadata().map_or(0, |metadata| metadata.len());
    }
    Ok(sum)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
