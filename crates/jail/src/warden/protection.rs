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

use super::guard::{Cover, CoverKind};
use super::protocol::{Failure, Fence, RawPath, Step};
use super::view::{is_folder, shown};

/// What makes mounts, or has them made.
pub(super) trait Hand {
    /// A folder is about to be looked into, and names in it to be covered.
    fn enter(&mut self, folder: &Path, depth: Depth) -> io::Result<()>;

    /// Makes a mount point of a folder, writable as before: it cannot be renamed any more.
    fn pin(&mut self, path: &Path, place: &OwnedFd) -> io::Result<()>;

    /// Makes a path read-only, with everything below.
    fn freeze(&mut self, path: &Path, place: &OwnedFd) -> io::Result<()>;

    /// Puts something that nobody can open in the place of a path.
    fn hide(&mut self, path: &Path, place: &OwnedFd) -> io::Result<()>;
}

/// Where a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// A writable root.
    Root,
    /// Further down.
    Below,
}

/// The protection of paths in writable roots.
pub(super) struct Protection<'a> {
    roots: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    denied: Vec<PathBuf>,
    holdings: Holdings<'a>,
    covers: Vec<Cover>,
}

impl<'a> Protection<'a> {
    /// What a fence says of these roots, with nothing done about it yet.
    pub(super) fn new(roots: Vec<PathBuf>, fence: &Fence, ledger: &'a Ledger<'a>) -> Self {
        Self {
            roots,
            protected: fence.protected.iter().map(RawPath::to_path).collect(),
            denied: fence.denied.iter().map(RawPath::to_path).collect(),
            holdings: Holdings::new(ledger),
            covers: Vec::new(),
        }
    }

    /// Covers whatever is not covered yet.
    pub(super) fn apply(&mut self, hand: &mut dyn Hand) -> Result<(), Failure> {
        for root in self.roots.clone() {
            for path in self.protected.clone() {
                if !path.is_absolute() {
                    self.protect(&root, &path, hand)?;
                } else if let Ok(relative) = path.strip_prefix(&root) {
                    self.protect(&root, relative, hand)?;
                }
            }
        }
        Ok(())
    }

    /// The same after these covers have been lost.
    pub(super) fn apply_again(
        &mut self,
        lost: &[Cover],
        hand: &mut dyn Hand,
    ) -> Result<(), Failure> {
        self.covers.retain(|cover| !lost.contains(cover));
        self.apply(hand)
    }

    /// The paths that are mount points by now, but for the roots.
    pub(super) fn covers(&self) -> &[Cover] {
        &self.covers
    }

    /// The locks that keep marks in place: they must live as long as the run.
    pub(super) fn into_locks(self) -> Vec<OwnedFd> {
        self.holdings.into_locks()
    }

    /// Protects a path below a root. Whoever could rename a folder on the way to it could put
    /// another in its place, so those become mount points, which cannot be renamed.
    fn protect(
        &mut self,
        root: &Path,
        relative: &Path,
        hand: &mut dyn Hand,
    ) -> Result<(), Failure> {
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
            if self.is_sealed(&so_far) {
                return Ok(());
            }
            let step = if index + 1 == names.len() {
                Way::End
            } else {
                Way::Through
            };
            let at = At {
                root,
                parent: &parent,
                name: Path::new(name),
                path: &so_far,
            };
            match again_if_replaced(|| self.advance(&at, step, hand)) {
                Ok(Onward::Go) => {}
                Ok(Onward::Done) => return Ok(()),
                Err(error) => return Err(not_protected(&so_far, &error)),
            }
        }
        Ok(())
    }

    fn is_sealed(&self, path: &Path) -> bool {
        let mut covers = self.covers.iter();
        covers.any(|cover| cover.kind != CoverKind::Pin && cover.path == path)
    }

    /// Deals with one component of a path.
    fn advance(&mut self, at: &At<'_>, way: Way, hand: &mut dyn Hand) -> io::Result<Onward> {
        let At { parent, path, .. } = *at;
        let is_root = self.roots.iter().any(|root| root == parent);
        hand.enter(parent, if is_root { Depth::Root } else { Depth::Below })?;
        let place = match mount::open_path(path) {
            Ok(place) => place,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.reserve(at, hand);
            }
            Err(error) => return Err(error),
        };
        if mark::is_mark(&place)? {
            return self.reserve(at, hand);
        }
        if way == Way::Through && is_folder(&place)? {
            self.pin(path, &place, hand)?;
            return Ok(Onward::Go);
        }
        // The path itself, or a file in its way: below that nothing can be made, and the file
        // is what must not be replaced.
        self.seal(path, &place, hand)?;
        Ok(Onward::Done)
    }

    /// Makes a mount point of a folder, writable as before.
    fn pin(&mut self, path: &Path, place: &OwnedFd, hand: &mut dyn Hand) -> io::Result<()> {
        let is_one = self.roots.iter().any(|root| root == path)
            || self.covers.iter().any(|cover| cover.path == path);
        if !is_one {
            hand.pin(path, place)?;
            self.note(path, CoverKind::Pin);
        }
        Ok(())
    }

    /// Makes a path read-only, with everything below, or hides it where it may not be read.
    fn seal(&mut self, path: &Path, place: &OwnedFd, hand: &mut dyn Hand) -> io::Result<()> {
        if self.denied.iter().any(|denied| denied == path) {
            hand.hide(path, place)?;
            self.note(path, CoverKind::Hidden);
        } else {
            hand.freeze(path, place)?;
            self.note(path, CoverKind::Seal);
        }
        Ok(())
    }

    /// Keeps a path that does not exist from being created.
    fn reserve(&mut self, at: &At<'_>, hand: &mut dyn Hand) -> io::Result<Onward> {
        let At { name, path, .. } = *at;
        let folder = mount::open_path(at.parent)?;
        let held = match self.holdings.hold(at.root, folder.as_fd(), name, path) {
            // A folder of somebody else's, in which the command can make nothing either: it is never
            // run as anybody who may do more than the one who tries here.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Onward::Done);
            }
            other => other?,
        };
        match held {
            Held::Mark(place) => {
                hand.freeze(path, &place)?;
                self.note(path, CoverKind::Mark);
            }
            Held::Existing => self.seal(path, &mount::open_path(path)?, hand)?,
        }
        Ok(Onward::Done)
    }

    fn note(&mut self, path: &Path, kind: CoverKind) {
        let path = path.to_path_buf();
        self.covers.push(Cover { path, kind });
    }
}

/// Does something about a path that somebody outside may replace between the look and the deed: a
/// mount over what has lost its name fails.
pub(super) fn again_if_replaced<T>(mut deed: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    const TRIES: u32 = 16;
    for _ in 1..TRIES {
        match deed() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
    }
    deed()
}

/// One component of a path, and where it is.
struct At<'a> {
    root: &'a Path,
    parent: &'a Path,
    name: &'a Path,
    path: &'a Path,
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
