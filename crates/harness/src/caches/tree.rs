//! Trees that commands have made: measured, put aside and removed without following a link, and without being led
//! out of them by one that comes into being meanwhile.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, RenameFlags, Stat};

use super::shelf::FOLDER;

/// The most levels and entries that are looked at. What has more is not a cache that a package manager made.
const MOST_LEVELS: usize = 48;
const MOST_ENTRIES: u64 = 3_000_000;

/// How much room something takes, and when it was last changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) bytes: u64,
    pub(super) changed: i64,
    /// Whether it could not be looked through.
    pub(super) unknown: bool,
}

/// Opens a folder.
pub(super) fn folder_at(at: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(at, path, FOLDER, Mode::empty())?)
}

/// The names in a folder.
pub(super) fn names(folder: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !is_dots(entry.file_name()) {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Measures what has a name in a folder.
pub(super) fn measure(folder: &OwnedFd, name: &CStr) -> Measure {
    let mut measure = Measure::default();
    measure.unknown = walk(folder, name, &mut measure).is_err();
    measure
}

fn walk(folder: &OwnedFd, name: &CStr, measure: &mut Measure) -> io::Result<()> {
    let mut entries = MOST_ENTRIES;
    let top = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    measure.add(&top);
    if !is_folder(&top) {
        return Ok(());
    }
    let mut open = vec![opened(folder.as_fd(), name)?];
    while let Some(level) = open.last_mut() {
        let Some(entry) = level.dir.next() else {
            open.pop();
            continue;
        };
        let entry = entry?;
        if is_dots(entry.file_name()) {
            continue;
        }
        entries = entries.checked_sub(1).ok_or(io::ErrorKind::QuotaExceeded)?;
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let found = rustix::fs::statat(&level.folder, entry.file_name(), flags)?;
        measure.add(&found);
        if is_folder(&found) {
            let next = opened(level.folder.as_fd(), entry.file_name())?;
            if open.len() == MOST_LEVELS {
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            open.push(next);
        }
    }
    Ok(())
}

/// A folder that is being looked through.
struct Level {
    folder: OwnedFd,
    dir: Dir,
}

fn opened(at: BorrowedFd<'_>, name: &CStr) -> io::Result<Level> {
    let folder = rustix::fs::openat(at, name, FOLDER, Mode::empty())?;
    let dir = Dir::read_from(&folder)?;
    Ok(Level { folder, dir })
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

impl Measure {
    fn add(&mut self, stat: &Stat) {
        let blocks = u64::try_from(stat.st_blocks).unwrap_or_default();
        self.bytes = self.bytes.saturating_add(blocks.saturating_mul(512));
        self.changed = self.changed.max(stat.st_mtime);
    }
}

/// The beginning of the names of what is to be removed.
const ASIDE: &str = "aside-";

/// Moves something out of a folder, to be removed: from one moment to the next it is not there any more.
pub(super) fn put_aside(from: &Path, name: &str, root: &Path) -> io::Result<()> {
    let (from, root) = (
        folder_at(rustix::fs::CWD, from)?,
        folder_at(rustix::fs::CWD, root)?,
    );
    // A folder that its owner may not write cannot be moved by that owner.
    if let Ok(folder) = rustix::fs::openat(&from, name, FOLDER, Mode::empty()) {
        let _ = rustix::fs::fchmod(&folder, Mode::from_raw_mode(0o700));
    }
    let aside = crate::identifier::random(ASIDE.trim_end_matches('-'));
    let aside = format!("{ASIDE}{aside}");
    match rustix::fs::renameat_with(&from, name, &root, aside, RenameFlags::NOREPLACE) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Removes everything that was put aside.
pub(super) fn remove_aside(root: &Path) -> io::Result<()> {
    let root = folder_at(rustix::fs::CWD, root)?;
    for name in names(&root)? {
        if name.to_bytes().starts_with(ASIDE.as_bytes()) {
            remove(&root, &name)?;
        }
    }
    Ok(())
}

/// Removes something, however deep it is: folders in it are moved up before they are emptied, so that there is never
/// more than one level to go down.
fn remove(root: &OwnedFd, top: &CStr) -> io::Result<()> {
    let mut waiting = vec![top.to_owned()];
    let mut made = 0_u64;
    while let Some(name) = waiting.pop() {
        let Some(folder) = emptied(root, &name)? else {
            continue;
        };
        for inner in names(&folder)? {
            // A folder that cannot be written cannot be moved.
            if let Ok(below) = rustix::fs::openat(&folder, &inner, FOLDER, Mode::empty()) {
                let _ = rustix::fs::fchmod(&below, Mode::from_raw_mode(0o700));
            }
            if rustix::fs::unlinkat(&folder, &inner, AtFlags::empty()).is_ok() {
                continue;
            }
            made += 1;
            let up = CString::new(format!("{}.{made}", top.to_string_lossy()))
                .map_err(io::Error::other)?;
            rustix::fs::renameat(&folder, &inner, root, &up)?;
            waiting.push(up);
        }
        rustix::fs::unlinkat(root, &name, AtFlags::REMOVEDIR)?;
    }
    Ok(())
}

/// A folder that can be emptied; nothing if it was no folder, and is gone.
fn emptied(root: &OwnedFd, name: &CStr) -> io::Result<Option<OwnedFd>> {
    match rustix::fs::openat(root, name, FOLDER, Mode::empty()) {
        Ok(folder) => {
            rustix::fs::fchmod(&folder, Mode::from_raw_mode(0o700))?;
            Ok(Some(folder))
        }
        Err(rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP) => {
            rustix::fs::unlinkat(root, name, AtFlags::empty())?;
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
