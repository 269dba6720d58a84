//! Placeholders: empty folders that hold the place of protected paths that do not exist, so that
//! a mount can keep them from being created.
//!
//! They are visible in the user's folder only while a run needs them. Several runs, of several
//! sessions, may need the same one: each holds a shared lock on it, and whoever ends removes it
//! unless another still holds on. A placeholder is told from a folder of the user's by its mode,
//! which nobody gives to an empty folder; one that was left by a power failure is taken over, and
//! removed, by the next run there.

use std::fs;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use ringfence_confine::descriptor;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};

/// Listable, not writable, sticky.
const MARK: u32 = 0o1555;
/// A placeholder that is being removed is gone in a moment; this many tries outlast that.
const TRIES: usize = 100;

/// What was found, or made, at a place.
pub(super) enum Held {
    /// A placeholder. It lasts as long as this lock, or another's.
    Placeholder(OwnedFd),
    /// Something of the user's is there now.
    Existing,
}

/// Makes a placeholder in a folder, or joins one that is there.
///
/// `path` is the same place as seen by the warden; it is entered into the ledger before anything
/// is made, so that the warden removes it however the stage ends.
pub(super) fn hold(
    folder: BorrowedFd<'_>,
    name: &Path,
    path: &Path,
    ledger: &OwnedFd,
) -> io::Result<Held> {
    descriptor::send(ledger, path.as_os_str().as_bytes(), &[])?;
    for _ in 0..TRIES {
        let made = make(folder, name)?;
        let opened = match look(folder, name)? {
            Found::Folder(opened) if made || is_marked(&opened)? => opened,
            // Removed by another run since we found it.
            Found::Nothing => continue,
            Found::Folder(opened) if !is_linked(&opened)? => continue,
            Found::Folder(_) | Found::Other => return Ok(Held::Existing),
        };
        if lock(&opened, FlockOperation::NonBlockingLockShared)? && is_linked(&opened)? {
            return Ok(Held::Placeholder(opened));
        }
        std::thread::yield_now();
    }
    Err(io::Error::from_raw_os_error(libc::EBUSY))
}

/// Makes the folder with its mark in one step, so that nobody can see one without the other.
/// Says whether it was made, or was there.
fn make(folder: BorrowedFd<'_>, name: &Path) -> io::Result<bool> {
    let umask = rustix::process::umask(Mode::empty());
    let made = rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(MARK));
    rustix::process::umask(umask);
    match made {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether an existing folder is a placeholder of some run.
pub(super) fn is_placeholder(folder: BorrowedFd<'_>, name: &Path) -> io::Result<bool> {
    match look(folder, name)? {
        Found::Folder(opened) => is_marked(&opened),
        Found::Nothing | Found::Other => Ok(false),
    }
}

/// Removes the placeholders in a stage's ledger that nobody needs any more.
pub(super) fn remove_all(ledger: &OwnedFd) {
    let mut buffer = vec![0; 4097];
    loop {
        match descriptor::receive(ledger, &mut buffer) {
            Ok(message) if message.length > 0 => {
                let path = std::ffi::OsString::from_vec(buffer[..message.length].to_vec());
                // What cannot be removed now is taken over by the next run there.
                let _ = remove(&PathBuf::from(path));
            }
            _ => return,
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    let Found::Folder(opened) = look(rustix::fs::CWD, path)? else {
        return Ok(());
    };
    if is_marked(&opened)? && lock(&opened, FlockOperation::NonBlockingLockExclusive)? {
        // A folder that holds anything is not ours, whatever its mode: this fails on it.
        fs::remove_dir(path)?;
    }
    Ok(())
}

/// What there is at a name.
enum Found {
    Folder(OwnedFd),
    Other,
    Nothing,
}

fn look(folder: BorrowedFd<'_>, name: &Path) -> io::Result<Found> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, name, flags, Mode::empty()) {
        Ok(opened) => Ok(Found::Folder(opened)),
        Err(rustix::io::Errno::NOENT) => Ok(Found::Nothing),
        Err(rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP | rustix::io::Errno::ACCESS) => {
            Ok(Found::Other)
        }
        Err(error) => Err(error.into()),
    }
}

fn is_marked(opened: &OwnedFd) -> io::Result<bool> {
    let mode = rustix::fs::fstat(opened)?.st_mode & 0o7777;
    Ok(mode == MARK && is_empty(opened)?)
}

fn is_empty(opened: &OwnedFd) -> io::Result<bool> {
    let mut buffer = Vec::with_capacity(1024);
    let mut entries = rustix::fs::RawDir::new(opened, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
            // Something is in it, or it is gone already.
            Ok(_) | Err(rustix::io::Errno::NOENT) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

fn is_linked(opened: &OwnedFd) -> io::Result<bool> {
    let stat = rustix::fs::statat(opened, "", AtFlags::EMPTY_PATH)?;
    Ok(stat.st_nlink > 0)
}

/// Whether the lock was got.
fn lock(opened: &OwnedFd, operation: FlockOperation) -> io::Result<bool> {
    match rustix::fs::flock(opened, operation) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
