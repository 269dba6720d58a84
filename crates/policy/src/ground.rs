//! The ground that a verdict stands on: plain facts about the machine.
//!
//! Whoever asks for a verdict supplies them. Nothing here is looked up, so the same ground and the
//! same command always give the same answer.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where a command would run, and what it may write there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// The folder that the work is about. Absolute.
    pub workspace: PathBuf,
    /// The command's working directory. Absolute.
    pub cwd: PathBuf,
    /// The user's home folder, if it is known.
    pub home: Option<PathBuf>,
    /// What may be written besides the workspace: extra writable roots, the temporary folders.
    pub writable: Vec<PathBuf>,
    /// Places that hold secrets as a rule, and that the user lets commands read all the same.
    #[serde(default)]
    pub readable: Vec<PathBuf>,
    /// Where the user's own shell finds programs: the folders of its search path, and those that links in them lead to, with
    /// every link followed. Whoever offers something to be written names them.
    #[serde(default)]
    pub programs: Vec<PathBuf>,
}

impl Ground {
    /// A ground whose working directory is the workspace itself, with the usual temporary folder.
    pub fn at(workspace: impl Into<PathBuf>) -> Self {
        let workspace = workspace.into();
        Self {
            cwd: workspace.clone(),
            workspace,
            home: None,
            writable: vec![PathBuf::from("/tmp")],
            readable: Vec::new(),
            programs: Vec::new(),
        }
    }

    /// The same ground with a home folder.
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Whether a write to this absolute, normalised path stays in the workspace or a writable root.
    pub fn may_write(&self, path: &Path) -> bool {
        path.starts_with(&self.workspace) || self.writable.iter().any(|root| path.starts_with(root))
    }
}
