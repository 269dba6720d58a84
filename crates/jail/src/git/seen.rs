//! What git would make of a folder: which repository it finds there, whether that is one, and what
//! it would run.
//!
//! Looking at a folder costs some reads. What was seen keeps the stamps of everything that it
//! depends on, so that looking again at one that has not changed costs a handful of calls.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::config::{self, Entry};
use super::index::{self, Hash};
use super::reach::{Found, Reach, Stamp, tidy};
use super::{head, keys};

/// The longest configuration that is read, and the longest hook that is kept.
const MOST_BYTES: u64 = 1 << 20;
/// The longest index that is looked into.
const MOST_INDEX_BYTES: u64 = 128 << 20;
/// The most hooks of a repository.
const MOST_HOOKS: usize = 256;
/// The most files that a configuration includes, and programs that it names.
const MOST_NAMED: usize = 64;
/// The most repositories that one index names.
const MOST_GITLINKS: usize = 256;
/// How fresh a change may be for its time to tell it from the next one: file systems count in
/// ticks of some milliseconds.
const TICK: Duration = Duration::from_millis(50);

/// What was seen in a folder.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The folder. Absolute.
    pub(super) folder: PathBuf,
    /// What this depends on.
    depends: Vec<(PathBuf, Option<Stamp>)>,
    /// Whether the stamps are old enough to be told from later ones.
    is_settled: bool,
    /// Its `.git`.
    pub(super) dot_git: Found,
    /// A link on the way to the repository, which is in reach but for that.
    pub(super) link: Option<PathBuf>,
    /// `HEAD`, if the folder itself looks like a repository.
    pub(super) bare: Option<Found>,
    /// The repository, if there is one in reach.
    pub(super) repository: Option<Repository>,
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
    /// Its configuration, and files that this includes, as far as they are in reach.
    pub(super) settings: Vec<Settings>,
    /// Where its hooks are, if that is in reach.
    pub(super) hooks_at: Option<PathBuf>,
    pub(super) hooks_folder: Found,
    pub(super) hooks: Vec<(OsString, Found)>,
    /// Folders of other repositories that its commands look into.
    pub(super) gitlinks: Vec<PathBuf>,
    /// Files in reach that its settings and hooks have git run.
    pub(super) programs: Vec<PathBuf>,
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
        let mut look = Look {
            reach,
            depends: Vec::new(),
        };
        let dot_git = look.find(&folder.join(".git"), MOST_BYTES);
        let head = look.find(&folder.join("HEAD"), MOST_BYTES);
        let is_bare = head.exists()
            && look.find(&folder.join("objects"), 0).exists()
            && look.find(&folder.join("refs"), 0).exists();
        let at = match &dot_git {
            Found::Folder(_) => Some(folder.join(".git")),
            Found::File(_, bytes) => gitfile(bytes).map(|target| tidy(&folder.join(target))),
            _ if is_bare => Some(folder.to_path_buf()),
            _ => None,
        };
        let at = at.filter(|at| reach.holds(at));
        let link = at.as_deref().and_then(|at| reach.link_on_the_way(at));
        let repository = at.map(|at| look.repository(folder, at));
        let is_settled = unchanged_since(&look.depends, SystemTime::now());
        Self {
            folder: folder.to_path_buf(),
            depends: look.depends,
            is_settled,
            dot_git,
            link,
            bare: is_bare.then_some(head),
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

/// The folder that a `.git` file names.
pub(super) fn gitfile(bytes: &[u8]) -> Option<PathBuf> {
    let text = std::str::from_utf8(bytes).ok()?;
    let target = text.strip_prefix("gitdir:")?.trim();
    (!target.is_empty()).then(|| PathBuf::from(target))
}

/// Whether everything was left alone for a while before a moment.
fn unchanged_since(depends: &[(PathBuf, Option<Stamp>)], when: SystemTime) -> bool {
    let mut stamps = depends.iter().filter_map(|(_, stamp)| stamp.as_ref());
    stamps.all(|stamp| is_older(stamp, when))
}

/// Whether a stamp can be told from one that is taken from now on.
pub(crate) fn is_settled(stamp: &Stamp) -> bool {
    is_older(stamp, SystemTime::now())
}

fn is_older(stamp: &Stamp, when: SystemTime) -> bool {
    let when = when.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, nanoseconds) = stamp.changed;
    let changed = Duration::new(
        u64::try_from(seconds).unwrap_or_default(),
        u32::try_from(nanoseconds).unwrap_or_default(),
    );
    changed + TICK < when
}

/// A look that remembers what it looked at.
struct Look<'r> {
    reach: &'r Reach,
    depends: Vec<(PathBuf, Option<Stamp>)>,
}

impl Look<'_> {
    fn find(&mut self, path: &Path, most: u64) -> Found {
        let found = self.reach.find(path, most);
        self.depends
            .push((path.to_path_buf(), found.stamp().copied()));
        found
    }

    fn repository(&mut self, work: &Path, at: PathBuf) -> Repository {
        let commondir = self.find(&at.join("commondir"), MOST_BYTES);
        let shared = commondir
            .bytes()
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .map(|text| tidy(&at.join(text.trim_end_matches(['\n', '\r']))));
        let common = shared.unwrap_or_else(|| at.clone());
        let mut settings = Vec::new();
        let mut entries = Vec::new();
        for path in [common.join("config"), at.join("config.worktree")] {
            self.settings(&path, (work, &at), &mut settings, &mut entries);
        }
        let hooks_at = hooks_path(&entries, work, &common).filter(|path| self.reach.holds(path));
        let hooks_folder = match &hooks_at {
            Some(path) => self.find(path, 0),
            None => Found::Absent,
        };
        let hooks = match &hooks_at {
            Some(path) => self.hooks(path),
            None => Vec::new(),
        };
        let mut programs = self.programs(work, &entries);
        programs.extend(hooks.iter().filter_map(|(name, found)| match found {
            Found::Link(_, target) => {
                Some(tidy(&hooks_at.as_ref()?.join(target))).filter(|_| !name.is_empty())
            }
            _ => None,
        }));
        programs.retain(|path| self.reach.holds(path));
        Repository {
            folder: self.find(&at, 0),
            head: self.find(&at.join("HEAD"), MOST_BYTES),
            objects: self.find(&common.join("objects"), 0),
            refs: self.find(&common.join("refs"), 0),
            info: self.find(&common.join("info"), 0),
            attributes: self.find(&common.join("info/attributes"), MOST_BYTES),
            gitlinks: self.gitlinks(work, &at, hash_of(&entries)),
            settings,
            hooks_at,
            hooks_folder,
            hooks,
            programs,
            commondir,
            common,
            at,
        }
    }

    /// Reads a file of settings and those that it includes. `entries` gets all of them in git's
    /// own order.
    fn settings(
        &mut self,
        path: &Path,
        of: (&Path, &Path),
        files: &mut Vec<Settings>,
        entries: &mut Vec<Entry>,
    ) {
        if files.len() >= MOST_NAMED || files.iter().any(|known| known.path == path) {
            return;
        }
        let found = self.find(path, MOST_BYTES);
        let parsed = match &found {
            Found::File(_, bytes) => config::parse(bytes).ok(),
            Found::Absent => Some(Vec::new()),
            _ => None,
        };
        let (work, at) = of;
        let is_own_work_tree =
            |entry: &Entry| entry.key() == "core.worktree" && tidy(&at.join(entry.text())) == work;
        let running = parsed.as_ref().map(|parsed| {
            let mut running: Vec<Entry> = parsed
                .iter()
                .filter(|entry| keys::runs(entry) && !is_own_work_tree(entry))
                .cloned()
                .collect();
            running.sort();
            running
        });
        files.push(Settings {
            path: path.to_path_buf(),
            found,
            running,
        });
        for entry in parsed.unwrap_or_default() {
            let is_include = entry.name == "path"
                && (entry.section == "include" || entry.section == "includeif");
            if is_include {
                let folder = path.parent().unwrap_or(path);
                let included = tidy(&folder.join(entry.text()));
                if self.reach.holds(&included) {
                    self.settings(&included, of, files, entries);
                }
            }
            entries.push(entry);
        }
    }

    /// The hooks that git would run.
    fn hooks(&mut self, folder: &Path) -> Vec<(OsString, Found)> {
        let mut hooks = Vec::new();
        for name in self.reach.list(folder, MOST_HOOKS) {
            let text = name.to_string_lossy();
            if text.ends_with(".sample") || text.contains(super::SET_ASIDE) {
                continue;
            }
            let found = self.find(&folder.join(&name), MOST_BYTES);
            let is_active = match &found {
                Found::File(stamp, _) | Found::Closed(stamp) => stamp.mode & 0o111 != 0,
                Found::Link(..) => true,
                Found::Absent | Found::Folder(_) | Found::Other(_) => false,
            };
            if is_active {
                hooks.push((name, found));
            }
        }
        hooks
    }

    fn gitlinks(&mut self, work: &Path, at: &Path, hash: Hash) -> Vec<PathBuf> {
        let Found::File(_, bytes) = self.find(&at.join("index"), MOST_INDEX_BYTES) else {
            return Vec::new();
        };
        let index = index::read(&bytes, hash, MOST_GITLINKS);
        let mut gitlinks = index.gitlinks;
        if let Some(shared) = index.shared
            && let Found::File(_, bytes) = self.find(&at.join(shared), MOST_INDEX_BYTES)
        {
            gitlinks.extend(index::read(&bytes, hash, MOST_GITLINKS).gitlinks);
        }
        gitlinks.iter().map(|path| tidy(&work.join(path))).collect()
    }

    /// Files that settings name, as programs or among a program's words.
    fn programs(&mut self, work: &Path, entries: &[Entry]) -> Vec<PathBuf> {
        let mut programs = Vec::new();
        let running = entries.iter().filter(|entry| keys::runs(entry));
        for entry in
            running.filter(|entry| entry.section != "alias" || entry.text().starts_with('!'))
        {
            let words = entry.text().trim_start_matches('!').split_whitespace();
            for word in words.map(|word| word.trim_matches(['"', '\'', ';'])) {
                let path = tidy(&work.join(word));
                let is_new = path != work && !programs.contains(&path);
                if programs.len() < MOST_NAMED
                    && is_new
                    && self.reach.holds(&path)
                    && matches!(self.find(&path, 0), Found::File(..) | Found::Closed(_))
                {
                    programs.push(path);
                }
            }
        }
        programs
    }
}

/// Where hooks are: where the last word about that says, or in the repository itself.
fn hooks_path(entries: &[Entry], work: &Path, common: &Path) -> Option<PathBuf> {
    let said = entries
        .iter()
        .rev()
        .find(|entry| entry.key() == "core.hookspath");
    match said {
        Some(entry) if entry.text().starts_with('~') => None,
        Some(entry) => Some(tidy(&work.join(entry.text()))),
        None => Some(common.join("hooks")),
    }
}

fn hash_of(entries: &[Entry]) -> Hash {
    let is_long = |entry: &&Entry| entry.key() == "extensions.objectformat";
    match entries.iter().rev().find(is_long) {
        Some(entry) if entry.text().eq_ignore_ascii_case("sha256") => Hash::Sha256,
        _ => Hash::Sha1,
    }
}

impl Repository {
    /// Whether git takes this for a repository.
    pub(super) fn is_valid(&self) -> bool {
        head::is_valid(&self.head) && is_entered(&self.objects) && is_entered(&self.refs)
    }
}

/// Whether a folder is there that its owner may enter.
pub(super) fn is_entered(found: &Found) -> bool {
    match found {
        Found::Folder(stamp) => stamp.mode & 0o100 != 0,
        Found::Link(..) => true,
        _ => false,
    }
}
