//! What stands at a path: which node it is, told from any other that was or will be at the same
//! name. File systems use their numbers again, and tell time in ticks. So the moment of its birth
//! belongs to it, which the kernel sets and nobody changes, and its handle, which has a number in it
//! that the kernel draws for every node anew.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use ringfence_confine::file_handle;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Statx, StatxAttributes, StatxFlags};
use serde::{Deserialize, Serialize};

use crate::warden::protocol::RawPath;

/// A node of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Node {
    device: (u32, u32),
    number: u64,
    /// Seconds and nanoseconds; zero where the file system does not know.
    born: (i64, u32),
    /// Of its handle, where there is one to be had.
    handle: Option<u64>,
}

impl Node {
    /// The node that has a name in a folder.
    pub(crate) fn of(folder: impl AsFd, name: &Path) -> Option<Self> {
        look(folder, name).map(|(found, handle)| Self::told_by(&found, handle))
    }

    fn told_by(found: &Statx, handle: Option<u64>) -> Self {
        Self {
            device: (found.stx_dev_major, found.stx_dev_minor),
            number: found.stx_ino,
            born: (found.stx_btime.tv_sec, found.stx_btime.tv_nsec),
            handle,
        }
    }

    /// Whether two looks have found the same node. One of them may have been made where no handle
    /// was to be had.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let known = |node: &Self| (node.device, node.number, node.born);
        let handles = self.handle.zip(other.handle);
        known(self) == known(other) && handles.is_none_or(|(one, other)| one == other)
    }
}

/// A node, and the path that it stands at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    path: RawPath,
    node: Node,
}

impl Standing {
    /// What stands at a path now.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let node = Node::of(CWD, path)?;
        Some(Self::new(path, node))
    }

    /// The same, if it is covered.
    pub(crate) fn covered(path: &Path) -> Option<Self> {
        let (found, handle) = look(CWD, path)?;
        let is_covered = found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
        is_covered.then(|| Self::new(path, Node::told_by(&found, handle)))
    }

    fn new(path: &Path, node: Node) -> Self {
        let path = RawPath::from(path);
        Self { path, node }
    }

    /// Whether it still stands there.
    pub(crate) fn stands(&self) -> bool {
        Node::of(CWD, &self.path()).is_some_and(|now| now.is(&self.node))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.path.to_path()
    }

    pub(crate) fn node(&self) -> Node {
        self.node
    }
}

/// What has a name in a folder, and its handle. It is held meanwhile: both are of one node.
fn look(folder: impl AsFd, name: &Path) -> Option<(Statx, Option<u64>)> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = rustix::fs::openat(folder, name, flags, Mode::empty()).ok()?;
    let flags = AtFlags::EMPTY_PATH | AtFlags::NO_AUTOMOUNT;
    let wanted = StatxFlags::INO | StatxFlags::BTIME;
    let found = rustix::fs::statx(&held, "", flags, wanted).ok()?;
    Some((found, file_handle::number(&held)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn another_one_of_the_same_name_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::create_dir(&path).unwrap();
        let first = Standing::at(&path).unwrap();
        assert_eq!(Standing::covered(&path), None);
        // Whatever is put into it, it is the same one.
        fs::write(path.join("y"), "").unwrap();
        assert!(first.stands());
        fs::rename(&path, folder.path().join("z")).unwrap();
        assert!(!first.stands());
        fs::create_dir(&path).unwrap();
        assert!(!first.stands());
    }

    /// One that takes the number of another in the moment of its birth is another all the same.
    #[test]
    fn what_is_made_in_the_same_moment_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let born = |standing: &Standing| (standing.node.number, standing.node.born);
        let mut alike = 0;
        for _ in 0..500 {
            fs::write(&path, "").unwrap();
            let first = Standing::at(&path).unwrap();
            fs::remove_file(&path).unwrap();
            fs::write(&path, "").unwrap();
            let second = Standing::at(&path).unwrap();
            alike += u32::from(born(&first) == born(&second));
            assert!(!first.stands() && second.stands());
            fs::remove_file(&path).unwrap();
        }
        println!("{alike} of 500 had the number and the moment of the one before");
    }
}
