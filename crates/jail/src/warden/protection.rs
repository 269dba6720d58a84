//! The protection of paths inside writable roots: which folders on the way are pinned, what is made
//! read-only, and what is held by a mark because it does not exist yet.
//!
//! It walks and decides; a [`Hand`] does the mounting.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use ringfence_confine::mount;

use crate::mark::{self, Held, Holdings, Ledger};

use super::protocol::{Failure, Fence, Step};
use super::view::{is_folder, shown};

/// What makes mounts, or has them made.
pub(super) trait Hand {
    /// Makes a mount point of a folder, writable as before: it cannot be renamed any more.
    fn pin(&mut self, path: &Path, place: &OwnedFd) -> io::Result<()>;

    /// Makes a path read-only, with everything below.
    fn freeze(&mut self, path: &Path, place: &OwnedFd) -> io::Result<()>;
}

/// Protects what a fence says in these roots. Returns the locks that keep marks in place.
pub(super) fn apply(
    roots: &[PathBuf],
    fence: &Fence,
    ledger: &Ledger<'_>,
    hand: &mut dyn Hand,
) -> Result<Vec<OwnedFd>, Failure> {
    let mut protection = Protection {
        hand,
        holdings: Holdings::new(ledger),
        root: PathBuf::new(),
        pinned: roots.to_vec(),
        sealed: Vec::new(),
    };
    for root in roots {
        protection.root.clone_from(root);
        for path in &fence.protected {
            let path = path.to_path();
            if !path.is_absolute() {
                protection.apply(root, &path)?;
            } else if let Ok(relative) = path.strip_prefix(root) {
                protection.apply(root, relative)?;
            }
        }
    }
    Ok(protection.holdings.into_locks())
}

/// The protection of paths in writable roots.
struct Protection<'a> {
    hand: &'a mut dyn Hand,
    holdings: Holdings<'a>,
    /// The root that is being protected.
    root: PathBuf,
    /// Folders that are mount points by now.
    pinned: Vec<PathBuf>,
    /// Paths that are read-only by now, with everything below them.
    sealed: Vec<PathBuf>,
}

impl Protection<'_> {
    /// Protects a path below a root. Whoever could rename a folder on the way to it could put
    /// another in its place, so those become mount points, which cannot be renamed.
    fn apply(&mut self, root: &Path, relative: &Path) -> Result<(), Failure> {
        let mut so_far = root.to_path_buf();
        let names: Vec<&OsStr> = relative
            .components()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        for (index, name) in names.iter().enumerate() {
            let parent = so_far.clone();
            so_far.push(name);
            if self.sealed.contains(&so_far) {
                return Ok(());
            }
            let step = if index + 1 == names.len() {
                Way::End
            } else {
                Way::Through
            };
            match self.advance(&parent, Path::new(name), &so_far, step) {
                Ok(Onward::Go) => {}
                Ok(Onward::Done) => return Ok(()),
                Err(error) => return Err(not_protected(&so_far, &error)),
            }
        }
        Ok(())
    }

    /// Deals with one component of a path.
    fn advance(&mut self, parent: &Path, name: &Path, path: &Path, way: Way) -> io::Result<Onward> {
        let place = match mount::place(path) {
            Ok(place) => place,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.reserve(parent, name, path);
            }
            Err(error) => return Err(error),
        };
        if mark::is_mark(&place)? {
            return self.reserve(parent, name, path);
        }
        if way == Way::Through && is_folder(&place)? {
            self.pin(path, &place)?;
            return Ok(Onward::Go);
        }
        // The path itself, or a file in its way: below that nothing can be made, and the file
        // is what must not be replaced.
        self.freeze(path, &place)?;
        Ok(Onward::Done)
    }

    /// Makes a mount point of a folder, writable as before.
    fn pin(&mut self, path: &Path, place: &OwnedFd) -> io::Result<()> {
        if !self.pinned.iter().any(|pinned| pinned == path) {
            self.hand.pin(path, place)?;
            self.pinned.push(path.to_path_buf());
        }
        Ok(())
    }

    /// Makes a path read-only, with everything below.
    fn freeze(&mut self, path: &Path, place: &OwnedFd) -> io::Result<()> {
        self.hand.freeze(path, place)?;
        self.sealed.push(path.to_path_buf());
        Ok(())
    }

    /// Keeps a path that does not exist from being created.
    fn reserve(&mut self, parent: &Path, name: &Path, path: &Path) -> io::Result<Onward> {
        let folder = mount::place(parent)?;
        let place = match self.holdings.hold(&self.root, folder.as_fd(), name, path)? {
            Held::Mark(place) => place,
            Held::Existing => mount::place(path)?,
        };
        self.freeze(path, &place)?;
        Ok(Onward::Done)
    }
}

/// Whether a component is the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Through,
    End,
}

/// Whether there is more to do after a component.
enum Onward {
    Go,
    Done,
}

fn not_protected(path: &Path, error: &io::Error) -> Failure {
    // A symbolic link cannot be pinned: it has no place of its own to mount on.
    let step = match error.raw_os_error() {
        Some(libc::ELOOP) => Step::ProtectedSymlink,
        // There is no registry, or one that cannot be locked.
        Some(libc::ENOLCK) => Step::Marks,
        _ => Step::ProtectedPath,
    };
    Failure::new(step, error, shown(path))
}
