//! Placeholders: nodes that hold the place of protected paths that do not exist, so that a mount
//! can keep them from being created.
//!
//! A placeholder is a socket that nobody listens on: it cannot be opened, git and editors take no
//! notice of it, and several names can share one node, which makes it cheap. It is visible in the
//! user's folder only while a run needs it. Several runs, of several sessions, may need the same
//! one: each holds a shared lock on the folder that it is in, and whoever ends removes it unless
//! another still holds on. A placeholder that was left by a power failure is known by its mode,
//! taken over, and removed, by the next run there.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ringfence_confine::descriptor;
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags};

/// No permissions, and sticky: nobody gives that to a socket.
const MARK: u32 = 0o1000;

/// How long a folder's lock is waited for. Whoever removes placeholders holds it for a moment.
const LOCK_TRIES: u32 = 2000;
const LOCK_PAUSE: Duration = Duration::from_millis(1);

/// The folders whose placeholders this run holds on to, and a node to make more of.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    locks: Vec<(PathBuf, OwnedFd)>,
    node: Option<OwnedFd>,
}

/// What was found, or made, at a place.
pub(super) enum Held {
    /// A placeholder. It lasts as long as the run's holdings, or another's.
    Placeholder(OwnedFd),
    /// Something of the user's is there.
    Existing,
}

impl Holdings {
    /// The locks, which must live as long as the run.
    pub(super) fn into_locks(self) -> Vec<OwnedFd> {
        self.locks.into_iter().map(|(_, lock)| lock).collect()
    }

    /// Takes hold of a folder: no placeholder in it is removed from now on.
    pub(super) fn lock(&mut self, folder: &Path) -> io::Result<()> {
        if self.locks.iter().any(|(locked, _)| locked == folder) {
            return Ok(());
        }
        let opened = open_folder(folder)?;
        for _ in 0..LOCK_TRIES {
            match rustix::fs::flock(&opened, FlockOperation::NonBlockingLockShared) {
                // A file system without locks has no other sessions to mind either.
                Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::BADF) => {
                    self.locks.push((folder.to_path_buf(), opened));
                    return Ok(());
                }
                Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::from_raw_os_error(libc::EBUSY))
    }

    /// Makes a placeholder in a locked folder, or joins one that is there.
    ///
    /// `path` is the same place as seen by the warden; it is entered into the ledger before
    /// anything is made, so that the warden removes it however the stage ends.
    pub(super) fn hold(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &Path,
        path: &Path,
        ledger: &OwnedFd,
    ) -> io::Result<Held> {
        descriptor::send(ledger, path.as_os_str().as_bytes(), &[])?;
        self.make(folder, name)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(folder, name, flags, Mode::empty())?;
        if !is_marked(&opened)? {
            return Ok(Held::Existing);
        }
        Ok(Held::Placeholder(opened))
    }

    /// Makes the node with its mark in one step, so that nobody can see one without the other.
    fn make(&mut self, folder: BorrowedFd<'_>, name: &Path) -> io::Result<()> {
        if let Some(node) = &self.node {
            let source = format!("/proc/self/fd/{}", node.as_raw_fd());
            match rustix::fs::linkat(CWD, source, folder, name, AtFlags::SYMLINK_FOLLOW) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => return Ok(()),
                // Another mount, or a file system without links: it gets a node of its own.
                Err(_) => {}
            }
        }
        let umask = rustix::process::umask(Mode::empty());
        let made =
            rustix::fs::mknodat(folder, name, FileType::Socket, Mode::from_raw_mode(MARK), 0);
        rustix::process::umask(umask);
        match made {
            Ok(()) => {
                let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                self.node = Some(rustix::fs::openat(folder, name, flags, Mode::empty())?);
                Ok(())
            }
            Err(rustix::io::Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether what stands at a place is a placeholder of some run.
pub(super) fn is_placeholder(place: &OwnedFd) -> io::Result<bool> {
    is_marked(place)
}

/// The same, told from what the file system says about a path.
pub(crate) fn is_marked_placeholder(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    metadata.file_type().is_socket() && metadata.mode() & 0o7777 == MARK
}

/// Removes the placeholders in a stage's ledger that nobody needs any more.
pub(super) fn remove_all(ledger: &OwnedFd) {
    let mut buffer = vec![0; 4097];
    let mut lock: Option<(PathBuf, OwnedFd)> = None;
    loop {
        match descriptor::receive(ledger, &mut buffer) {
            Ok(message) if message.length > 0 => {
                let path = std::ffi::OsString::from_vec(buffer[..message.length].to_vec());
                // What cannot be removed now is taken over by the next run there.
                let _ = remove(&PathBuf::from(path), &mut lock);
            }
            _ => return,
        }
    }
}

/// Removes a placeholder if its folder can be locked against all runs. The lock is kept for the
/// next ones of the same folder.
fn remove(path: &Path, lock: &mut Option<(PathBuf, OwnedFd)>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    if lock.as_ref().is_none_or(|(locked, _)| locked != folder) {
        *lock = None;
        let opened = open_folder(folder)?;
        match rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::BADF) => {}
            Err(error) => return Err(error.into()),
        }
        *lock = Some((folder.to_path_buf(), opened));
    }
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::empty())?;
    if is_marked(&opened)? {
        fs::remove_file(path)?;
    }
    Ok(())
}

fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

fn is_marked(opened: &impl AsFd) -> io::Result<bool> {
    let mode = rustix::fs::fstat(opened)?.st_mode;
    Ok(FileType::from_raw_mode(mode) == FileType::Socket && mode & 0o7777 == MARK)
}
