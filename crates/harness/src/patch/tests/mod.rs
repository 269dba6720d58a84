//! Patches on real folders: what they make of files, what is refused, and what is left when the
//! program is killed.

mod fuzz;
mod killed;
mod many;
mod outcomes;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ringfence_policy::permissions::SandboxPolicy;

use super::apply::write;
use super::error::PatchError;
use super::journal::Journal;
use super::location::Atlas;
use super::swap::Errand;
use super::{Applied, locate, recover};
use crate::audit::{CallId, SessionId};

/// A workspace, a folder for journals, and somewhere outside.
pub(super) struct Site {
    root: tempfile::TempDir,
}

/// Everything in a folder: names, and what is there.
pub(super) type State = BTreeMap<PathBuf, Entry>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    Folder,
    Link(PathBuf),
    File { content: Vec<u8>, mode: u32 },
}

impl Site {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        // In memory where there is such a place: these tests make thousands of folders.
        let memory = Path::new("/dev/shm");
        let root = tempfile::tempdir_in(if memory.is_dir() {
            memory
        } else {
            Path::new("/tmp")
        });
        let root = root.unwrap();
        for name in ["work", "outside"] {
            fs::create_dir(root.path().join(name)).unwrap();
        }
        let site = Self { root };
        fs::write(site.outside().join("secret"), "do not touch\n").unwrap();
        for (path, content) in files {
            let path = site.work().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match content.strip_prefix("-> ") {
                Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
                None => fs::write(path, content).unwrap(),
            }
        }
        site
    }

    pub(super) fn work(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("outside")
    }

    pub(super) fn journals(&self) -> PathBuf {
        self.root.path().join("journals")
    }

    pub(super) fn policy(&self) -> SandboxPolicy {
        SandboxPolicy::workspace_write(self.work())
    }

    pub(super) fn atlas(&self) -> Atlas {
        Atlas::of(&self.policy(), &self.work(), Vec::new())
    }

    /// Applies a patch on this thread, without a judge.
    pub(super) fn apply(&self, patch: &str) -> Result<Applied, PatchError> {
        let located = locate(patch, 1 << 20, &self.atlas())?;
        let mut journal =
            Journal::begin(&self.journals(), &crate::identifier::random("patch")).unwrap();
        let errand = Errand {
            call: CallId("call-1".to_owned()),
            session: SessionId("ses_1".to_owned()),
            owner: None,
            id: "test".to_owned(),
        };
        let result = write(located.changes, errand, 1 << 20, &mut journal);
        let unsettled = match &result {
            Ok(applied) => !applied.is_cleared_up,
            Err(error) => matches!(error, PatchError::NotUndone { .. }),
        };
        if !unsettled {
            let _ = journal.end();
        }
        result
    }

    pub(super) fn recover(&self) -> Result<usize, PatchError> {
        recover(&self.journals()).map(|recovered| recovered.len())
    }

    pub(super) fn state(&self) -> State {
        state(&self.work())
    }
}

pub(super) fn state(folder: &Path) -> State {
    let mut state = State::new();
    look(folder, Path::new(""), &mut state);
    state
}

fn look(folder: &Path, inner: &Path, state: &mut State) {
    for entry in fs::read_dir(folder.join(inner)).unwrap() {
        let entry = entry.unwrap();
        let path = inner.join(entry.file_name());
        let meta = entry.path().symlink_metadata().unwrap();
        let found = if meta.is_symlink() {
            Entry::Link(fs::read_link(entry.path()).unwrap())
        } else if meta.is_dir() {
            look(folder, &path, state);
            Entry::Folder
        } else {
            Entry::File {
                content: fs::read(entry.path()).unwrap(),
                mode: meta.permissions().mode() & 0o7777,
            }
        };
        state.insert(path, found);
    }
}
