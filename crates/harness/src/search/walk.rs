//! A walk: every file below some folders that no ignore file leaves out, by its path below the root.
//! Folders are shared among threads. A folder is read whole before any of its names is judged, as its
//! ignore files may come last; the kernel tells files from folders, so that no file is looked at.
//! Links are not followed. Nothing is kept between walks.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};

use super::index::Terrain;
use super::rules::{REPOSITORY, Rules, Sources};

/// What tells one state of a folder or file from another. Nothing where it changed so recently that
/// its next change might bear the same time: such a one is always looked at again.
pub(super) type Stamp = Option<(u64, i64, i64, u64)>;

/// How far a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// What is right in the folder; folders in it are told, not read.
    Level,
    /// Everything below.
    All,
}

/// What a walk has come across.
#[derive(Debug, Default)]
pub(super) struct Haul {
    pub(super) files: Vec<Box<str>>,
    pub(super) folders: Vec<(PathBuf, Stamp)>,
    pub(super) ignore_files: Vec<(PathBuf, Stamp)>,
    /// Whether there are more files than may be looked at.
    pub(super) is_cut_off: bool,
}

/// Longer than the kernel's clock for files stands still.
const RECENT: Duration = Duration::from_millis(50);
/// A search is not worth more of the machine.
const MOST_THREADS: usize = 4;
/// Bytes of names that are read at once.
const CHUNK: usize = 32 * 1024;

/// What a path bears now.
pub(super) fn stamp(path: &Path) -> Stamp {
    stamp_of(&fs::symlink_metadata(path).ok()?)
}

fn stamp_of(found: &Metadata) -> Stamp {
    let age = found.modified().ok()?.elapsed().unwrap_or_default();
    (age > RECENT).then(|| (found.ino(), found.mtime(), found.mtime_nsec(), found.size()))
}

/// Walks folders at or below the root.
pub(super) fn walk(terrain: &Terrain, from: &[PathBuf], reach: Reach) -> Haul {
    let mut denied: HashMap<&Path, HashSet<&[u8]>> = HashMap::new();
    for path in terrain.denied.iter() {
        if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            denied.entry(folder).or_default().insert(name.as_bytes());
        }
    }
    let root = terrain.root.as_os_str().as_bytes();
    let errand = Errand {
        terrain,
        reach,
        denied,
        skipped: root.len() + usize::from(!root.ends_with(b"/")),
        count: AtomicUsize::new(0),
        queue: Mutex::default(),
        news: Condvar::new(),
    };
    let first = from.iter().map(|path| Task {
        rules: Rules::above(path),
        path: path.clone(),
    });
    errand.queue().waiting.extend(first);
    let mut haul = Haul::default();
    let mut desk = Desk::default();
    // Alone until there is enough to share.
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(MOST_THREADS);
    while errand.queue().waiting.len() < threads * 2 {
        let Some(task) = errand.next() else { break };
        errand.read(&task, &mut desk, &mut haul);
        errand.done(&mut desk.below);
    }
    if !errand.queue().waiting.is_empty() {
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads)
                .map(|_| scope.spawn(|| errand.work(Desk::default())))
                .collect();
            haul.append(errand.work(desk));
            for other in others {
                haul.append(other.join().unwrap_or_default());
            }
        });
    }
    haul.is_cut_off = errand.count.into_inner() > terrain.most_files;
    haul.files.truncate(terrain.most_files);
    haul
}

/// A folder to read.
#[derive(Debug)]
struct Task {
    path: PathBuf,
    /// Those of the folders above it.
    rules: Rules,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Task>,
    /// How many folders are being read, and may yet bring more.
    underway: usize,
}

/// One walk, as all its threads see it.
struct Errand<'t> {
    terrain: &'t Terrain,
    reach: Reach,
    /// Names that may not be read, by their folder.
    denied: HashMap<&'t Path, HashSet<&'t [u8]>>,
    /// How many bytes of a path lead into the root.
    skipped: usize,
    count: AtomicUsize,
    queue: Mutex<Queue>,
    news: Condvar,
}

/// Memory that a thread uses for one folder after the other.
struct Desk {
    chunk: Vec<MaybeUninit<u8>>,
    names: Vec<u8>,
    /// Where each name ends, and whether it is a folder's.
    entries: Vec<(usize, bool)>,
    path: Vec<u8>,
    below: Vec<Task>,
}

impl Default for Desk {
    fn default() -> Self {
        Self {
            chunk: vec![MaybeUninit::uninit(); CHUNK],
            names: Vec::new(),
            entries: Vec::new(),
            path: Vec::new(),
            below: Vec::new(),
        }
    }
}

/// Says that a folder has been read, even if that went wrong, so that nobody waits for it.
struct Underway<'e, 't> {
    errand: &'e Errand<'t>,
    desk: Desk,
}

impl Drop for Underway<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.errand.done(&mut self.desk.below);
        }
    }
}

impl Errand<'_> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next folder; nothing once there will be none.
    fn next(&self) -> Option<Task> {
        let mut queue = self.queue();
        loop {
            if self.is_over() {
                queue.waiting.clear();
            }
            if let Some(task) = queue.waiting.pop() {
                queue.underway += 1;
                return Some(task);
            }
            if queue.underway == 0 {
                return None;
            }
            let woken = self.news.wait(queue);
            queue = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A folder has been read, and has others below it.
    fn done(&self, below: &mut Vec<Task>) {
        let mut queue = self.queue();
        queue.waiting.append(below);
        queue.underway -= 1;
        if !queue.waiting.is_empty() || queue.underway == 0 {
            self.news.notify_all();
        }
    }

    fn is_over(&self) -> bool {
        self.count.load(Ordering::Relaxed) > self.terrain.most_files
            || self.terrain.stop.load(Ordering::Relaxed)
    }

    fn work(&self, desk: Desk) -> Haul {
        let mut haul = Haul::default();
        let mut underway = Underway { errand: self, desk };
        while let Some(task) = self.next() {
            self.read(&task, &mut underway.desk, &mut haul);
            self.done(&mut underway.desk.below);
        }
        haul
    }

    fn read(&self, task: &Task, desk: &mut Desk, haul: &mut Haul) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(folder) = rustix::fs::open(&task.path, flags, Mode::empty()) else {
            // What may not be opened has nothing to show.
            haul.folders.push((task.path.clone(), stamp(&task.path)));
            return;
        };
        let folder = File::from(folder);
        // The time comes first: what changes while names are read is then seen the next time.
        let stamp = folder.metadata().ok().and_then(|found| stamp_of(&found));
        haul.folders.push((task.path.clone(), stamp));
        let sources = self.list(&folder, &task.path, desk, haul);
        let rules = task.rules.within(&task.path, sources);
        self.judge(&task.path, &rules, desk, haul);
    }

    /// Puts all names of a folder that may be shown on the desk.
    fn list(&self, folder: &File, path: &Path, desk: &mut Desk, haul: &mut Haul) -> Sources {
        let mut sources = Sources::default();
        let denied = self.denied.get(path);
        desk.names.clear();
        desk.entries.clear();
        let mut entries = RawDir::new(folder.as_fd(), &mut desk.chunk);
        while let Some(Ok(entry)) = entries.next() {
            let name = entry.file_name().to_bytes();
            if self.terrain.stop.load(Ordering::Relaxed) {
                break;
            }
            if name == b"." || name == b".." {
                continue;
            }
            if sources.note(name) {
                let path = path.join(OsStr::from_bytes(name));
                let stamp = stamp(&path);
                haul.ignore_files.push((path, stamp));
            }
            let is_folder = match kind(folder, &entry) {
                FileType::RegularFile => false,
                FileType::Directory => true,
                _ => continue,
            };
            if name != REPOSITORY && !denied.is_some_and(|denied| denied.contains(name)) {
                desk.names.extend_from_slice(name);
                desk.entries.push((desk.names.len(), is_folder));
            }
        }
        sources
    }

    /// Takes what the rules do not leave out.
    fn judge(&self, folder: &Path, rules: &Rules, desk: &mut Desk, haul: &mut Haul) {
        let path = &mut desk.path;
        path.clear();
        path.extend_from_slice(folder.as_os_str().as_bytes());
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
        let prefix = path.len();
        let mut start = 0;
        let before = haul.files.len();
        for &(end, is_folder) in &desk.entries {
            path.truncate(prefix);
            path.extend_from_slice(&desk.names[start..end]);
            start = end;
            if rules.leave_out(path, is_folder) {
                continue;
            }
            // A name that is not UTF-8 cannot be asked for, nor told.
            let Ok(inner) = str::from_utf8(&path[self.skipped..]) else {
                continue;
            };
            if !is_folder {
                haul.files.push(inner.into());
                continue;
            }
            let path = PathBuf::from(OsStr::from_bytes(path));
            match self.reach {
                Reach::Level => haul.folders.push((path, None)),
                Reach::All => desk.below.push(Task {
                    path,
                    rules: rules.clone(),
                }),
            }
        }
        let many = haul.files.len() - before;
        self.count.fetch_add(many, Ordering::Relaxed);
    }
}

/// What an entry is; few file systems have to be asked.
fn kind(folder: &File, entry: &rustix::fs::RawDirEntry<'_>) -> FileType {
    match entry.file_type() {
        FileType::Unknown => {
            let found = rustix::fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
            found.map_or(FileType::Unknown, |found| {
                FileType::from_raw_mode(found.st_mode)
            })
        }
        known => known,
    }
}

impl Haul {
    fn append(&mut self, mut other: Self) {
        self.files.append(&mut other.files);
        self.folders.append(&mut other.folders);
        self.ignore_files.append(&mut other.ignore_files);
    }
}
