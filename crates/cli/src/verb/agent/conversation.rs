//! The file that a conversation is kept in, and which one is gone on with.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use ringfence::agent::Journal;
use ringfence::dialect::item::source_sha256;
use ringfence::dialect::provider::{Object, Provider};

/// How many conversations of a folder are kept.
const KEPT: usize = 50;

/// The conversations of a workspace.
pub(super) struct Conversations {
    folder: PathBuf,
}

impl Conversations {
    /// Those of a workspace, in a folder for state.
    pub(super) fn of(state: &Path, workspace: &Path) -> Self {
        let name = source_sha256(&workspace.display().to_string());
        Self {
            folder: state.join("conversations").join(&name[..16]),
        }
    }

    /// A new one.
    pub(super) fn begin(&self, provider: Provider, note: Object) -> Result<(Journal, PathBuf)> {
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), 0o700);
        builder
            .create(&self.folder)
            .with_context(|| format!("{} cannot be made", self.folder.display()))?;
        self.forget_old();
        let path = self
            .folder
            .join(format!("{}.jsonl", ringfence::identifier::random("conv")));
        let journal = Journal::create_noting(&path, provider, note)?;
        Ok((journal, path))
    }

    /// One that was begun before: by its file, by its name, or the last one.
    pub(super) fn resume(&self, which: &str) -> Result<(Journal, PathBuf)> {
        let path = if which.is_empty() {
            match self.all().into_iter().next() {
                Some(path) => path,
                None => bail!("there is no conversation of this folder to go on with"),
            }
        } else if which.contains('/') {
            PathBuf::from(which)
        } else {
            self.folder
                .join(format!("{}.jsonl", which.trim_end_matches(".jsonl")))
        };
        let journal = Journal::open(&path)?;
        Ok((journal, path))
    }

    /// All of them, the one that was changed last first.
    fn all(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        let mut all: Vec<_> = entries
            .filter(|entry| entry.path().extension().is_some_and(|end| end == "jsonl"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        all.sort();
        all.reverse();
        all.into_iter().map(|(_, path)| path).collect()
    }

    /// Makes room: the oldest go.
    fn forget_old(&self) {
        for path in self.all().into_iter().skip(KEPT - 1) {
            // One that cannot be removed is in nobody's way.
            let _ = std::fs::remove_file(path);
        }
    }
}
