//! The names below a folder. The first search walks it, in parallel; later ones look whether folders
//! and ignore files are still what they were, and read again only those that changed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::walk::{Reach, Stamp, stamp, walk};

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
    folders: HashMap<PathBuf, Stamp>,
    ignore_files: HashMap<PathBuf, Stamp>,
    /// Whether there are more files than may be looked at.
    pub(crate) is_cut_off: bool,
}

/// With more changes than this everything is read again.
const MOST_CHANGES: usize = 256;

impl Catalogue {
    /// The names as they are now.
    pub(crate) fn names(&self, terrain: &Terrain) -> Arc<Index> {
        let mut kept = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = match kept.take().filter(|index| index.root == terrain.root) {
            Some(index) => refreshed(index, terrain),
            None => Arc::new(walked(terrain)),
        };
        // A walk that was given up has gaps that no later look would see.
        if !terrain.stop.load(Ordering::Relaxed) {
            *kept = Some(Arc::clone(&fresh));
        }
        fresh
    }
}

fn walked(terrain: &Terrain) -> Index {
    let haul = walk(terrain, slice::from_ref(&terrain.root), Reach::All);
    Index {
        root: terrain.root.clone(),
        files: haul.files,
        folders: haul.folders.into_iter().collect(),
        ignore_files: haul.ignore_files.into_iter().collect(),
        is_cut_off: haul.is_cut_off,
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
    let still = changed.iter().filter(|folder| folder.is_dir());
    let still: Vec<PathBuf> = still.cloned().collect();
    let level = walk(terrain, &still, Reach::Level);
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
    let new: Vec<PathBuf> = seen
        .iter()
        .filter(|path| !index.folders.contains_key(*path))
        .cloned()
        .collect();
    let is_gone = |path: &Path| path.ancestors().any(|above| gone.contains(above));
    let fresh = walk(terrain, &new, Reach::All);
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
    index.is_cut_off = fresh.is_cut_off || index.files.len() > terrain.most_files;
    Some(index)
}
