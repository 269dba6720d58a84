//! A shelf: the caches of one workspace. Commands may write what is in its `tools`; who uses it, and what is to be
//! thrown away, stands beside that, where they cannot.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

use ringfence_confine::account;
use ringfence_policy::preset::TABLE;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use sha2::{Digest, Sha256};

use super::{Whose, tree};

/// What commands may write.
pub(super) const TOOLS: &str = "tools";
/// Held by everybody who uses the shelf; its time is the last use.
pub(super) const LOCK: &str = "lock";
/// The tools whose caches are thrown away when nobody uses the shelf any more.
const DUE: &str = "due";
/// The workspace, for people.
const WORKSPACE: &str = "workspace";

/// A shelf that is in use.
pub(super) struct Shelf {
    folder: PathBuf,
    /// Dropping it lets go.
    lock: File,
}

impl Shelf {
    /// The name of a workspace's shelf. Those of different users are different.
    pub(super) fn name_of(workspace: &Path, uid: u32) -> String {
        let mut hash = Sha256::new();
        hash.update(uid.to_le_bytes());
        hash.update(workspace.as_os_str().as_bytes());
        let name = hash.finalize();
        let mut text = String::new();
        for byte in &name[..12] {
            // Writing to a string cannot fail.
            let _ = std::fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
        }
        text
    }

    /// The name of the shelf that all workspaces of a user share.
    pub(super) fn shared_name(uid: u32) -> String {
        format!("shared-{uid}")
    }

    /// Opens a shelf below the folder of all, and makes what is missing.
    pub(super) fn open(root: &Path, name: &str, whose: &Whose<'_>) -> io::Result<Self> {
        let own = account::own_uid();
        let above = if whose.uid == own { 0o700 } else { 0o711 };
        let folder = root.join(name);
        fs::DirBuilder::new()
            .recursive(true)
            .mode(above)
            .create(&folder)?;
        is_a_folder_of(&folder, own)?;
        if whose.uid != own && !can_be_reached_by(&folder, whose.uid) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let tools = folder.join(TOOLS);
        match fs::DirBuilder::new().mode(0o700).create(&tools) {
            Ok(()) if whose.uid != own => chown(&tools, Some(whose.uid), None)?,
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        is_a_folder_of(&tools, whose.uid)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join(LOCK))?;
        let shelf = Self { folder, lock };
        shelf.take(root)?;
        fs::write(
            shelf.folder.join(WORKSPACE),
            whose.workspace.as_os_str().as_bytes(),
        )?;
        shelf.link(whose)?;
        Ok(shelf)
    }

    /// What commands may write.
    pub(super) fn tools(&self) -> PathBuf {
        self.folder.join(TOOLS)
    }

    /// Takes the shelf. If nobody else uses it, what is due goes first.
    fn take(&self, root: &Path) -> io::Result<()> {
        let alone = FlockOperation::NonBlockingLockExclusive;
        if rustix::fs::flock(&self.lock, alone).is_ok() {
            let due = self.folder.join(DUE);
            for tool in fs::read_to_string(&due).unwrap_or_default().lines() {
                tree::put_aside(&self.tools(), tool, root)?;
            }
            match fs::remove_file(&due) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        rustix::fs::flock(&self.lock, FlockOperation::LockShared)?;
        // The moment of the last use.
        let now = rustix::fs::Timespec {
            tv_sec: 0,
            tv_nsec: rustix::fs::UTIME_NOW,
        };
        let now = rustix::fs::Timestamps {
            last_access: now,
            last_modification: now,
        };
        Ok(rustix::fs::futimens(&self.lock, &now)?)
    }

    /// Puts links to files of the user's where their tools look for them. Commands may have put anything in their place: no link is
    /// followed on the way, and nothing but what is in the shelf is replaced.
    fn link(&self, whose: &Whose<'_>) -> io::Result<()> {
        let tools = tree::folder_at(rustix::fs::CWD, &self.tools())?;
        for preset in TABLE.iter().filter(|preset| !preset.links.is_empty()) {
            let own = preset.own.as_ref();
            let Some(own) = own.and_then(|own| own.find(whose.home, whose.environment)) else {
                continue;
            };
            // Where something else has its name, that is of no use to the tool either.
            let Ok(folder) = made(&tools, preset.name, whose.uid) else {
                continue;
            };
            for name in preset.links {
                replace_link(&folder, name, &own.join(name), whose.uid);
            }
        }
        Ok(())
    }
}

/// Notes that the caches of a tool are to go when nobody uses the shelf any more.
pub(super) fn note_due(shelf: &Path, tool: &str) -> io::Result<()> {
    let mut file = File::options()
        .create(true)
        .append(true)
        .open(shelf.join(DUE))?;
    writeln!(file, "{tool}")
}

/// A folder in a shelf, made if it is not there.
fn made(tools: &OwnedFd, name: &str, uid: u32) -> io::Result<OwnedFd> {
    match rustix::fs::mkdirat(tools, name, Mode::from_raw_mode(0o700)) {
        Ok(()) => give(tools, name, uid)?,
        Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    tree::folder_at(tools.as_fd(), Path::new(name))
}

/// Has a link lead somewhere. What cannot be replaced stays: the tool does without.
fn replace_link(folder: &OwnedFd, name: &str, to: &Path, uid: u32) {
    let there = rustix::fs::readlinkat(folder, name, Vec::new());
    if there.is_ok_and(|there| there.as_bytes() == to.as_os_str().as_bytes()) {
        return;
    }
    let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
    if rustix::fs::symlinkat(to, folder, name).is_ok() {
        let _ = give(folder, name, uid);
    }
}

fn give(folder: &OwnedFd, name: &str, uid: u32) -> io::Result<()> {
    if uid == account::own_uid() {
        return Ok(());
    }
    let to = rustix::fs::Uid::from_raw(uid);
    rustix::fs::chownat(folder, name, Some(to), None, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

/// Whether a path is a folder, no link, and this user's.
fn is_a_folder_of(path: &Path, uid: u32) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if found.is_dir() && found.uid() == uid {
        return Ok(());
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

/// Whether another user can get as far as this folder.
fn can_be_reached_by(folder: &Path, uid: u32) -> bool {
    folder.ancestors().all(|above| {
        fs::metadata(above).is_ok_and(|found| {
            let bit = if found.uid() == uid { 0o100 } else { 0o001 };
            found.mode() & bit != 0
        })
    })
}

/// Opens a path that must be a folder, without following links at its end.
pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
