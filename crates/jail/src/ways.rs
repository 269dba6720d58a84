//! The ways to what is looked at after a run: writable roots, and the folders in them on the way to
//! protected names and to files that run by themselves.
//!
//! A command may close any of them: whoever looks finds nothing then, and what was planted is there
//! as soon as the user opens the folder again. So what its owner could enter before, or was not there,
//! is opened first.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode};

use crate::git::reach::{Reach, Stamp};
use crate::git::{Amends, Repair};
use crate::warden::protocol::RawPath;

/// What it takes to look into a folder.
const LOOKING: u32 = 0o500;
/// What is given back.
const OWNERS: u32 = 0o700;

/// The ways, from the roots downwards.
#[derive(Debug, Default)]
pub(crate) struct Ways(Vec<PathBuf>);

impl Ways {
    /// Those among folders that could be looked into, or were not there. In their order a folder
    /// comes after the one that it is in.
    pub(crate) fn among(folders: &[(PathBuf, Option<Stamp>)]) -> Self {
        let was_open = |stamp: &Option<Stamp>| {
            stamp.is_none_or(|stamp| stamp.permissions() & LOOKING == LOOKING)
        };
        let open = folders.iter().filter(|(_, stamp)| was_open(stamp));
        Self(open.map(|(folder, _)| folder.clone()).collect())
    }

    /// As they are told to others.
    pub(crate) fn told(&self) -> Vec<RawPath> {
        let folders = self.0.iter().map(PathBuf::as_path);
        folders.map(RawPath::from).collect()
    }

    /// Takes up what was told.
    pub(crate) fn taken_up(told: &[RawPath]) -> Self {
        Self(told.iter().map(RawPath::to_path).collect())
    }

    /// Those that are closed by now.
    pub(crate) fn closed<'w>(&'w self, reach: &Reach) -> Vec<&'w Path> {
        let folders = self.0.iter().map(PathBuf::as_path);
        folders.filter(|folder| is_closed(reach, folder)).collect()
    }

    /// Opens them again. The caller is their owner.
    pub(crate) fn open(&self, reach: &Reach) -> Vec<Repair> {
        let mut opened = Vec::new();
        // What is behind one that is closed is seen once that is open.
        for folder in &self.0 {
            if is_closed(reach, folder) {
                opened.push(open(reach, folder));
            }
        }
        opened
    }
}

fn is_closed(reach: &Reach, folder: &Path) -> bool {
    let found = reach
        .folder(folder)
        .and_then(|held| Ok(rustix::fs::fstat(&held)?));
    found.is_ok_and(|found| {
        FileType::from_raw_mode(found.st_mode).is_dir() && found.st_mode & LOOKING != LOOKING
    })
}

fn open(reach: &Reach, folder: &Path) -> Repair {
    let opened = || -> std::io::Result<()> {
        let held = reach.folder(folder)?;
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&held)?.st_mode & 0o7777 | OWNERS);
        // By the name of its descriptor: it could not even be read.
        Ok(rustix::fs::chmod(
            format!("/proc/self/fd/{}", held.as_raw_fd()),
            mode,
        )?)
    };
    Repair {
        path: folder.to_path_buf(),
        amends: match opened() {
            Ok(()) => Amends::PutBack { kept: None },
            Err(error) => Amends::Failed(error.to_string()),
        },
        reason: "a command closed this folder, and what is in it could not be looked at".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_a_run_closed_is_opened_and_what_was_closed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        let close = |path: &str| {
            fs::set_permissions(at(path), fs::Permissions::from_mode(0o000)).unwrap();
        };
        let mode = |path: &str| at(path).metadata().unwrap().permissions().mode() & 0o777;
        let reach = Reach::of(std::slice::from_ref(&root));
        fs::create_dir_all(at("was_open/deep")).unwrap();
        fs::create_dir(at("was_closed")).unwrap();
        close("was_closed");
        let folders = ["", "new", "was_closed", "was_open", "was_open/deep"];
        let folders = folders.map(|path| {
            let path: PathBuf = at(path).components().collect();
            let stamp = reach.stamp(&path);
            (path, stamp)
        });
        let ways = Ways::among(&folders);
        assert_eq!(ways.open(&reach), []);
        fs::create_dir(at("new")).unwrap();
        for path in ["was_open/deep", "was_open", "new", ""] {
            close(path);
        }
        let opened = ways.open(&reach);
        let paths: Vec<_> = opened.iter().map(|repair| repair.path.clone()).collect();
        let expected = ["", "new", "was_open", "was_open/deep"];
        let expected = expected.map(|path| at(path).components().collect::<PathBuf>());
        assert_eq!(paths, expected);
        assert_eq!(mode("was_open/deep"), 0o700);
        assert_eq!(mode("was_closed"), 0o000);
        assert!(ways.closed(&reach).is_empty());
    }
}
