//! Putting git's set-up back: as the user that fenced commands run as, by names in folders that are
//! held open, and without losing anything. What is in the way gets another name beside its own.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::compare::{Finding, Remedy};
use super::reach::{Found, Reach};
use super::{Amends, Repair, SET_ASIDE};

/// How many names are tried in their order for something that is set aside. Whoever has taken them
/// all cannot know the ones that follow.
const NUMBERED: u32 = 20;
/// How many of those.
const UNKNOWN: u32 = 20;
/// The longest name of a file, less what is added to it.
const MOST_NAME_BYTES: usize = 255 - 36;
/// The longest file that is copied rather than renamed.
const MOST_COPIED: u64 = 1 << 20;

/// Does what is to be done about a finding.
pub(super) fn mend(reach: &Reach, finding: &Finding) -> Repair {
    let amends = match carry_out(reach, finding) {
        Ok(amends) => amends,
        Err(error) => Amends::Failed(error.to_string()),
    };
    Repair {
        path: finding.path.clone(),
        amends,
        reason: finding.reason.clone(),
    }
}

/// Does it, if need be in a folder that was closed against that: its owner may open it.
fn carry_out(reach: &Reach, finding: &Finding) -> io::Result<Amends> {
    match try_it(reach, finding) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let (folder, _) = reach.parent(&finding.path)?;
            let mode = Mode::from_raw_mode(rustix::fs::fstat(&folder)?.st_mode & 0o7777);
            set_mode_of(&folder, mode | Mode::RWXU)?;
            let done = try_it(reach, finding);
            set_mode_of(&folder, mode)?;
            done
        }
        other => other,
    }
}

/// Sets the mode of a folder that could not even be read: by the name of its descriptor.
fn set_mode_of(folder: &OwnedFd, mode: Mode) -> io::Result<()> {
    let name = format!("/proc/self/fd/{}", folder.as_raw_fd());
    Ok(rustix::fs::chmod(name, mode)?)
}

fn try_it(reach: &Reach, finding: &Finding) -> io::Result<Amends> {
    let (folder, name) = reach.parent(&finding.path)?;
    match &finding.remedy {
        Remedy::SetAside => {
            let to = set_aside(&folder, name)?;
            Ok(Amends::SetAside(finding.path.with_file_name(to)))
        }
        Remedy::PutBack { bytes, mode } => {
            let kept = put_back(&folder, name, bytes, *mode)?;
            Ok(put(&finding.path, kept))
        }
        Remedy::LinkBack(target) => {
            let kept = out_of_the_way(&folder, name)?;
            rustix::fs::symlinkat(target, &folder, name)?;
            Ok(put(&finding.path, kept))
        }
        // Somebody was faster.
        Remedy::Folder { .. } if matches!(reach.find(&finding.path, 0), Found::Folder(_)) => {
            Ok(Amends::PutBack { kept: None })
        }
        Remedy::Folder { mode } => {
            let kept = out_of_the_way(&folder, name)?;
            rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(*mode))?;
            Ok(put(&finding.path, kept))
        }
        Remedy::Mode(mode) => {
            set_mode(reach, &finding.path, *mode)?;
            Ok(Amends::PutBack { kept: None })
        }
    }
}

fn put(path: &Path, kept: Option<OsString>) -> Amends {
    Amends::PutBack {
        kept: kept.map(|name| path.with_file_name(name)),
    }
}

/// Gives an entry another name beside its own. Nothing is overwritten.
fn set_aside(folder: &OwnedFd, name: &OsStr) -> io::Result<OsString> {
    for to in names(name) {
        match rustix::fs::renameat_with(folder, name, folder, &to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(to),
            Err(Errno::EXIST) => {}
            // A file system that cannot look and rename at once.
            Err(Errno::INVAL | Errno::NOSYS) => {
                if rustix::fs::statat(folder, &to, AtFlags::SYMLINK_NOFOLLOW).is_err() {
                    rustix::fs::renameat(folder, name, folder, &to)?;
                    return Ok(to);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Names for something that is set aside: some that tell how many there are, and then some that
/// nobody can have taken.
fn names(name: &OsStr) -> impl Iterator<Item = OsString> {
    let bytes = name.as_bytes();
    let mut base = bytes[..bytes.len().min(MOST_NAME_BYTES)].to_vec();
    base.extend_from_slice(SET_ASIDE.as_bytes());
    let named = move |end: String| {
        let name = [&base[..], end.as_bytes()].concat();
        OsString::from_vec(name)
    };
    let numbered = (1..=NUMBERED).map(|number| match number {
        1 => String::new(),
        number => format!("-{number}"),
    });
    // The hasher has keys of its own that nobody else knows.
    let keys = std::collections::hash_map::RandomState::new();
    let unknown = (0..UNKNOWN).map(move |number| format!("-{:016x}", keys.hash_one(number)));
    numbered.chain(unknown).map(named)
}

/// The same, for what may not be there.
fn out_of_the_way(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<OsString>> {
    match set_aside(folder, name) {
        Ok(to) => Ok(Some(to)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives a file its old content. What is there is kept under another name. A file that has only this
/// name stays the one it is: other runs have it covered, and a new one in its place would not be.
fn put_back(
    folder: &OwnedFd,
    name: &OsStr,
    bytes: &[u8],
    mode: u32,
) -> io::Result<Option<OsString>> {
    if let Some(kept) = overwrite(folder, name, bytes) {
        return Ok(Some(kept));
    }
    let kept = out_of_the_way(folder, name)?;
    let mut file = make(folder, name)?;
    file.write_all(bytes)?;
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & 0o777))?;
    Ok(kept)
}

/// Writes over a file once there is a copy of it. Nothing if that cannot be done.
fn overwrite(folder: &OwnedFd, name: &OsStr, bytes: &[u8]) -> Option<OsString> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file: File = rustix::fs::openat(folder, name, flags, Mode::empty())
        .ok()?
        .into();
    let found = file.metadata().ok()?;
    if !found.is_file() || found.nlink() != 1 || found.len() > MOST_COPIED {
        return None;
    }
    let mut now = Vec::new();
    (&file).take(MOST_COPIED).read_to_end(&mut now).ok()?;
    let (kept, mut copy) = names(name).find_map(|kept| {
        let copy = make(folder, &kept).ok()?;
        Some((kept, copy))
    })?;
    copy.write_all(&now).ok()?;
    file.rewind().ok()?;
    file.set_len(0).ok()?;
    file.write_all(bytes).ok()?;
    Some(kept)
}

/// A new file.
fn make(folder: &OwnedFd, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?.into())
}

/// Gives a folder its permissions back. It may be closed even to us, so it is changed by its name.
fn set_mode(reach: &Reach, path: &Path, mode: u32) -> io::Result<()> {
    let (folder, name) = reach.parent(path)?;
    if !matches!(reach.find(path, 0), Found::Folder(_)) {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let mode = Mode::from_raw_mode(mode & 0o777);
    // The call without a flag follows a link that took its place a moment ago; as the owner of the
    // workspace that is no more than they could do themselves.
    match rustix::fs::chmodat(&folder, name, mode, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            Ok(rustix::fs::chmodat(&folder, name, mode, AtFlags::empty())?)
        }
        other => Ok(other?),
    }
}
