//! A mark: an empty folder that stands at the place of a protected path that does not exist, so that
//! a mount can keep it from being made.
//!
//! Git takes no notice of an empty folder, and whoever comes by outside can enter and fill it: `git
//! init` works in an empty `.git`. It is known by a modification time that nothing has by chance,
//! and that changes as soon as somebody puts something in it: from then on it is theirs. Only an
//! empty one that still has that time is ever removed, by `rmdir`, which takes nothing along.
//!
//! Which marks there are, and who needs them, is in the `registry`, out of reach of commands.

mod holdings;
mod presence;
mod registry;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;

pub(crate) use holdings::{Estate, Held, Holdings, Ledger};
pub(crate) use presence::{Attendance, others_since};
pub use presence::{LiveSession, sessions};
pub(crate) use registry::Registry;

/// The modification time of a mark: a moment in 2013, to the microsecond. Some file systems keep
/// less of it.
const SECONDS: i64 = 1_380_535_878;
const NANOSECONDS: i64 = 314_159_000;

/// The mode that a mark is made with, which nobody gives to a folder: it is known from its first
/// moment on, and gets its time in the next one.
const UNFINISHED: u32 = 0o1700;

/// What marks were once: sockets that nobody listens on, with a mode that nobody gives to one.
const OLD_MODE: u32 = 0o1000;

/// Whether a mark, of today's kind or of the old one, is at a path: to whoever wants to read what
/// is there, there is nothing.
pub fn is_at(path: &Path) -> bool {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| is_one(&stat))
}

/// Whether what was opened is a mark, of today's kind or of the old one.
pub(crate) fn is_mark(opened: impl AsFd) -> io::Result<bool> {
    Ok(is_one(&rustix::fs::fstat(opened)?))
}

/// Whether what has this status is a mark that nobody has put anything into: a command may give the
/// time of a mark to a folder of its own.
pub(crate) fn is_left_alone(folder: BorrowedFd<'_>, name: &Path, stat: &Stat) -> bool {
    is_old(stat) || is_marked(stat) && is_empty(folder, name)
}

fn is_empty(folder: BorrowedFd<'_>, name: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(opened) = rustix::fs::openat(folder, name, flags, Mode::empty()) else {
        return false;
    };
    let Ok(mut entries) = rustix::fs::Dir::new(opened) else {
        return false;
    };
    entries.all(|entry| {
        entry.is_ok_and(|entry| [&b"."[..], b".."].contains(&entry.file_name().to_bytes()))
    })
}

fn is_one(stat: &Stat) -> bool {
    is_marked(stat) || is_old(stat)
}

fn is_marked(stat: &Stat) -> bool {
    let nanoseconds = i64::try_from(stat.st_mtime_nsec).unwrap_or(-1);
    let has_the_time = stat.st_mtime == SECONDS && [NANOSECONDS, 0].contains(&nanoseconds);
    FileType::from_raw_mode(stat.st_mode).is_dir()
        && (has_the_time || stat.st_mode & 0o7777 == UNFINISHED)
}

fn is_old(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Socket && stat.st_mode & 0o7777 == OLD_MODE
}

/// How long those that died with a warden may take to let go of what they held.
const SWEEPS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(2);

/// Removes what nobody needs any more, after somebody who should have done so was killed.
pub(crate) fn sweep(registry: &Path) {
    let Ok(registry) = Registry::open_existing(registry) else {
        return;
    };
    for _ in 0..SWEEPS {
        registry.sweep();
        // What is left is held by others, or by somebody who is dying.
        if registry.names().is_empty() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// What making a mark came to.
enum Made {
    /// There is one, made now or before.
    Mark(OwnedFd),
    /// Something of somebody's is there.
    Existing,
}

/// Makes a mark, unless something is there.
fn make(folder: BorrowedFd<'_>, name: &Path) -> io::Result<Made> {
    // More than once: the first may find a mark of the old kind, or one that goes away.
    for _ in 0..3 {
        match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(UNFINISHED)) {
            Ok(()) => return finish(folder, name).map(Made::Mark),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => continue,
            other => other?,
        };
        let stat = rustix::fs::fstat(&opened)?;
        if is_old(&stat) {
            rustix::fs::unlinkat(folder, name, AtFlags::empty())?;
        } else if is_marked(&stat) {
            return Ok(Made::Mark(opened));
        } else {
            return Ok(Made::Existing);
        }
    }
    Err(io::Error::from_raw_os_error(libc::EBUSY))
}

/// Gives a folder that has just been made to whoever owns the one around it, and the time and the
/// mode that it shall have.
fn finish(folder: BorrowedFd<'_>, name: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    if rustix::process::geteuid().is_root() {
        let around = rustix::fs::fstat(folder)?;
        let (uid, gid) = (around.st_uid, around.st_gid);
        if uid != 0 {
            let owner = Some(rustix::process::Uid::from_raw(uid));
            let group = Some(rustix::process::Gid::from_raw(gid));
            rustix::fs::fchown(&made, owner, group)?;
        }
    }
    let moment = Timespec {
        tv_sec: SECONDS,
        tv_nsec: NANOSECONDS,
    };
    let times = Timestamps {
        last_access: moment,
        last_modification: moment,
    };
    rustix::fs::futimens(&made, &times)?;
    let umask = rustix::process::umask(Mode::from_raw_mode(0o022));
    rustix::process::umask(umask);
    rustix::fs::fchmod(&made, Mode::from_raw_mode(0o777) & !umask)?;
    Ok(made)
}

/// Removes a mark, if it still is one: what has lost its name then. An error means that it stays
/// although it is ours.
fn remove(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !is_marked(&rustix::fs::fstat(&opened)?) {
        return Ok(None);
    }
    match rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(Some(opened)),
        // Somebody has just filled it.
        Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
