//! What git would make of a folder: which repository it finds there, whether that is one, and what
//! it would run.
//!
//! Looking at a folder costs some reads. What was seen keeps the stamps of everything that it
//! depends on, so that looking again at one that has not changed costs a handful of calls.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::config::Entry;
use super::head;
use super::look::{Look, MOST_BYTES};
use super::reach::{Found, Reach, Stamp};
use super::trail;

/// How fresh a change may be for its time to tell it from the next one: file systems count in
/// ticks of some milliseconds.
const TICK: Duration = Duration::from_millis(50);

/// What was seen in a folder.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The folder. Absolute.
    pub(super) folder: PathBuf,
    /// What this depends on.
    pub(super) depends: Vec<(PathBuf, Option<Stamp>)>,
    /// Whether the stamps are old enough to be told from later ones.
    is_settled: bool,
    /// Its `.git`.
    pub(super) dot_git: Found,
    /// A link on the way to the repository, which is in reach but for that.
    pub(super) link: Option<PathBuf>,
    /// What makes a repository of the folder itself, if it looks like one.
    pub(super) bare: Option<Bare>,
    /// The repository, if there is one in reach.
    pub(super) repository: Option<Repository>,
}

/// What makes a repository of a folder: `HEAD`, and the others beside it or wherever `commondir`
/// says.
#[derive(Debug)]
pub(super) struct Bare {
    pub(super) parts: [(&'static str, Found); 4],
}

impl Bare {
    fn of(look: &mut Look<'_>, folder: &Path) -> Option<Self> {
        let head = look.find(&folder.join("HEAD"), MOST_BYTES);
        if !head.exists() {
            return None;
        }
        let mut find = |name| (name, look.find(&folder.join(name), 0));
        let [commondir, objects, refs] = ["commondir", "objects", "refs"].map(&mut find);
        let is_one = commondir.1.exists() || (objects.1.exists() && refs.1.exists());
        is_one.then_some(Self {
            parts: [("HEAD", head), commondir, objects, refs],
        })
    }
}

/// What was seen of a repository.
#[derive(Debug)]
pub(super) struct Repository {
    /// Its folder.
    pub(super) at: PathBuf,
    pub(super) folder: Found,
    /// Where it has what it shares with other work trees; mostly the same.
    pub(super) common: PathBuf,
    pub(super) head: Found,
    pub(super) objects: Found,
    pub(super) refs: Found,
    pub(super) commondir: Found,
    pub(super) info: Found,
    pub(super) attributes: Found,
    /// Where those really are, if that is in reach.
    pub(super) attributes_at: Option<PathBuf>,
    /// Its index. What is in it is in `gitlinks`.
    pub(super) index: Found,
    /// Whether that has been understood.
    pub(super) index_is_known: bool,
    /// Its configuration, and files that this includes, as far as they are in reach.
    pub(super) settings: Vec<Settings>,
    /// Where its hooks are, if that is in reach.
    pub(super) hooks_at: Option<PathBuf>,
    pub(super) hooks_folder: Found,
    pub(super) hooks: Vec<(OsString, Found)>,
    /// Whether those are all.
    pub(super) hooks_are_all: bool,
    /// Folders of other repositories that its commands look into.
    pub(super) gitlinks: Vec<PathBuf>,
    /// Files in reach that its settings and hooks have git run.
    pub(super) programs: Vec<Program>,
    /// Links on the way to its settings, hooks and programs.
    pub(super) links: Vec<(PathBuf, Found)>,
}

/// A file that git runs, or has run.
#[derive(Debug)]
pub(super) struct Program {
    /// As it is named.
    pub(super) named: PathBuf,
    /// Where it really is.
    pub(super) end: PathBuf,
    pub(super) found: Found,
}

/// A file of settings.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) path: PathBuf,
    pub(super) found: Found,
    /// Those that could run something; nothing if git could not read the file.
    pub(super) running: Option<Vec<Entry>>,
}

impl Seen {
    /// Looks at a folder.
    pub(super) fn of(reach: &Reach, folder: &Path) -> Self {
        let began = SystemTime::now();
        let mut look = Look::new(reach);
        let dot_git = look.find(&folder.join(".git"), MOST_BYTES);
        let bare = Bare::of(&mut look, folder);
        let at = match &dot_git {
            Found::Folder(_) => Some(folder.join(".git")),
            Found::File(_, bytes) => gitfile(folder, bytes),
            Found::Link(..) => look.follow(&folder.join(".git")),
            _ if bare.is_some() => Some(folder.to_path_buf()),
            _ => None,
        };
        let at = at.filter(|at| reach.holds(at));
        let link = at.as_deref().and_then(|at| reach.link_on_the_way(at));
        let repository = at.map(|at| look.repository(folder, at));
        let is_settled = unchanged_since(&look.depends, began);
        Self {
            folder: folder.to_path_buf(),
            depends: look.depends,
            is_settled,
            dot_git,
            link,
            bare,
            repository,
        }
    }

    /// A folder without anything.
    pub(super) fn nothing(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
            depends: Vec::new(),
            is_settled: false,
            dot_git: Found::Absent,
            link: None,
            bare: None,
            repository: None,
        }
    }

    /// Folders of other repositories that git's commands here look into.
    pub(super) fn gitlinks(&self) -> impl Iterator<Item = &PathBuf> {
        self.repository
            .iter()
            .flat_map(|repository| &repository.gitlinks)
    }

    /// Whether nothing of this has changed since then. Nobody but the kernel sets these times.
    pub(super) fn is_older_than(&self, when: SystemTime) -> bool {
        self.repository.is_some() && unchanged_since(&self.depends, when)
    }

    /// Whether looking again would show the same.
    pub(super) fn is_still_so(&self, reach: &Reach) -> bool {
        self.is_settled
            && self
                .depends
                .iter()
                .all(|(path, stamp)| reach.stamp(path) == *stamp)
    }
}

/// The folder that a `.git` file names, if that is in the form in which git writes it.
pub(super) fn gitfile(folder: &Path, bytes: &[u8]) -> Option<PathBuf> {
    trail::plain(folder, bytes.strip_prefix(b"gitdir: ")?)
}

/// Whether everything was left alone for a while before a moment.
fn unchanged_since(depends: &[(PathBuf, Option<Stamp>)], when: SystemTime) -> bool {
    let mut stamps = depends.iter().filter_map(|(_, stamp)| stamp.as_ref());
    stamps.all(|stamp| is_older(stamp, when))
}

/// Whether a stamp can be told from that of any change since a moment. For a look, that is the moment
/// before it: what is changed meanwhile must not pass for what was seen.
pub(crate) fn is_older(stamp: &Stamp, when: SystemTime) -> bool {
    let when = when.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, nanoseconds) = stamp.changed;
    let changed = Duration::new(
        u64::try_from(seconds).unwrap_or_default(),
        u32::try_from(nanoseconds).unwrap_or_default(),
    );
    changed + TICK < when
}

impl Repository {
    /// Whether git takes this for a repository.
    pub(super) fn is_valid(&self) -> bool {
        let may_be = |found: &Found| is_entered(found) || matches!(found, Found::Link(..));
        head::is_valid(&self.head) && may_be(&self.objects) && may_be(&self.refs)
    }
}

/// Whether a folder is there that its owner may enter.
pub(super) fn is_entered(found: &Found) -> bool {
    match found {
        Found::Folder(stamp) => stamp.mode & 0o100 != 0,
        _ => false,
    }
}
