//! A mark: an empty folder that stands at the place of a protected path that does not exist, so that
//! a mount can keep it from being made.
//!
//! Git takes no notice of an empty folder, and whoever comes by outside can enter and fill it: `git
//! init` works in an empty `.git`. It is known by a modification time that nothing has by chance,
//! and that changes as soon as somebody puts something in it: from then on it is theirs. Only an
//! empty one that still has that time is ever removed, by `rmdir`, which takes nothing along.
//!
//! Which marks there are, and who needs them, is in the `registry`, out of reach of commands.

mod entry;
mod holdings;
mod presence;
mod registry;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, StatxFlags, Timespec, Timestamps};
use rustix::io::Errno;

pub(crate) use holdings::{Held, Holdings, Ledger, release_all};
pub(crate) use presence::Attendance;
pub use presence::{LiveSession, sessions};
pub(crate) use registry::Registry;

/// The modification time of a mark: a moment in 2013, to the microsecond. Some file systems keep
/// less of it.
const SECONDS: i64 = 1_380_535_878;
const NANOSECONDS: i64 = 314_159_000;

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

fn is_one(stat: &Stat) -> bool {
    is_marked(stat) || is_old(stat)
}

fn is_marked(stat: &Stat) -> bool {
    let nanoseconds = i64::try_from(stat.st_mtime_nsec).unwrap_or(-1);
    FileType::from_raw_mode(stat.st_mode).is_dir()
        && stat.st_mtime == SECONDS
        && [NANOSECONDS, 0].contains(&nanoseconds)
}

fn is_old(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Socket && stat.st_mode & 0o7777 == OLD_MODE
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
    // Twice: the first may find a mark of the old kind, or one that goes away.
    for _ in 0..3 {
        match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
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

/// Makes a mark of a folder that has just been made.
fn finish(folder: BorrowedFd<'_>, name: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    if rustix::process::geteuid().is_root() {
        // Whoever owns the folder around it can fill it.
        let around = rustix::fs::fstat(folder)?;
        let (uid, gid) = (around.st_uid, around.st_gid);
        if uid != 0 {
            let owner = Some(rustix::process::Uid::from_raw(uid));
            let group = Some(rustix::process::Gid::from_raw(gid));
            rustix::fs::chownat(&made, "", owner, group, AtFlags::EMPTY_PATH)?;
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
    rustix::fs::utimensat(folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(made)
}

/// How sure it is that a folder was made by us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Certainty {
    /// It was made a mark.
    Marked,
    /// It was about to be: whoever did it may have been stopped before the time was set.
    Meant,
}

/// Removes a mark, if it still is one. An error means that it stays although it is ours.
fn remove(path: &Path, certainty: Certainty) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let ours = is_marked(&rustix::fs::fstat(&opened)?)
        || (certainty == Certainty::Meant && is_untouched(&opened));
    if !ours {
        return Ok(());
    }
    match rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR) {
        // Somebody has just filled it.
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether nothing was ever put into a folder.
fn is_untouched(folder: &OwnedFd) -> bool {
    let wanted = StatxFlags::BTIME | StatxFlags::MTIME;
    rustix::fs::statx(folder, "", AtFlags::EMPTY_PATH, wanted).is_ok_and(|stat| {
        StatxFlags::from_bits_retain(stat.stx_mask).contains(wanted)
            && (stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec)
                == (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec)
    })
}

#[cfg(test)]
mod tests;
