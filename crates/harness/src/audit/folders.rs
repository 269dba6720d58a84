//! Where the log and what vouches for it are kept, and how those directories are made.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::log::AuditError;

/// The two directories of an audit log. They should not lie inside each other, and a fenced
/// command should be able to write neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFolders {
    /// The log files, one per harness process.
    pub dir: PathBuf,
    /// The key, the heads and the register.
    pub state_dir: PathBuf,
}

/// How the name of every log file ends.
pub(super) const LOG_EXTENSION: &str = "jsonl";

impl AuditFolders {
    /// The usual place below a folder of state, with the log in a folder of its own if one is set.
    pub fn in_state(state: &Path, dir: Option<&Path>) -> Self {
        Self {
            dir: dir.map_or_else(|| state.join("audit"), Path::to_path_buf),
            state_dir: state.join("audit-state"),
        }
    }

    /// The file of the key.
    pub(super) fn key_file(&self) -> PathBuf {
        self.state_dir.join("audit.key")
    }

    /// The register of all log files.
    pub(super) fn register_file(&self) -> PathBuf {
        self.state_dir.join("audit.register")
    }

    /// The directory of the heads.
    pub(super) fn heads(&self) -> PathBuf {
        self.state_dir.join("audit-heads")
    }

    /// The head of the log file of this name.
    pub(super) fn head_file(&self, log_name: &str) -> PathBuf {
        self.heads().join(format!("{log_name}.head"))
    }

    /// Makes the directories that are missing and refuses those that others could write.
    pub(super) fn prepare(&self) -> Result<(), AuditError> {
        for dir in [&self.dir, &self.state_dir, &self.heads()] {
            make_private_dir(dir)?;
        }
        Ok(())
    }
}

fn make_private_dir(dir: &Path) -> Result<(), AuditError> {
    let failed = |source| AuditError::Directory {
        path: dir.to_owned(),
        source,
    };
    // `recursive` accepts a directory that is there, with whatever mode it has.
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(failed)?;
    let mode = fs::metadata(dir).map_err(failed)?.mode();
    // An operator may let a group read the log, but whoever can write there can remove it.
    if mode & 0o022 != 0 {
        return Err(AuditError::Exposed {
            path: dir.to_owned(),
            mode: mode & 0o777,
            want: 0o700,
        });
    }
    Ok(())
}

/// The log files of a directory, in the order in which they were started.
pub(super) fn log_files(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == LOG_EXTENSION)
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
