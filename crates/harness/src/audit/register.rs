//! The register: every log file of a state directory, in the order of their start, each entry with
//! the hash of the one before and the head that the log before it had by then.
//!
//! A log that is removed together with its head is still named here. The first line of each log
//! carries the hash of its entry, so that an entry that is taken out, changed or moved is missed
//! by the log, and one at the end by the keyed count at the start of the register.
//!
//! The file is a head of its own and then entries of one length, so that adding one costs the
//! same however many there are. An entry is written before it is counted: what stands behind the
//! last one that is counted was never used, and is written over. Beside the count stands how many
//! of the logs, from the first on, were removed because they were too old.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::digest::Digest;
use super::folders::AuditFolders;
use super::head::{Head, HeadFile, read_up_to};
use super::key::{FileKey, MasterKey, Purpose};

/// Where the entries begin.
const ENTRIES_AT: usize = 256;
/// How long each is, its line feed included.
const ENTRY: usize = 384;
const MAGIC: &str = "ringfence-audit-register 1";
/// What the register's own key is derived from. No log file has this name.
const NAME: &str = "register";

/// The register, open to add to it.
pub(super) struct Register {
    file: File,
    key: FileKey,
}

/// One log file in the register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// The log file.
    pub(super) name: String,
    /// How many lines the log before it had when it was started.
    pub(super) before: u64,
    /// What the first line of the log carries as the hash of the line before.
    pub(super) hash: Digest,
}

/// What the register says.
#[derive(Debug)]
pub(super) struct Reading {
    /// The log files, as far as the key vouches for them.
    pub(super) listed: Vec<Listed>,
    /// How many of them, from the first on, were removed because they were too old.
    pub(super) expired: u64,
    /// What is wrong with the rest.
    pub(super) damage: Option<Damage>,
}

/// What is wrong with a register.
#[derive(Debug)]
pub(super) enum Damage {
    /// There is none.
    Missing,
    /// The key does not vouch for it, from this entry on (from 1).
    From(u64),
}

/// The beginning of the register.
#[derive(Debug, Clone, Copy)]
struct Count {
    /// How many entries there are, and the hash of the last.
    head: Head,
    /// How many of the logs that they list are gone for their age.
    expired: u64,
}

impl Register {
    /// Opens the register, and makes it first where there is none.
    pub(super) fn open(path: &Path, master: &MasterKey) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)?;
        Ok(Self {
            file,
            key: master.for_file(NAME),
        })
    }

    /// Adds a log file. Its first line shall carry the hash that this returns.
    pub(super) fn add(
        &self,
        folders: &AuditFolders,
        master: &MasterKey,
        name: &str,
    ) -> io::Result<Digest> {
        self.file.lock()?;
        let added = self.add_locked(folders, master, name);
        self.file.unlock()?;
        added
    }

    fn add_locked(
        &self,
        folders: &AuditFolders,
        master: &MasterKey,
        name: &str,
    ) -> io::Result<Digest> {
        // One that nobody vouches for is begun anew: the logs that it listed are then missed in it,
        // which `verify` tells.
        let Count { head, expired } = self.count()?.unwrap_or(Count {
            head: first(),
            expired: 0,
        });
        let before = match self.name(head.count.checked_sub(1), Some(head.hash))? {
            Some(last) => head_of(folders, master, &last)?,
            None => None,
        };
        let entry = self.seal(name, head, before);
        let hash = Digest::of(&entry);
        self.file.write_all_at(&entry, offset(head.count))?;
        let head = Head {
            count: head.count + 1,
            hash,
        };
        self.write_count(Count { head, expired })?;
        Ok(hash)
    }

    /// Goes through the log files that are still there, from the oldest on, and has those removed
    /// that may go, up to the first that may not.
    pub(super) fn expire(
        &self,
        goes: impl FnMut(&str) -> io::Result<bool>,
        remove: impl FnMut(&str) -> io::Result<()>,
    ) -> io::Result<()> {
        self.file.lock()?;
        let expired = self.expire_locked(goes, remove);
        self.file.unlock()?;
        expired
    }

    fn expire_locked(
        &self,
        mut goes: impl FnMut(&str) -> io::Result<bool>,
        mut remove: impl FnMut(&str) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(Count { head, mut expired }) = self.count()? else {
            return Ok(());
        };
        // Whoever counted the last one may have been killed before it was gone.
        if let Some(last) = self.name(expired.checked_sub(1), None)? {
            remove(&last)?;
        }
        while expired < head.count {
            match self.name(Some(expired), None)? {
                Some(name) if goes(&name)? => {
                    expired += 1;
                    self.write_count(Count { head, expired })?;
                    remove(&name)?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn write_count(&self, Count { head, expired }: Count) -> io::Result<()> {
        let covered = format!("{MAGIC} {:020} {} {expired:020}", head.count, head.hash);
        let code = self.key.sign(Purpose::Register, covered.as_bytes());
        self.file
            .write_all_at(format!("{covered} {code}\n").as_bytes(), 0)
    }

    fn count(&self) -> io::Result<Option<Count>> {
        let mut bytes = [0; ENTRIES_AT];
        let filled = read_up_to(&self.file, &mut bytes, 0)?;
        Ok(self.parse_count(&bytes[..filled]))
    }

    /// Whether no count was ever written.
    fn is_blank(&self) -> io::Result<bool> {
        let mut bytes = [0; ENTRIES_AT];
        read_up_to(&self.file, &mut bytes, 0)?;
        Ok(bytes == [0; ENTRIES_AT])
    }

    fn parse_count(&self, bytes: &[u8]) -> Option<Count> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let text = str::from_utf8(&bytes[..end]).ok()?;
        let (covered, code) = text.rsplit_once(' ')?;
        let code = Digest::from_hex(code)?;
        if !self
            .key
            .vouches(Purpose::Register, covered.as_bytes(), code)
        {
            return None;
        }
        let mut fields = covered.strip_prefix(MAGIC)?.strip_prefix(' ')?.split(' ');
        let head = Head {
            count: fields.next()?.parse().ok()?,
            hash: Digest::from_hex(fields.next()?)?,
        };
        // Registers were made before anything was ever removed.
        let expired = fields.next().map_or(Some(0), |count| count.parse().ok())?;
        Some(Count { head, expired })
    }

    /// The name in an entry, if its hash is this one where that is known.
    fn name(&self, entry: Option<u64>, hash: Option<Digest>) -> io::Result<Option<String>> {
        let Some(at) = entry else {
            return Ok(None);
        };
        let mut bytes = [0; ENTRY];
        let filled = read_up_to(&self.file, &mut bytes, offset(at))?;
        let whole = filled == ENTRY && hash.is_none_or(|hash| Digest::of(&bytes) == hash);
        Ok(whole.then(|| name_in(&bytes)).flatten())
    }

    /// An entry: its fields, the code over them, blanks up to its length.
    fn seal(&self, name: &str, previous: Head, before: Option<Head>) -> Vec<u8> {
        let (lines, hash) = before.map_or((0, first().hash), |head| (head.count, head.hash));
        let number = previous.count + 1;
        let covered = format!("{number:020} {name} {lines:020} {hash} {}", previous.hash);
        let code = self.key.sign(Purpose::Entry, covered.as_bytes());
        let mut entry = format!("{covered} {code}").into_bytes();
        entry.resize(ENTRY - 1, b' ');
        entry.push(b'\n');
        entry
    }

    fn open_entry(&self, bytes: &[u8], previous: Head) -> Option<Listed> {
        let text = str::from_utf8(bytes).ok()?.trim_end();
        let (covered, code) = text.rsplit_once(' ')?;
        let code = Digest::from_hex(code)?;
        if !self.key.vouches(Purpose::Entry, covered.as_bytes(), code) {
            return None;
        }
        let fields: Vec<&str> = covered.split(' ').collect();
        let [number, name, lines, _, prev] = fields.as_slice() else {
            return None;
        };
        let follows = number.parse() == Ok(previous.count + 1)
            && Digest::from_hex(prev) == Some(previous.hash);
        follows.then_some(Listed {
            name: (*name).to_owned(),
            before: lines.parse().ok()?,
            hash: Digest::of(bytes),
        })
    }

    /// Everything that is counted.
    fn all(&self) -> io::Result<Reading> {
        let mut reading = Reading {
            listed: Vec::new(),
            expired: 0,
            damage: None,
        };
        let Some(Count { head, expired }) = self.count()? else {
            // Whoever made it was killed before anything was counted.
            reading.damage = Some(if self.is_blank()? {
                Damage::Missing
            } else {
                Damage::From(1)
            });
            return Ok(reading);
        };
        reading.expired = expired;
        let mut previous = first();
        let mut bytes = [0; ENTRY];
        while previous.count < head.count {
            let filled = read_up_to(&self.file, &mut bytes, offset(previous.count))?;
            let entry = previous.count + 1;
            let Some(listed) = self.open_entry(&bytes[..filled], previous) else {
                reading.damage = Some(Damage::From(entry));
                return Ok(reading);
            };
            previous = Head {
                count: entry,
                hash: listed.hash,
            };
            reading.listed.push(listed);
        }
        if previous.hash != head.hash {
            reading.damage = Some(Damage::From(head.count));
        }
        Ok(reading)
    }
}

/// The head of a register that lists nothing yet.
fn first() -> Head {
    Head {
        count: 0,
        hash: Digest::of(MAGIC.as_bytes()),
    }
}

/// Reads the register of a state directory.
pub(super) fn read(path: &Path, master: &MasterKey) -> io::Result<Reading> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Reading {
                listed: Vec::new(),
                expired: 0,
                damage: Some(Damage::Missing),
            });
        }
        opened => opened?,
    };
    let register = Register {
        file,
        key: master.for_file(NAME),
    };
    register.file.lock_shared()?;
    let all = register.all();
    register.file.unlock()?;
    all
}

/// The head that a log has now; nothing if it is gone.
fn head_of(folders: &AuditFolders, master: &MasterKey, name: &str) -> io::Result<Option<Head>> {
    match HeadFile::open(&folders.head_file(name)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened?.read(&master.for_file(name)),
    }
}

fn offset(entry: u64) -> u64 {
    ENTRIES_AT as u64 + entry * ENTRY as u64
}

fn name_in(entry: &[u8]) -> Option<String> {
    let text = str::from_utf8(entry).ok()?;
    text.split(' ').nth(1).map(str::to_owned)
}
