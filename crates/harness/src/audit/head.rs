//! The head of one log file, kept apart from it: how many lines there are, the hash of the last
//! one, and the line in flight.
//!
//! The file holds two fixed places. The head proper is one short line at the start, rewritten in
//! place by a single write that lies within one page, so that a kill leaves either the old or the
//! new one. Behind it is the draft of the line that is being appended.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::digest::Digest;
use super::key::{FileKey, Purpose};
use super::line::{self, MAX_LINE};

/// Where the draft begins. The head proper is shorter than this.
const DRAFT_AT: usize = 256;
const MAGIC: &str = "ringfence-audit-head 1";

/// How many lines the log has, and the hash of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) count: u64,
    pub(super) hash: Digest,
}

/// The file of a head.
pub(super) struct HeadFile(File);

impl HeadFile {
    /// Makes the head of a new log.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map(Self)
    }

    /// Opens a head to look at it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// Keeps readers out until [`Self::unlock`]: they must not see a log that is ahead of its head
    /// merely because its writer is at work.
    pub(super) fn lock(&self) -> io::Result<()> {
        self.0.lock()
    }

    /// Waits until no record is being written, and keeps it so until [`Self::unlock`].
    pub(super) fn lock_shared(&self) -> io::Result<()> {
        self.0.lock_shared()
    }

    /// Ends the lock.
    pub(super) fn unlock(&self) -> io::Result<()> {
        self.0.unlock()
    }

    /// Waits until it is on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    /// Whether nothing was written to it yet.
    pub(super) fn is_empty(&self) -> io::Result<bool> {
        Ok(self.0.metadata()?.len() == 0)
    }

    /// Writes the head proper.
    pub(super) fn write(&self, key: &FileKey, head: Head) -> io::Result<()> {
        let covered = format!("{MAGIC} {:020} {}", head.count, head.hash);
        let code = key.sign(Purpose::Head, covered.as_bytes());
        self.0
            .write_all_at(format!("{covered} {code}\n").as_bytes(), 0)
    }

    /// Writes the line that is about to be appended; it ends with its line feed.
    pub(super) fn write_draft(&self, line: &[u8]) -> io::Result<()> {
        self.0.write_all_at(line, DRAFT_AT as u64)
    }

    /// Reads the head proper; `None` if the key does not vouch for it.
    pub(super) fn read(&self, key: &FileKey) -> io::Result<Option<Head>> {
        let mut bytes = [0; DRAFT_AT];
        let filled = read_up_to(&self.0, &mut bytes, 0)?;
        Ok(parse(key, &bytes[..filled]))
    }

    /// Reads the draft with its line feed, if it is the line that follows this head.
    pub(super) fn read_draft(&self, key: &FileKey, head: Head) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = vec![0; MAX_LINE + 1];
        let filled = read_up_to(&self.0, &mut bytes, DRAFT_AT as u64)?;
        bytes.truncate(filled);
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        bytes.truncate(end + 1);
        let next = line::Link {
            seq: head.count + 1,
            prev: head.hash,
        };
        Ok((line::open(key, &bytes[..end]) == Some(next)).then_some(bytes))
    }
}

fn parse(key: &FileKey, bytes: &[u8]) -> Option<Head> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let text = str::from_utf8(&bytes[..end]).ok()?;
    let (covered, code) = text.rsplit_once(' ')?;
    if !key.vouches(Purpose::Head, covered.as_bytes(), Digest::from_hex(code)?) {
        return None;
    }
    let (count, hash) = covered
        .strip_prefix(MAGIC)?
        .strip_prefix(' ')?
        .split_once(' ')?;
    Some(Head {
        count: count.parse().ok()?,
        hash: Digest::from_hex(hash)?,
    })
}

pub(super) fn read_up_to(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
