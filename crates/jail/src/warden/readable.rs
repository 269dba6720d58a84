//! What a run may read, as a closed list: everything but what is denied.
//!
//! A cover is lost when somebody outside replaces the file beneath it, and there is none on a file
//! that does not exist yet. A rule of Landlock's belongs to what is there when it is made: in the
//! folders around a denied path everything else is granted one by one, and so whatever comes into
//! being there later can't be read, by whatever name.
//!
//! Denied paths inside writable roots are not held by this: what a run makes there, it reads.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use ringfence_confine::landlock::{Grant, Node, Rules};
use ringfence_confine::mount;

use crate::real_paths::RealPaths;

use super::protocol::{Fence, Identity, RawPath};

/// Who is told which folders are listed, before they are.
pub(super) type OnList<'a> = &'a mut dyn FnMut(&Path) -> io::Result<()>;

/// Folders of the fence's own, which nobody outside changes.
const OWN: &[&str] = &["/dev", "/proc", "/run", "/sys"];

/// What a fence denies, as far as a list can hold it: every link followed.
pub(super) type Denied = HashSet<PathBuf>;

/// Grants to read everything but what a fence denies.
pub(super) fn grant(
    rules: &mut Rules,
    fence: &Fence,
    identity: &Identity,
    on_list: OnList<'_>,
) -> io::Result<()> {
    grant_but(rules, &denied(fence, identity), on_list)
}

/// What a fence denies somebody.
pub(super) fn denied(fence: &Fence, identity: &Identity) -> Denied {
    let roots: Vec<PathBuf> = fence.writable.iter().map(RawPath::to_path).collect();
    let mut real = RealPaths::default();
    fence
        .denied
        .iter()
        .map(|path| real.of(&path.to_path()))
        .filter(|path| !roots.iter().any(|root| path.starts_with(root)))
        .filter(|path| !OWN.iter().any(|own| path.starts_with(own)))
        .filter(|path| matters_to(identity, path))
        .collect()
}

/// Grants to read everything but this.
pub(super) fn grant_but(rules: &mut Rules, denied: &Denied, on_list: OnList<'_>) -> io::Result<()> {
    let above = denied.iter().flat_map(|path| path.ancestors().skip(1));
    let around: HashSet<&Path> = above.collect();
    let top = mount::open_path(Path::new("/"))?;
    // Names can be listed everywhere.
    rules
        .grant(top.as_fd(), Grant::List)
        .map_err(io::Error::other)?;
    let mut list = List {
        rules,
        denied,
        around: &around,
        announce: on_list,
    };
    list.walk(Path::new("/"))
}

/// A list on its way.
struct List<'a> {
    rules: &'a mut Rules,
    denied: &'a HashSet<PathBuf>,
    /// Folders that something denied is somewhere below.
    around: &'a HashSet<&'a Path>,
    announce: OnList<'a>,
}

impl List<'_> {
    /// Grants a folder whole, or what is in it one by one if something below is denied.
    fn walk(&mut self, folder: &Path) -> io::Result<()> {
        if !self.around.contains(folder) {
            return self.grant(folder, Node::Folder);
        }
        (self.announce)(folder)?;
        let Ok(entries) = fs::read_dir(folder) else {
            // What cannot be listed by us holds nothing that the command could read.
            return Ok(());
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = entry.path();
            // It is what a link points to that is read, and what is behind a socket is not a file.
            if kind.is_symlink() || kind.is_socket() || self.denied.contains(&path) {
                continue;
            }
            if kind.is_dir() {
                self.walk(&path)?;
            } else {
                self.grant(&path, Node::File)?;
            }
        }
        Ok(())
    }

    fn grant(&mut self, path: &Path, node: Node) -> io::Result<()> {
        match mount::open_path(path) {
            Ok(place) => self
                .rules
                .grant_to(place.as_fd(), node, Grant::Read)
                .map_err(io::Error::other)?,
            // Gone meanwhile, or closed to us.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                ) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Whether what is at a path could be read by somebody at all. What others keep from them by its
/// mode, in a folder that is not theirs, is not worth a list.
fn matters_to(identity: &Identity, path: &Path) -> bool {
    if identity.uid == 0 {
        return true;
    }
    let is_theirs = |folder: &Path| {
        fs::metadata(folder).is_ok_and(|found| found.uid() == identity.uid || found.mode() & 2 != 0)
    };
    match fs::metadata(path) {
        Ok(found) => {
            let in_group = found.gid() == identity.gid
                || identity
                    .groups
                    .as_ref()
                    .is_none_or(|groups| groups.contains(&found.gid()));
            found.uid() == identity.uid
                || found.mode() & 0o004 != 0
                || (in_group && found.mode() & 0o040 != 0)
                || path.parent().is_some_and(is_theirs)
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => false,
        Err(_) => path
            .ancestors()
            .skip(1)
            .find(|ancestor| ancestor.exists())
            .is_some_and(is_theirs),
    }
}
