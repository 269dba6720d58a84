//! Where a path of a patch really is: every link in it followed, before anything is judged. What is
//! opened later is exactly this, and a link that appears in it meanwhile is an error.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use ringfence_policy::permissions::{SandboxMode, SandboxPolicy};

use super::error::PatchError;

/// A place for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileLocation {
    /// As the patch has it.
    pub(super) spelled: String,
    /// As the policy knows it. Absolute.
    pub(crate) known: PathBuf,
    /// The folder that it is beneath. Absolute, without links.
    pub(super) root: PathBuf,
    /// The folder beneath that, without links; empty if it is the root itself.
    pub(super) folder: PathBuf,
    /// Its name in that folder.
    pub(super) name: OsString,
}

impl FileLocation {
    /// The path without links.
    pub(super) fn path(&self) -> PathBuf {
        self.root.join(&self.folder).join(&self.name)
    }
}

/// Whether a link in the last part of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLink {
    /// It stands for what it points at.
    Followed,
    /// It is meant itself.
    Meant,
}

/// The paths of a policy, as they are written and as they are.
#[derive(Debug)]
pub(crate) struct Atlas {
    cwd: PathBuf,
    /// Folders that may be written: as they are written, as they are.
    roots: Vec<(PathBuf, PathBuf)>,
    /// Everything else that the policy names.
    named: Vec<(PathBuf, PathBuf)>,
    /// What decides what git runs, as it is.
    guarded: Vec<PathBuf>,
}

impl Atlas {
    pub(crate) fn of(sandbox: &SandboxPolicy, cwd: &Path, guarded: Vec<PathBuf>) -> Self {
        // What does not exist yet has a place all the same.
        let pair = |path: PathBuf| {
            let real = real_path(&path.components().collect::<PathBuf>(), LastLink::Followed);
            Some((path, real.ok()?))
        };
        let given: &[PathBuf] = match sandbox.mode {
            SandboxMode::ReadOnly => &[],
            _ => &sandbox.writable_roots,
        };
        let protected = sandbox.protected_paths.iter().chain(&sandbox.watched_paths);
        let protected = protected.flat_map(|path| {
            let in_roots = given.iter().map(|root| root.join(path));
            in_roots.collect::<Vec<_>>()
        });
        let named = sandbox.denied_reads.iter().cloned().chain(protected);
        Self {
            cwd: cwd.to_path_buf(),
            roots: given.iter().cloned().filter_map(pair).collect(),
            named: named.filter_map(pair).collect(),
            guarded,
        }
    }

    /// Whether a place decides what git runs, or is on the way to something that does.
    pub(super) fn is_guarded(&self, location: &FileLocation) -> bool {
        let path = location.path();
        let mut guarded = self.guarded.iter();
        guarded.any(|guarded| path.starts_with(guarded) || guarded.starts_with(&path))
    }

    /// Finds the place of a path.
    pub(crate) fn location(
        &self,
        spelled: &str,
        last: LastLink,
    ) -> Result<FileLocation, PatchError> {
        let unusable = |reason: io::Error| PatchError::Path {
            path: spelled.to_owned(),
            reason,
        };
        let real = real_path(&self.cwd.join(spelled), last).map_err(unusable)?;
        let below = |pairs: &[(PathBuf, PathBuf)]| {
            pairs
                .iter()
                .filter_map(|(given, real_root)| {
                    let inner = real.strip_prefix(real_root).ok()?;
                    Some((given.join(inner), real_root.clone()))
                })
                .max_by_key(|(_, root)| root.as_os_str().len())
        };
        let in_root = below(&self.roots);
        let known = below(&self.named)
            .or_else(|| in_root.clone())
            .map_or_else(|| real.clone(), |(known, _)| known);
        let root = in_root.map_or_else(|| PathBuf::from("/"), |(_, root)| root);
        let inner = real.strip_prefix(&root).unwrap_or(&real);
        match (inner.parent(), inner.file_name()) {
            (Some(folder), Some(name)) => Ok(FileLocation {
                spelled: spelled.to_owned(),
                // `join` of nothing leaves a slash behind.
                known: known.components().collect(),
                folder: folder.to_path_buf(),
                name: name.to_owned(),
                root,
            }),
            _ => Err(unusable(io::ErrorKind::IsADirectory.into())),
        }
    }
}

/// The path with links followed, as far as it exists.
fn real_path(path: &Path, last: LastLink) -> io::Result<PathBuf> {
    let mut real = PathBuf::from("/");
    let mut parts = path.components().peekable();
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    while let Some(part) = parts.next() {
        match part {
            Component::ParentDir => _ = real.pop(),
            Component::Normal(name) => {
                real.push(name);
                let meant = parts.peek().is_none() && last == LastLink::Meant;
                let link = real.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
                if link && !meant {
                    real = real.canonicalize()?;
                }
            }
            _ => {}
        }
    }
    Ok(real)
}
