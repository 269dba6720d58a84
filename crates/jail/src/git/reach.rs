//! Writable roots that are held open, and files in them that are looked at without being led
//! elsewhere: no link is followed, nothing blocks, everything is bounded.
//!
//! A command may have made whatever is found here, links to the machine's files and pipes that
//! nobody writes to included.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::mark;

/// The writable roots of a run.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    roots: Vec<(PathBuf, OwnedFd)>,
}

const FOLDER: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Reach {
    /// Takes hold of roots, whose paths have no links in them. One that is no folder holds no
    /// repository.
    pub(crate) fn of(roots: &[PathBuf]) -> Self {
        let mut held: Vec<(PathBuf, OwnedFd)> = roots
            .iter()
            .filter_map(|root| {
                let folder = rustix::fs::open(root, FOLDER, Mode::empty()).ok()?;
                Some((root.clone(), folder))
            })
            .collect();
        // The innermost root comes first: that is where a path is looked for.
        held.sort_by_key(|(path, _)| std::cmp::Reverse(path.as_os_str().len()));
        Self { roots: held }
    }

    /// The roots' paths.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(|(path, _)| path.as_path())
    }

    /// Whether a path is in one of the roots, or one itself.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        self.roots.iter().any(|(root, _)| path.starts_with(root))
    }

    fn locate<'p>(&self, path: &'p Path) -> Option<(BorrowedFd<'_>, &'p Path)> {
        self.roots.iter().find_map(|(root, folder)| {
            let inner = path.strip_prefix(root).ok()?;
            Some((folder.as_fd(), inner))
        })
    }

    /// What tells one state of a path from another. A folder on the way that is a link is followed
    /// here: only numbers come of it.
    pub(crate) fn stamp(&self, path: &Path) -> Option<Stamp> {
        let (root, inner) = self.locate(path)?;
        let name = if inner.as_os_str().is_empty() {
            Path::new(".")
        } else {
            inner
        };
        let stat = rustix::fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (!mark::is_left_alone(root, name, &stat)).then(|| Stamp::of(&stat))
    }

    /// The folder that a path is in, and its name there.
    pub(crate) fn parent<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.folder(parent)?, name))
    }

    /// Opens a folder, without following links.
    pub(crate) fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        let (root, inner) = self.locate(path).ok_or(io::ErrorKind::NotFound)?;
        if inner.as_os_str().is_empty() {
            return root.try_clone_to_owned();
        }
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(root, inner, FOLDER, Mode::empty(), resolve) {
            Ok(folder) => Ok(folder),
            // An old kernel, or a filter around us that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {
                let mut folder = root.try_clone_to_owned()?;
                for part in inner.components() {
                    let Component::Normal(name) = part else {
                        return Err(io::ErrorKind::InvalidInput.into());
                    };
                    folder = rustix::fs::openat(&folder, name, FOLDER, Mode::empty())?;
                }
                Ok(folder)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The first part of a path, below its root, that is a link. Nothing if there is none.
    pub(crate) fn link_on_the_way(&self, path: &Path) -> Option<PathBuf> {
        if self.folder(path).is_ok() {
            return None;
        }
        let mut ancestors: Vec<&Path> = path.ancestors().collect();
        ancestors.reverse();
        let is_below = |path: &&Path| self.holds(path) && !self.roots().any(|root| root == *path);
        let mut below = ancestors.into_iter().filter(is_below);
        let link = below.find(|path| matches!(self.find(path, 0), Found::Link(..)));
        link.map(Path::to_path_buf)
    }

    /// What is at a path: the content of a file, if it is no longer than this.
    pub(crate) fn find(&self, path: &Path, most: u64) -> Found {
        let Ok((folder, name)) = self.parent(path) else {
            return Found::Absent;
        };
        find_in(&folder, name, most)
    }

    /// What is in a folder, by name, without its content. At most so many.
    pub(super) fn list(&self, path: &Path, most: usize) -> Vec<OsString> {
        let Ok(folder) = self.folder(path) else {
            return Vec::new();
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(opened) = rustix::fs::openat(&folder, ".", flags, Mode::empty()) else {
            return Vec::new();
        };
        let Ok(entries) = rustix::fs::Dir::new(opened) else {
            return Vec::new();
        };
        let mut names: Vec<OsString> = entries
            .flatten()
            .map(|entry| OsString::from_vec(entry.file_name().to_bytes().to_vec()))
            .filter(|name| name != "." && name != "..")
            .take(most)
            .collect();
        names.sort();
        names
    }
}

fn find_in(folder: &OwnedFd, name: &OsStr, most: u64) -> Found {
    let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
        return Found::Absent;
    };
    // A name that is held for a run, this one or another, is nobody's.
    if mark::is_left_alone(folder.as_fd(), Path::new(name), &stat) {
        return Found::Absent;
    }
    let stamp = Stamp::of(&stat);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => Found::Folder(stamp),
        FileType::Symlink => match rustix::fs::readlinkat(folder, name, Vec::new()) {
            Ok(target) => Found::Link(
                stamp,
                PathBuf::from(OsString::from_vec(target.into_bytes())),
            ),
            Err(_) => Found::Other(stamp),
        },
        FileType::RegularFile => match read(folder, name, most) {
            Ok(Some(bytes)) => Found::File(stamp, bytes.into()),
            Ok(None) | Err(_) => Found::Closed(stamp),
        },
        _ => Found::Other(stamp),
    }
}

/// Reads a file that was an ordinary one a moment ago.
fn read(folder: &OwnedFd, name: &OsStr, most: u64) -> io::Result<Option<Vec<u8>>> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file: File = rustix::fs::openat(folder, name, flags, Mode::empty())?.into();
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(super) node: (u64, u64),
    pub(super) changed: (i64, i64),
    size: u64,
    pub(super) mode: u32,
    pub(super) links: u64,
}

impl Stamp {
    #[allow(
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        clippy::unnecessary_cast,
        reason = "the types of these fields differ from machine to machine"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            node: (stat.st_dev as u64, stat.st_ino as u64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            size: stat.st_size as u64,
            mode: stat.st_mode as u32,
            links: stat.st_nlink as u64,
        }
    }

    /// Permission bits.
    pub(crate) fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Absent,
    File(Stamp, Arc<[u8]>),
    /// A file that is too long, or cannot be read.
    Closed(Stamp),
    Folder(Stamp),
    Link(Stamp, PathBuf),
    /// A pipe, a socket, a device.
    Other(Stamp),
}

impl Found {
    pub(crate) fn stamp(&self) -> Option<&Stamp> {
        match self {
            Self::Absent => None,
            Self::File(stamp, _)
            | Self::Closed(stamp)
            | Self::Folder(stamp)
            | Self::Link(stamp, _)
            | Self::Other(stamp) => Some(stamp),
        }
    }

    pub(super) fn bytes(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::File(_, bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(crate) fn exists(&self) -> bool {
        *self != Self::Absent
    }

    /// Whether this is the same kind of thing with the same content, whatever its times.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) | (Self::Folder(_), Self::Folder(_)) => true,
            (Self::File(_, a), Self::File(_, b)) => a == b,
            (Self::Link(_, a), Self::Link(_, b)) => a == b,
            (Self::Closed(a), Self::Closed(b)) | (Self::Other(a), Self::Other(b)) => a == b,
            _ => false,
        }
    }
}

/// A path with `.` and `..` taken out by their names. No link is known here.
pub(super) fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = tidy.pop(),
            Component::CurDir => {}
            other => tidy.push(other),
        }
    }
    tidy
}
