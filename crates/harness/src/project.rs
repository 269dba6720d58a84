//! What a project brings: the files in its `.ringfence`, and where they are looked for.
//!
//! Nobody has looked at these files yet. Each is a plain file of a bounded size inside the project,
//! opened without following a link out of it and without waiting for anybody, and read once: what
//! is judged is what was read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use thiserror::Error;

/// The folder of a project that is Ringfence's.
pub const FOLDER: &str = ".ringfence";
/// A project's configuration.
pub const CONFIG: &str = "config.toml";
/// A project's rules.
pub const RULES: &str = "rules.toml";

/// More than any project needs.
const LARGEST_FILE: u64 = 1 << 20;
/// As many folders are looked at on the way up.
const HIGHEST: usize = 64;

/// Why what a project brings cannot be used.
#[derive(Debug, Error)]
pub enum ProjectError {
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a link that leads out of the project.
    #[error("{} leads out of the project; put the file itself there", .0.display())]
    LeadsOut(PathBuf),
    /// It is a folder, a pipe, a socket or a device.
    #[error("{} is not a plain file", .0.display())]
    NotAFile(PathBuf),
    /// It is too large.
    #[error("{} is larger than {LARGEST_FILE} bytes", .0.display())]
    TooLarge(PathBuf),
    /// It is not text.
    #[error("{} is not UTF-8 text", .0.display())]
    NotText(PathBuf),
}

/// A project, and what it brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its folder.
    pub root: PathBuf,
    /// The text of its configuration.
    pub config: Option<String>,
    /// The text of its rules.
    pub rules: Option<String>,
}

impl Project {
    /// Every project that a workspace is in, the outermost first: the workspace itself and the
    /// folders above it that have a `.ringfence`, up to the home folder and within one file
    /// system. An inner project adds to what an outer one says; it does not hide it, since a
    /// command may make such a folder below its workspace.
    pub fn around(workspace: &Path, home: Option<&Path>) -> Result<Vec<Self>, ProjectError> {
        let mut found = Vec::new();
        for root in roots(workspace, home) {
            let project = Self::read(root)?;
            if !project.is_empty() {
                found.push(project);
            }
        }
        found.reverse();
        Ok(found)
    }

    /// Reads what the project in a folder brings.
    pub fn read(root: &Path) -> Result<Self, ProjectError> {
        Ok(Self {
            root: root.to_path_buf(),
            config: read(root, CONFIG)?,
            rules: read(root, RULES)?,
        })
    }

    /// Whether it brings nothing.
    pub fn is_empty(&self) -> bool {
        self.config.is_none() && self.rules.is_none()
    }

    /// The files that it brings, with their text.
    pub fn files(&self) -> Vec<(PathBuf, &str)> {
        let files = [(CONFIG, &self.config), (RULES, &self.rules)];
        files
            .into_iter()
            .filter_map(|(name, text)| Some((self.path(name), text.as_deref()?)))
            .collect()
    }

    /// The path of one of its files.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(FOLDER).join(name)
    }
}

/// The folders to look at, the workspace first.
fn roots<'p>(workspace: &'p Path, home: Option<&Path>) -> Vec<&'p Path> {
    let Ok(own) = fs::metadata(workspace) else {
        return vec![workspace];
    };
    let home = home.and_then(|home| home.canonicalize().ok());
    let above_home = home.as_deref().and_then(Path::parent);
    let ours = [0, own.uid(), rustix::process::geteuid().as_raw()];
    let mut roots = vec![workspace];
    for folder in workspace.ancestors().skip(1).take(HIGHEST) {
        let leaves = |path: &Path| fs::metadata(path).is_ok_and(|there| there.dev() != own.dev());
        if Some(folder) == above_home || leaves(folder) {
            break;
        }
        // What somebody else put above us, as in a folder that all may write, is not ours.
        let there = fs::symlink_metadata(folder.join(FOLDER));
        if there.is_ok_and(|there| there.is_dir() && ours.contains(&there.uid())) {
            roots.push(folder);
        }
    }
    roots
}

fn read(root: &Path, name: &str) -> Result<Option<String>, ProjectError> {
    let path = root.join(FOLDER).join(name);
    let unreadable = |source: io::Error| ProjectError::Unreadable {
        path: path.clone(),
        source,
    };
    // The mark that a run holds a name with says nothing.
    if ringfence_jail::mark::is_at(&path) {
        return Ok(None);
    }
    // Looked at before it is opened: opening a device may already do something.
    let Some(_) = open(root, name, &path, OFlags::PATH)? else {
        return Ok(None);
    };
    let Some(file) = open(root, name, &path, OFlags::RDONLY)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let mut bounded = file.take(LARGEST_FILE + 1);
    bounded.read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(ProjectError::TooLarge(path));
    }
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| ProjectError::NotText(path))
}

/// Opens a file of a project's, if it is there and a plain one.
fn open(root: &Path, name: &str, path: &Path, how: OFlags) -> Result<Option<File>, ProjectError> {
    let unreadable = |source: io::Error| ProjectError::Unreadable {
        path: path.to_path_buf(),
        source,
    };
    let file = match beneath(root, &format!("{FOLDER}/{name}"), how) {
        // A `.ringfence` that is no folder brings nothing: the mark that a run holds the name with
        // is one.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::XDEV | Errno::LOOP) => return Err(ProjectError::LeadsOut(path.to_path_buf())),
        Err(Errno::NXIO) => return Err(ProjectError::NotAFile(path.to_path_buf())),
        Err(error) => return Err(unreadable(error.into())),
        Ok(file) => File::from(file),
    };
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(ProjectError::NotAFile(path.to_path_buf()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(ProjectError::TooLarge(path.to_path_buf()));
    }
    Ok(Some(file))
}

/// Opens a path below a folder. No link leads out of it, and nothing is waited for.
fn beneath(root: &Path, path: &str, how: OFlags) -> rustix::io::Result<OwnedFd> {
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root_fd = rustix::fs::open(root, folder, Mode::empty())?;
    let how = how | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // The kernel takes none of these with a path alone.
    let how = if how.contains(OFlags::PATH) {
        OFlags::PATH | OFlags::CLOEXEC
    } else {
        how
    };
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(&root_fd, path, how, Mode::empty(), beneath) {
        // Before Linux 5.6, and where a filter does not know it: no links at all.
        Err(Errno::NOSYS | Errno::PERM) => {
            let mut at = root_fd;
            let (folder_name, name) = path.split_once('/').unwrap_or((".", path));
            at = rustix::fs::openat(&at, folder_name, folder | OFlags::NOFOLLOW, Mode::empty())?;
            rustix::fs::openat(&at, name, how | OFlags::NOFOLLOW, Mode::empty())
        }
        opened => opened,
    }
}
