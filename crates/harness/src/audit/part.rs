//! One file of the audit log and its growing end, with the head that vouches for it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::clock::Timestamp;
use super::digest::Digest;
use super::folders::{AuditFolders, LOG_EXTENSION};
use super::head::{Head, HeadFile};
use super::key::{FileKey, MasterKey};
use super::line::{self, Link, MAX_LINE};
use super::log::AuditError;
use super::register::Register;

/// A file of the log that is being written.
pub(super) struct Part {
    path: PathBuf,
    key: FileKey,
    began: Timestamp,
    /// Locked for as long as it is written: what somebody writes is not removed for its age.
    log: File,
    head_file: HeadFile,
    head: Head,
    bytes: u64,
    broken: bool,
}

impl Part {
    /// Starts a file of its own in these folders, and lists it in their register.
    pub(super) fn begin(
        folders: &AuditFolders,
        master: &MasterKey,
        now: Timestamp,
    ) -> Result<Self, AuditError> {
        let name = file_name(now, folders)?;
        let (path, head_path) = (folders.dir.join(&name), folders.head_file(&name));
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
            .and_then(|log| log.lock_shared().map(|()| log))
            .map_err(failed(&path))?;
        let register = folders.register_file();
        head.hash = Register::open(&register, master)
            .and_then(|register| register.add(folders, master, &name))
            .map_err(failed(&register))?;
        head_file.write(&key, head).map_err(failed(&head_path))?;
        Ok(Self {
            path,
            key,
            began: now,
            log,
            head_file,
            head,
            bytes: 0,
            broken: false,
        })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// When it was started.
    pub(super) fn began(&self) -> Timestamp {
        self.began
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes a record behind the others.
    pub(super) fn record(
        &mut self,
        at: Timestamp,
        record: &impl Serialize,
    ) -> Result<(), AuditError> {
        if self.broken {
            return Err(AuditError::Broken {
                path: self.path.clone(),
            });
        }
        let link = Link {
            seq: self.head.count + 1,
            prev: self.head.hash,
        };
        let mut line = line::seal(&self.key, link, at, record)?;
        if line.len() > MAX_LINE {
            return Err(AuditError::TooLarge { bytes: line.len() });
        }
        let hash = Digest::of(&line);
        line.push(b'\n');
        let head = Head {
            count: link.seq,
            hash,
        };
        self.head_file.lock().map_err(self.failed())?;
        let kept = self.append(&line, head);
        let unlocked = self.head_file.unlock().map_err(self.failed());
        kept.and(unlocked)
    }

    /// Waits until all that was recorded is on the disk.
    pub(super) fn sync(&self) -> Result<(), AuditError> {
        let synced = self.log.sync_data().and_then(|()| self.head_file.sync());
        synced.map_err(self.failed())
    }

    /// The three writes; see the module's documentation for their order.
    fn append(&mut self, line: &[u8], head: Head) -> Result<(), AuditError> {
        let metadata = self.log.metadata().map_err(self.failed())?;
        if metadata.len() != self.bytes || metadata.nlink() == 0 {
            return Err(AuditError::Interfered {
                path: self.path.clone(),
            });
        }
        let written = self
            .head_file
            .write_draft(line)
            .and_then(|()| self.log.write_all(line))
            .and_then(|()| self.head_file.write(&self.key, head));
        if let Err(source) = written {
            // Take back whatever part of the line was written, so that the next record may try
            // again once there is room.
            self.broken = self.log.set_len(self.bytes).is_err();
            // The head may have been torn, too.
            self.broken |= self.head_file.write(&self.key, self.head).is_err();
            return Err(self.failed()(source));
        }
        self.head = head;
        self.bytes += line.len() as u64;
        Ok(())
    }

    fn failed(&self) -> impl Fn(io::Error) -> AuditError + use<> {
        let path = self.path.clone();
        move |source| AuditError::Write {
            path: path.clone(),
            source,
        }
    }
}

/// A name that sorts by start and that no other process has.
fn file_name(now: Timestamp, folders: &AuditFolders) -> Result<String, AuditError> {
    let mut nonce = [0; 4];
    getrandom::fill(&mut nonce).map_err(|error| AuditError::Key {
        path: folders.key_file(),
        source: error.into(),
    })?;
    let (started, process) = (now.compact(), std::process::id());
    Ok(format!(
        "{started}-{process}-{:08x}.{LOG_EXTENSION}",
        u32::from_ne_bytes(nonce)
    ))
}
