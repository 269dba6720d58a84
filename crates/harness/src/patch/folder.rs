//! A folder that is held open, and what is done to the entries in it by their names. No link is
//! ever followed: not on the way to the folder, and not in it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::draft::Stamp;
use super::step::step;

/// A folder.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOFOLLOW);

impl Folder {
    /// Opens a folder by a path that has no links in it.
    pub(super) fn open(root: &Path, inner: &Path) -> io::Result<Self> {
        let root = rustix::fs::open(root, FOLDER | OFlags::PATH, Mode::empty())?;
        if inner.as_os_str().is_empty() {
            return Ok(Self(root));
        }
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = FOLDER | OFlags::PATH;
        match rustix::fs::openat2(&root, inner, flags, Mode::empty(), resolve) {
            Ok(folder) => Ok(Self(folder)),
            // An old kernel, or a filter around us that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => Self(root).walk(inner),
            Err(error) => Err(error.into()),
        }
    }

    /// The same, part by part.
    fn walk(self, inner: &Path) -> io::Result<Self> {
        let mut folder = self;
        for part in inner.components() {
            let std::path::Component::Normal(name) = part else {
                return Err(io::ErrorKind::InvalidInput.into());
            };
            folder = folder.child(name)?;
        }
        Ok(folder)
    }

    fn child(&self, name: &OsStr) -> io::Result<Self> {
        let flags = FOLDER | OFlags::PATH;
        Ok(Self(rustix::fs::openat(
            &self.0,
            name,
            flags,
            Mode::empty(),
        )?))
    }

    /// Makes a folder in this one; one that is there already is as good.
    pub(super) fn make_folder(&self, name: &OsStr) -> io::Result<()> {
        step()?;
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an empty folder.
    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        step()?;
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// What is known of an entry; nothing if there is none.
    pub(super) fn look(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens an ordinary file to be read, if it may be written as well.
    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        // A pipe or a device in its place must not hold us up.
        let flags =
            OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }

    /// Makes a new file with a content, and gives it to somebody where we may.
    pub(super) fn make_file(
        &self,
        name: &OsStr,
        content: &[u8],
        mode: u32,
        owner: (u32, u32),
    ) -> io::Result<Stamp> {
        step()?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file: File =
            rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o600))?.into();
        step()?;
        file.write_all(content)?;
        step()?;
        let (uid, gid) = (
            rustix::fs::Uid::from_raw(owner.0),
            rustix::fs::Gid::from_raw(owner.1),
        );
        let made = rustix::fs::fstat(&file)?;
        if (made.st_uid, made.st_gid) != owner
            && rustix::fs::fchown(&file, Some(uid), Some(gid)).is_err()
        {
            // Only root gives files away. A group that we are in may still be kept.
            let _ = rustix::fs::fchown(&file, None, Some(gid));
        }
        // After the owner has changed, which clears some of these.
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        Ok(stamp(&rustix::fs::fstat(&file)?))
    }

    /// Gives an entry a second name; fails if that is taken.
    pub(super) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        step()?;
        Ok(rustix::fs::linkat(
            &self.0,
            from,
            &self.0,
            to,
            AtFlags::empty(),
        )?)
    }

    /// Renames an entry; fails if the name is taken.
    pub(super) fn rename_to_free(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        step()?;
        match rustix::fs::renameat_with(&self.0, from, &self.0, to, RenameFlags::NOREPLACE) {
            // A file system that cannot: then look first.
            Err(Errno::INVAL | Errno::NOSYS) if self.look(to)?.is_none() => {
                Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
            }
            other => Ok(other?),
        }
    }

    /// Renames an entry over another.
    pub(super) fn rename_over(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        step()?;
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Removes an entry; one that is not there is as good.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        step()?;
        match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whom the folder belongs to.
    pub(super) fn owner(&self) -> io::Result<(u32, u32)> {
        let found = rustix::fs::fstat(self.0.as_fd())?;
        Ok((found.st_uid, found.st_gid))
    }
}

/// What tells this state of a file from another.
#[allow(
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::unnecessary_cast,
    reason = "the types of these fields differ from machine to machine"
)]
pub(super) fn stamp(found: &Stat) -> Stamp {
    Stamp {
        device: found.st_dev as u64,
        inode: found.st_ino as u64,
        size: found.st_size as u64,
        modified: (found.st_mtime as i64, found.st_mtime_nsec as i64),
    }
}

/// Reads a file to its end, but no more than it may have.
pub(super) fn read_bounded(file: &File, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut content = Vec::new();
    file.take(most.saturating_add(1))
        .read_to_end(&mut content)?;
    Ok((content.len() as u64 <= most).then_some(content))
}
