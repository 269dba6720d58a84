//! The names below a folder. The first search walks it, in parallel; later ones look whether folders
//! and ignore files are still what they were, and read again only those that changed.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ignore::{DirEntry, WalkBuilder};

/// Where is searched, and what is left out.
#[derive(Debug, Clone)]
pub(crate) struct Terrain {
    /// The folder, without links.
    pub(crate) root: PathBuf,
    /// Paths that may not be read, without links.
    pub(crate) denied: Arc<HashSet<PathBuf>>,
    /// How many files are looked at.
    pub(crate) most_files: usize,
    /// Set when nobody waits any more.
    pub(crate) stop: Arc<AtomicBool>,
}

/// The names that a session knows.
#[derive(Debug, Default, Clone)]
pub(crate) struct Catalogue {
    index: Arc<Mutex<Option<Arc<Index>>>>,
}

/// The names below a folder, as of some moment.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    root: PathBuf,
    /// Every file, by its path below the root.
    pub(crate) files: Vec<Box<str>>,
    folders: BTreeMap<PathBuf, Stamp>,
    ignore_files: BTreeMap<PathBuf, Stamp>,
    /// Whether there are more files than may be looked at.
    pub(crate) is_cut_off: bool,
}

/// What tells one state of a folder or file from another. Nothing where it changed so recently that
/// its next change might bear the same time: such a one is always looked at again.
type Stamp = Option<(u64, i64, i64, u64)>;

/// Longer than the kernel's clock for files stands still.
const RECENT: Duration = Duration::from_millis(50);

/// Names of files that say what is left out.
const IGNORE_FILES: &[&str] = &[".gitignore", ".ignore"];
/// With more changes than this everything is read again.
const MOST_CHANGES: usize = 256;
const MOST_THREADS: usize = 8;

impl Catalogue {
    /// The names as they are now.
    pub(crate) fn names(&self, terrain: &Terrain) -> Arc<Index> {
        let mut kept = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = match kept.take().filter(|index| index.root == terrain.root) {
            Some(index) => refreshed(index, terrain),
            None => Arc::new(walked(terrain)),
        };
        *kept = Some(Arc::clone(&fresh));
        fresh
    }
}

fn stamp(path: &Path) -> Stamp {
    let found = fs::symlink_metadata(path).ok()?;
    let age = found.modified().ok()?.elapsed().unwrap_or_default();
    (age > RECENT).then(|| (found.ino(), found.mtime(), found.mtime_nsec(), found.size()))
}

/// What a walk has come across.
#[derive(Debug, Default)]
struct Haul {
    files: Vec<Box<str>>,
    folders: Vec<(PathBuf, Stamp)>,
    ignore_files: Vec<(PathBuf, Stamp)>,
}

fn walked(terrain: &Terrain) -> Index {
    let (haul, is_cut_off) = walk(terrain, &[(terrain.root.clone(), None)]);
    Index {
        root: terrain.root.clone(),
        files: haul.files,
        folders: haul.folders.into_iter().collect(),
        ignore_files: haul.ignore_files.into_iter().collect(),
        is_cut_off,
    }
}

/// Folders for each thread to choose from, so that none runs out of work early.
const SHARES: usize = 8;

/// Walks folders, each to a depth. Every thread walks whole folders by itself: sharing one walk
/// costs more than it gains.
fn walk(terrain: &Terrain, from: &[(PathBuf, Option<usize>)]) -> (Haul, bool) {
    let count = AtomicUsize::new(0);
    let mut haul = Haul::default();
    let mut queue: VecDeque<(PathBuf, Option<usize>)> = from.iter().cloned().collect();
    let threads = threads();
    // Folders are opened up until there are enough to share.
    while queue.len() < threads * SHARES
        && let Some(at) = queue.iter().position(|(_, depth)| depth.is_none())
        && let Some((folder, _)) = queue.remove(at)
    {
        let mut level = Haul::default();
        walk_one(terrain, &folder, Some(1), &count, &mut level);
        let below = level.folders.iter().filter(|(path, _)| *path != folder);
        queue.extend(below.map(|(path, _)| (path.clone(), None)));
        haul.append(level);
    }
    let queue = Mutex::new(queue);
    let next = || {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.pop_front()
    };
    let work = || {
        let mut haul = Haul::default();
        while let Some((folder, depth)) = next() {
            walk_one(terrain, &folder, depth, &count, &mut haul);
        }
        haul
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        haul.append(work());
        for other in others {
            haul.append(other.join().unwrap_or_default());
        }
    });
    let is_cut_off = count.into_inner() > terrain.most_files;
    haul.files.truncate(terrain.most_files);
    (haul, is_cut_off)
}

fn walk_one(
    terrain: &Terrain,
    folder: &Path,
    depth: Option<usize>,
    count: &AtomicUsize,
    haul: &mut Haul,
) {
    let denied = Arc::clone(&terrain.denied);
    let mut builder = WalkBuilder::new(folder);
    builder
        .max_depth(depth)
        .hidden(false)
        .require_git(false)
        // The user's own file would have to be looked up in the home folder.
        .git_global(false)
        .follow_links(false)
        .filter_entry(move |entry| {
            entry.file_name() != ".git" && (denied.is_empty() || !denied.contains(entry.path()))
        });
    // A folder that may not be opened has nothing to show.
    for entry in builder.build().flatten() {
        let seen = haul.take(&entry, &terrain.root);
        let many = count.fetch_add(seen, Ordering::Relaxed) + seen;
        if many > terrain.most_files || terrain.stop.load(Ordering::Relaxed) {
            return;
        }
    }
}

fn threads() -> usize {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    processors.min(MOST_THREADS)
}

impl Haul {
    fn append(&mut self, mut other: Self) {
        self.files.append(&mut other.files);
        self.folders.append(&mut other.folders);
        self.ignore_files.append(&mut other.ignore_files);
    }

    /// Takes an entry; says how many files that makes.
    fn take(&mut self, entry: &DirEntry, root: &Path) -> usize {
        let kind = entry.file_type();
        if kind.is_some_and(|kind| kind.is_dir()) {
            let path = entry.path();
            self.folders.push((path.to_path_buf(), stamp(path)));
            return 0;
        }
        if !kind.is_some_and(|kind| kind.is_file()) {
            return 0;
        }
        let name = entry.file_name();
        if IGNORE_FILES.iter().any(|ignore| name == *ignore) {
            let path = entry.path();
            self.ignore_files.push((path.to_path_buf(), stamp(path)));
        }
        // A name that is not UTF-8 cannot be asked for, nor told.
        match entry.path().strip_prefix(root).ok().and_then(Path::to_str) {
            Some(path) => {
                self.files.push(path.into());
                1
            }
            None => 0,
        }
    }
}

/// The index as it is now.
fn refreshed(index: Arc<Index>, terrain: &Terrain) -> Arc<Index> {
    let is_changed = |(path, known): &(&PathBuf, &Stamp)| known.is_none() || stamp(path) != **known;
    if index.is_cut_off || index.ignore_files.iter().any(|entry| is_changed(&entry)) {
        return Arc::new(walked(terrain));
    }
    let changed: BTreeSet<PathBuf> = index
        .folders
        .iter()
        .filter(is_changed)
        .map(|(path, _)| path.clone())
        .collect();
    if changed.is_empty() {
        return index;
    }
    if changed.len() > MOST_CHANGES {
        return Arc::new(walked(terrain));
    }
    match read_again(index, terrain, &changed) {
        Some(index) => Arc::new(index),
        None => Arc::new(walked(terrain)),
    }
}

/// The index with some folders read again; nothing if ignore files came or went with them.
fn read_again(index: Arc<Index>, terrain: &Terrain, changed: &BTreeSet<PathBuf>) -> Option<Index> {
    let known_ignores = |folder: &Path| {
        let in_folder = index.ignore_files.keys();
        in_folder
            .filter(|path| path.parent() == Some(folder))
            .count()
    };
    let still: Vec<(PathBuf, Option<usize>)> = changed
        .iter()
        .filter(|folder| folder.is_dir())
        .map(|folder| (folder.clone(), Some(1)))
        .collect();
    let (level, _) = walk(terrain, &still);
    for folder in changed {
        let found = level.ignore_files.iter();
        let found = found
            .filter(|(path, _)| path.parent() == Some(folder))
            .count();
        if found != known_ignores(folder) {
            return None;
        }
    }
    // Folders right below those that changed: what is not seen any more is gone with all below it,
    // and what was not known is walked as a whole.
    let seen: BTreeSet<PathBuf> = level.folders.iter().map(|(path, _)| path.clone()).collect();
    let gone: HashSet<PathBuf> = index
        .folders
        .keys()
        .filter(|path| {
            let below_changed = path.parent().is_some_and(|parent| changed.contains(parent));
            (below_changed || changed.contains(*path)) && !seen.contains(*path)
        })
        .cloned()
        .collect();
    let new: Vec<(PathBuf, Option<usize>)> = seen
        .iter()
        .filter(|path| !index.folders.contains_key(*path))
        .map(|path| (path.clone(), None))
        .collect();
    let is_gone = |path: &Path| path.ancestors().any(|above| gone.contains(above));
    let (fresh, is_cut_off) = walk(terrain, &new);
    // Files are told apart by their folders as text: there are many of them.
    let inside = |path: &Path| {
        let inner = path.strip_prefix(&terrain.root).ok()?.to_str()?;
        Some(inner.to_owned())
    };
    let reread: HashSet<String> = changed.iter().filter_map(|path| inside(path)).collect();
    let below_gone: Vec<String> = gone.iter().filter_map(|path| inside(path)).collect();
    let mut index = Arc::try_unwrap(index).unwrap_or_else(|shared| (*shared).clone());
    index.files.retain(|file| {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        !reread.contains(folder)
            && !below_gone.iter().any(|gone| {
                folder
                    .strip_prefix(gone.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    });
    index.files.extend(level.files);
    index.files.extend(fresh.files);
    index
        .folders
        .retain(|path, _| gone.is_empty() || !is_gone(path));
    // Of those that were only seen again, the old stamp stays: they have not been read.
    let read = level
        .folders
        .into_iter()
        .filter(|(path, _)| changed.contains(path));
    index.folders.extend(read.chain(fresh.folders));
    index
        .ignore_files
        .retain(|path, _| gone.is_empty() || !is_gone(path));
    index.ignore_files.extend(fresh.ignore_files);
    index.is_cut_off = is_cut_off || index.files.len() > terrain.most_files;
    Some(index)
}
