//! From a policy to a container: what is mounted where, what has to be held by marks for that, what
//! bounds it, and what no container can hold. Pure but for looking at which protected paths exist.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use ringfence_policy::permissions::{Limits, Network, SandboxMode, SandboxPolicy};

use crate::error::LaunchError;
use crate::mark;
use crate::plan;
use crate::warden::NOT_FOR_WRITING;
use crate::warden::protocol::{Fence, Identity, RawPath, Tmp};

/// A container, as far as the policy decides. Two policies with the same one can share it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spec {
    pub(super) mounts: Vec<Mount>,
    /// Protected paths that do not exist, each with the root that it is in: they need marks.
    pub(super) absent: Vec<(PathBuf, PathBuf)>,
    pub(super) tmp: Tmp,
    pub(super) tmp_bytes: Option<u64>,
    pub(super) network: Network,
    pub(super) memory_bytes: Option<u64>,
    pub(super) processes: Option<u64>,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

/// Something of the machine's that is there inside, at the same path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) path: PathBuf,
    pub(super) as_what: As,
    /// Which file it is: another one in its place makes another container. A mark is like any
    /// other.
    pub(super) node: (u64, u64),
}

/// What a mount does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    /// It can be written.
    Writable,
    /// It can only be read.
    ReadOnly,
    /// A folder that nobody can open is in its place.
    ShutFolder,
    /// A file that nobody can open is in its place.
    ShutFile,
}

impl Spec {
    /// The container that a policy needs for runs with this fence.
    pub(crate) fn of(
        sandbox: &SandboxPolicy,
        limits: &Limits,
        identity: &Identity,
        fence: &Fence,
    ) -> Result<Self, LaunchError> {
        let mut drawn = Drawn::default();
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in &sandbox.writable_roots {
            roots.push(plan::place_of(root, sandbox)?);
        }
        roots.extend(fence.writable.iter().map(RawPath::to_path));
        roots.sort();
        roots.dedup();
        let as_what = match sandbox.mode {
            SandboxMode::ReadOnly => As::ReadOnly,
            _ => As::Writable,
        };
        for root in &roots {
            drawn.root(root, as_what)?;
        }
        if as_what == As::Writable {
            for root in &roots {
                for path in &fence.protected {
                    drawn.protect(root, &path.to_path())?;
                }
            }
        }
        if let Some(cache) = &fence.cache {
            drawn.root(&cache.to_path(), As::Writable)?;
        }
        for path in &fence.denied {
            drawn.deny(&path.to_path(), &roots);
        }
        let (mounts, absent) = drawn.finish()?;
        Ok(Self {
            mounts,
            absent,
            tmp: fence.tmp,
            tmp_bytes: limits.tmp_bytes,
            network: sandbox.network,
            memory_bytes: limits.memory_bytes,
            processes: limits.processes,
            uid: identity.uid,
            gid: identity.gid,
        })
    }
}

/// Mounts, and what has to be made for them.
type Drawing = (Vec<Mount>, Vec<(PathBuf, PathBuf)>);

fn node(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Mounts on their way to a spec, and what stands against it.
#[derive(Default)]
struct Drawn {
    mounts: Vec<Mount>,
    absent: Vec<(PathBuf, PathBuf)>,
    missing: Vec<String>,
}

impl Drawn {
    fn root(&mut self, root: &Path, as_what: As) -> Result<(), LaunchError> {
        let unusable = |reason| LaunchError::WritableRoot {
            path: root.display().to_string(),
            reason,
        };
        if NOT_FOR_WRITING.iter().any(|own| root == Path::new(own)) {
            return Err(unusable(std::io::ErrorKind::InvalidInput.into()));
        }
        let metadata = fs::symlink_metadata(root).map_err(unusable)?;
        self.add(root, as_what, node(&metadata));
        Ok(())
    }

    fn add(&mut self, path: &Path, as_what: As, node: (u64, u64)) {
        // Engines read a mount as a list with commas in between.
        if path.as_os_str().as_bytes().contains(&b',') {
            let path = path.display();
            self.missing
                .push(format!("{path}, whose name has a comma in it"));
        }
        if !self.mounts.iter().any(|mount| mount.path == path) {
            self.mounts.push(Mount {
                path: path.to_path_buf(),
                as_what,
                node,
            });
        }
    }

    /// Protects a path in a root: read-only at its end, and mount points, which cannot be renamed,
    /// on the way.
    fn protect(&mut self, root: &Path, path: &Path) -> Result<(), LaunchError> {
        let relative = if path.is_absolute() {
            match path.strip_prefix(root) {
                Ok(relative) => relative,
                Err(_) => return Ok(()),
            }
        } else {
            path
        };
        let names: Vec<_> = relative
            .components()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name),
                _ => None,
            })
            .collect();
        let mut so_far = root.to_path_buf();
        for (index, name) in names.iter().enumerate() {
            so_far.push(name);
            let metadata = match fs::symlink_metadata(&so_far) {
                Ok(metadata) if !mark::is_at(&so_far) => metadata,
                _ => {
                    self.add(&so_far, As::ReadOnly, (0, 0));
                    self.absent.push((root.to_path_buf(), so_far));
                    return Ok(());
                }
            };
            if metadata.is_symlink() {
                return Err(LaunchError::ProtectedSymlink(so_far.display().to_string()));
            }
            if index + 1 < names.len() && metadata.is_dir() {
                self.add(&so_far, As::Writable, node(&metadata));
            } else {
                self.add(&so_far, As::ReadOnly, node(&metadata));
                return Ok(());
            }
        }
        Ok(())
    }

    /// Covers what may not be read. Outside the roots nothing of the machine's is there anyway.
    fn deny(&mut self, path: &Path, roots: &[PathBuf]) {
        let Ok(path) = path.canonicalize() else {
            return;
        };
        // A mark has nothing in it to be read.
        if !roots.iter().any(|root| path.starts_with(root)) || mark::is_at(&path) {
            return;
        }
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            return;
        };
        let cover = if metadata.is_dir() {
            As::ShutFolder
        } else {
            As::ShutFile
        };
        // It was protected against being made or replaced: the cover does that too.
        self.mounts.retain(|mount| mount.path != path);
        self.add(&path, cover, node(&metadata));
    }

    fn finish(mut self) -> Result<Drawing, LaunchError> {
        self.absent.sort();
        self.absent.dedup();
        if self.missing.is_empty() {
            return Ok((self.mounts, self.absent));
        }
        let missing = self.missing.into_iter();
        Err(LaunchError::CannotEnforce {
            missing: missing.map(|what| format!("container: {what}")).collect(),
        })
    }
}
