//! The registry: a folder of the harness's own, out of reach of commands, that says which marks
//! there are and who needs them.
//!
//! Each writable root with marks in it has a record there. Whoever needs its marks holds a shared
//! lock on it, which the kernel drops however the holder dies. Whoever ends tries to lock it alone:
//! if that works nobody needs the marks any more, and they go, with the record. A record that
//! nobody has locked was left by a power failure or by killing everything, and goes at the next
//! start of anything that uses the registry.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::presence;

/// How records are named.
pub(super) const RECORD: &str = "root-";

/// How long a record's lock is waited for. Whoever removes marks holds it for a moment.
const TRIES: u32 = 4000;
const PAUSE: Duration = Duration::from_micros(500);

/// What came of releasing a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Release {
    /// Nothing is left to do.
    Done,
    /// Somebody needs it.
    Held,
}

/// The registry.
#[derive(Debug)]
pub(crate) struct Registry {
    pub(super) folder: OwnedFd,
    /// Marks that have lost their names, and are held still. The file system frees what they occupied
    /// when nobody has them open any more, and some take milliseconds for each.
    nameless: Mutex<Vec<OwnedFd>>,
}

impl Registry {
    /// Opens the registry in a folder, which is made if need be.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        Self::open_existing(folder)
    }

    /// The same, where nothing shall be made.
    pub(super) fn open_existing(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self {
            folder: rustix::fs::open(folder, flags, Mode::empty())?,
            nameless: Mutex::default(),
        })
    }

    /// Lets go of marks that have lost their names.
    pub(super) fn let_go(&self) {
        drop(self.take_nameless());
    }

    /// Leaves that to the kernel, when this process ends: whoever waits for the names to be free need
    /// not wait for that.
    pub(super) fn leave_to_the_kernel(&self) {
        std::mem::forget(self.take_nameless());
    }

    fn take_nameless(&self) -> Vec<OwnedFd> {
        std::mem::take(&mut *self.nameless())
    }

    fn nameless(&self) -> MutexGuard<'_, Vec<OwnedFd>> {
        self.nameless.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes hold of the record of a root: no mark in it is removed from now on by anybody who
    /// shares this registry.
    pub(super) fn hold(&self, record: &str) -> io::Result<File> {
        for _ in 0..TRIES {
            let file = self.open_record(record, OFlags::CREATE)?;
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
                // It may have been removed between the opening and the lock.
                Ok(()) if rustix::fs::fstat(&file)?.st_nlink > 0 => return Ok(file),
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
                Err(_) => return Err(io::Error::from_raw_os_error(libc::ENOLCK)),
            }
        }
        Err(io::Error::from_raw_os_error(libc::EBUSY))
    }

    /// Removes the marks of a record, and the record, unless somebody needs them.
    pub(crate) fn release(&self, record: &str) -> Release {
        if !record.starts_with(RECORD) {
            return Release::Done;
        }
        match self.try_release(record) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Release::Held,
            // What cannot be done now is done at the next start.
            _ => Release::Done,
        }
    }

    fn try_release(&self, record: &str) -> io::Result<()> {
        let mut file = self.open_record(record, OFlags::empty())?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        if rustix::fs::fstat(&file)?.st_nlink == 0 {
            return Ok(());
        }
        let mut staying = Vec::new();
        for path in marks_in(&mut file)? {
            match super::remove(&path) {
                Ok(removed) => self.nameless().extend(removed),
                Err(_) => staying.extend(line(&path)),
            }
        }
        if staying.is_empty() {
            rustix::fs::unlinkat(&self.folder, record, AtFlags::empty())?;
        } else {
            file.set_len(0)?;
            file.write_all(&staying)?;
        }
        Ok(())
    }

    /// Removes what nobody needs: marks and notes of those that are gone.
    pub(crate) fn sweep(&self) {
        for name in self.names() {
            if name.starts_with(RECORD) {
                self.release(&name);
            } else {
                presence::forget_if_gone(self, &name);
            }
        }
    }

    /// The names of everything in the registry.
    pub(super) fn names(&self) -> Vec<String> {
        let Ok(entries) = rustix::fs::Dir::read_from(&self.folder) else {
            return Vec::new();
        };
        entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned))
            .filter(|name| !name.starts_with('.'))
            .collect()
    }

    pub(super) fn open_record(&self, name: &str, more: OFlags) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
        let mode = Mode::from_raw_mode(0o600);
        Ok(rustix::fs::openat(&self.folder, name, flags, mode)?.into())
    }
}

/// The line for a mark: its path, ended by a NUL since it may hold anything else.
pub(super) fn line(path: &Path) -> Vec<u8> {
    [path.as_os_str().as_bytes(), b"\0"].concat()
}

/// The marks that a record knows, each once. A line that was cut off says nothing.
pub(super) fn marks_in(file: &mut File) -> io::Result<Vec<PathBuf>> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let whole = text.iter().rposition(|byte| *byte == 0).unwrap_or(0);
    let mut marks: Vec<PathBuf> = Vec::new();
    for line in text[..whole].split(|byte| *byte == 0) {
        let path = PathBuf::from(OsString::from_vec(line.to_vec()));
        if path.is_absolute() && !marks.contains(&path) {
            marks.push(path);
        }
    }
    Ok(marks)
}

/// The name of a root's record. Two roots that happen to share one share their marks' fate, too.
pub(super) fn record_of(root: &Path) -> String {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let bytes = root.as_os_str().as_bytes();
    let hash = bytes.iter().fold(START, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    });
    format!("{RECORD}{hash:016x}")
}
