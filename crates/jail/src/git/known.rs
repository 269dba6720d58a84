//! Repositories inside a writable root, further down than its top: their hooks and settings run
//! code for whoever uses git in them, just like those at the top.
//!
//! The look is bounded by the number of folders, not by a clock: what lies beyond is not found, and
//! not protected. Nothing is followed that is a link.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::reach::Stamp;
use super::seen;

/// The most folders that are looked into for one root.
const MOST_FOLDERS: usize = 2000;
/// How far down.
const DEEPEST: usize = 8;
/// The most repositories that are told of one root: each costs every launch a little.
const MOST_REPOSITORIES: usize = 64;

/// Folders that hold many others and are made by tools.
const SKIPPED: &[&str] = &["node_modules", "target", ".cache", ".venv", "__pycache__"];

/// What makes a repository of a folder further down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    /// A `.git` folder, or that of a submodule, which is kept below the `.git` folder of the
    /// repository around it.
    Folder(PathBuf),
    /// A `.git` file, which says where the folder is.
    File(PathBuf),
}

impl Known {
    /// The folder of the repository's files, where it is known.
    pub(super) fn work_tree(&self) -> Option<PathBuf> {
        let (Self::Folder(path) | Self::File(path)) = self;
        let is_dot_git = path.file_name().is_some_and(|name| name == ".git");
        path.parent().filter(|_| is_dot_git).map(Path::to_path_buf)
    }

    /// The folder of the repository itself.
    pub(crate) fn git_folder(&self) -> Option<PathBuf> {
        match self {
            Self::Folder(path) => Some(path.clone()),
            Self::File(_) => None,
        }
    }

    /// Whether it is still there.
    pub(crate) fn is_there(&self) -> bool {
        match self {
            Self::Folder(path) => path.is_dir(),
            Self::File(path) => path.is_file(),
        }
    }
}

/// What folders held when they were last looked into. A folder that has not changed since is not
/// read again.
#[derive(Debug, Default)]
pub(super) struct Walked {
    folders: HashMap<PathBuf, (Stamp, Vec<Entry>)>,
}

/// The most folders that are remembered: those of a few roots.
const MOST_REMEMBERED: usize = 4 * MOST_FOLDERS;

/// File systems on which a folder has two names and one more for each folder in it.
const COUNTING: &[u64] = &[EXT4, XFS, TMPFS];
const EXT4: u64 = 0xef53;
const XFS: u64 = 0x5846_5342;
const TMPFS: u64 = 0x0102_1994;

/// The repositories below a root, but for the root's own.
pub(super) fn known(root: &Path, walked: &mut Walked) -> Vec<Known> {
    let counting = counting(root);
    let mut entries_of = |folder: &Path| walked.entries_of(folder, counting);
    let mut found = Vec::new();
    let mut budget = MOST_FOLDERS;
    let mut waiting = VecDeque::from([(root.to_path_buf(), 0)]);
    while let Some((folder, depth)) = waiting.pop_front() {
        if budget == 0 || found.len() >= MOST_REPOSITORIES {
            break;
        }
        budget -= 1;
        for entry in entries_of(&folder) {
            match entry {
                Entry::GitFile(path) if folder != root => found.push(Known::File(path)),
                Entry::GitFile(_) => {}
                Entry::Folder(name, path) if name == ".git" => {
                    if folder != root {
                        found.push(Known::Folder(path.clone()));
                    }
                    modules(
                        &path.join("modules"),
                        &mut budget,
                        &mut found,
                        &mut entries_of,
                    );
                }
                Entry::Folder(name, path) => {
                    if depth < DEEPEST && !SKIPPED.contains(&name.as_str()) {
                        waiting.push_back((path, depth + 1));
                    }
                }
            }
        }
    }
    found.truncate(MOST_REPOSITORIES);
    found
}

/// The git folders of submodules. A submodule's name may have slashes in it, and it may have
/// submodules itself.
fn modules(
    folder: &Path,
    budget: &mut usize,
    found: &mut Vec<Known>,
    entries_of: &mut impl FnMut(&Path) -> Vec<Entry>,
) {
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        if *budget == 0 || found.len() >= MOST_REPOSITORIES {
            return;
        }
        *budget -= 1;
        for entry in entries_of(&folder) {
            let Entry::Folder(_, path) = entry else {
                continue;
            };
            if path.join("HEAD").is_file() {
                waiting.push(path.join("modules"));
                found.push(Known::Folder(path));
            } else {
                waiting.push(path);
            }
        }
    }
}

/// What matters in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Entry {
    Folder(String, PathBuf),
    GitFile(PathBuf),
}

impl Walked {
    /// What matters in a folder, links not counted. One that cannot be read is empty.
    fn entries_of(&mut self, folder: &Path, counting: Option<u64>) -> Vec<Entry> {
        let began = SystemTime::now();
        let Ok(stat) = rustix::fs::lstat(folder) else {
            return Vec::new();
        };
        let stamp = Stamp::of(&stat);
        if let Some((then, entries)) = self.folders.get(folder)
            && *then == stamp
        {
            return entries.clone();
        }
        let has_none_below = counting == Some(stamp.node.0) && stamp.links == 2;
        let entries = if has_none_below {
            git_file(folder).into_iter().collect()
        } else {
            read(folder)
        };
        if self.folders.len() >= MOST_REMEMBERED {
            self.folders.clear();
        }
        if seen::is_older(&stamp, began) {
            self.folders
                .insert(folder.to_path_buf(), (stamp, entries.clone()));
        }
        entries
    }
}

/// The device of a root whose file system counts folders.
fn counting(root: &Path) -> Option<u64> {
    let kind = rustix::fs::statfs(root).ok()?.f_type;
    let counts = u64::try_from(kind).is_ok_and(|kind| COUNTING.contains(&kind));
    let stat = rustix::fs::lstat(root).ok().filter(|_| counts)?;
    Some(Stamp::of(&stat).node.0)
}

/// The `.git` file of a folder.
fn git_file(folder: &Path) -> Option<Entry> {
    let path = folder.join(".git");
    let stat = rustix::fs::lstat(&path).ok()?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    is_file.then_some(Entry::GitFile(path))
}

fn read(folder: &Path) -> Vec<Entry> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let name = entry.file_name();
            if kind.is_dir() {
                let name = name.to_string_lossy().into_owned();
                Some(Entry::Folder(name, entry.path()))
            } else {
                (kind.is_file() && name == ".git").then(|| Entry::GitFile(entry.path()))
            }
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_further_down_and_submodules_are_found() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in [
            ".git/hooks",
            ".git/modules/lib/one/modules/deep",
            "vendor/other/.git/hooks",
            "node_modules/x/.git",
            "plain/folder",
            "lib",
        ] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for head in [
            ".git/modules/lib/one/HEAD",
            ".git/modules/lib/one/modules/deep/HEAD",
        ] {
            std::fs::write(at(head), "ref: refs/heads/main").unwrap();
        }
        std::fs::write(at("lib/.git"), "gitdir: ../.git/modules/lib/one").unwrap();
        std::os::unix::fs::symlink(at("vendor"), at("linked")).unwrap();
        assert_eq!(
            known(root.path(), &mut Walked::default()),
            [
                Known::Folder(at(".git/modules/lib/one")),
                Known::Folder(at(".git/modules/lib/one/modules/deep")),
                Known::File(at("lib/.git")),
                Known::Folder(at("vendor/other/.git")),
            ]
        );
    }

    #[test]
    fn what_comes_into_being_in_a_folder_that_was_looked_into_is_found() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        std::fs::create_dir_all(at("one/leaf")).unwrap();
        let mut walked = Walked::default();
        // Changes of this very moment could not be told from the next: wait until they are remembered.
        let started = std::time::Instant::now();
        while !walked.folders.contains_key(&at("one/leaf")) {
            assert!(started.elapsed() < std::time::Duration::from_secs(10));
            assert_eq!(known(root.path(), &mut walked), []);
            std::thread::yield_now();
        }
        let mut look = || known(root.path(), &mut walked);
        std::fs::write(at("one/leaf/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(look(), [Known::File(at("one/leaf/.git"))]);
        std::fs::create_dir_all(at("one/leaf/new/.git")).unwrap();
        let both = [
            Known::File(at("one/leaf/.git")),
            Known::Folder(at("one/leaf/new/.git")),
        ];
        assert_eq!(look(), both);
    }

    #[test]
    fn the_look_is_bounded() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..100 {
            std::fs::create_dir_all(root.path().join(format!("{number}/.git"))).unwrap();
        }
        let found = known(root.path(), &mut Walked::default());
        assert_eq!(found.len(), MOST_REPOSITORIES);
    }
}
