//! A look at a repository: everything that decides what git runs there, in git's own order. It
//! remembers what it depended on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::config::{self, Entry};
use super::index::{self, Hash};
use super::reach::{Found, Reach, Stamp, tidy};
use super::seen::{Program, Repository, Settings};
use super::{hooks, keys, trail};

/// The longest configuration that is read, and the longest hook that is kept.
pub(super) const MOST_BYTES: u64 = 1 << 20;
/// The longest index that is looked into.
const MOST_INDEX_BYTES: u64 = 128 << 20;
/// The most files that a configuration includes, and programs that it names.
const MOST_NAMED: usize = 64;
/// The most repositories that one index names.
const MOST_GITLINKS: usize = 1024;

/// A look.
pub(super) struct Look<'r> {
    pub(super) reach: &'r Reach,
    pub(super) depends: Vec<(PathBuf, Option<Stamp>)>,
    links: Vec<(PathBuf, Found)>,
}

impl<'r> Look<'r> {
    pub(super) fn new(reach: &'r Reach) -> Self {
        Self {
            reach,
            depends: Vec::new(),
            links: Vec::new(),
        }
    }

    pub(super) fn find(&mut self, path: &Path, most: u64) -> Found {
        let found = self.reach.find(path, most);
        self.depends
            .push((path.to_path_buf(), found.stamp().copied()));
        found
    }

    /// What a path really is, if that is in reach. Links on the way are kept.
    pub(super) fn follow(&mut self, path: &Path) -> Option<PathBuf> {
        let trail = trail::follow(self.reach, path);
        for (link, found) in trail.links {
            if !self.links.iter().any(|(known, _)| *known == link) {
                self.depends.push((link.clone(), found.stamp().copied()));
                self.links.push((link, found));
            }
        }
        trail.end
    }

    pub(super) fn repository(&mut self, work: &Path, at: PathBuf) -> Repository {
        let commondir = self.find(&at.join("commondir"), MOST_BYTES);
        let shared = commondir.bytes().and_then(|bytes| trail::plain(&at, bytes));
        let common = shared.unwrap_or_else(|| at.clone());
        let mut settings = Vec::new();
        let mut entries = Vec::new();
        for path in [common.join("config"), at.join("config.worktree")] {
            self.settings(&path, (work, &at), &mut settings, &mut entries);
        }
        let hooks_at = hooks_path(&entries, work, &common).filter(|path| self.reach.holds(path));
        let hooks_at = hooks_at.and_then(|path| self.follow(&path));
        let (hooks_folder, (hooks, hooks_are_all)) = match &hooks_at {
            Some(path) => (self.find(path, 0), hooks::of(self, path)),
            None => (Found::Absent, (Vec::new(), true)),
        };
        let mut programs = self.programs(work, &entries);
        for (name, found) in &hooks {
            if let (Found::Link(..), Some(folder)) = (found, &hooks_at) {
                programs.extend(self.program(&folder.join(name)));
            }
        }
        let (index, gitlinks) = self.gitlinks(work, &at, hash_of(&entries));
        let attributes_at = self.follow(&common.join("info/attributes"));
        Repository {
            folder: self.find(&at, 0),
            head: self.find(&at.join("HEAD"), MOST_BYTES),
            objects: self.find(&common.join("objects"), 0),
            refs: self.find(&common.join("refs"), 0),
            info: self.find(&common.join("info"), 0),
            attributes: match &attributes_at {
                Some(path) => self.find(path, MOST_BYTES),
                None => Found::Absent,
            },
            attributes_at,
            index,
            index_is_known: gitlinks.is_some(),
            gitlinks: gitlinks.unwrap_or_default(),
            settings,
            hooks_at,
            hooks_folder,
            hooks,
            hooks_are_all,
            programs,
            commondir,
            common,
            at,
            links: std::mem::take(&mut self.links),
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
        let Some(path) = self.follow(path) else {
            return;
        };
        if files.len() >= MOST_NAMED || files.iter().any(|known| known.path == path) {
            return;
        }
        let found = self.find(&path, MOST_BYTES);
        let parsed = match &found {
            Found::File(_, bytes) => config::parse(bytes).ok(),
            Found::Absent => Some(Vec::new()),
            _ => None,
        };
        let running = parsed.as_ref().map(|parsed| running(parsed, of));
        files.push(Settings {
            path: path.clone(),
            found,
            running,
        });
        for entry in parsed.unwrap_or_default() {
            let is_include = entry.name == "path"
                && (entry.section == "include" || entry.section == "includeif");
            let folder = path.parent().unwrap_or(&path);
            let included = folder.join(entry.text());
            if is_include && self.reach.holds(&tidy(&included)) {
                self.settings(&included, of, files, entries);
            }
            entries.push(entry);
        }
    }

    /// The index, and the repositories that it names; none of those if it was not understood.
    fn gitlinks(&mut self, work: &Path, at: &Path, hash: Hash) -> (Found, Option<Vec<PathBuf>>) {
        let found = self.find(&at.join("index"), MOST_INDEX_BYTES);
        let named = match &found {
            Found::Absent => Some(Vec::new()),
            Found::File(_, bytes) => self.named_by(at, bytes, hash),
            _ => None,
        };
        let named = named.filter(|named| named.len() <= MOST_GITLINKS);
        let gitlinks = named.map(|named| named.iter().map(|path| tidy(&work.join(path))).collect());
        // Its content is of no use any more.
        let found = match found {
            Found::File(stamp, _) => Found::Closed(stamp),
            other => other,
        };
        (found, gitlinks)
    }

    fn named_by(&mut self, at: &Path, bytes: &[u8], hash: Hash) -> Option<Vec<PathBuf>> {
        let index = index::read(bytes, hash, MOST_GITLINKS)?;
        let other = index.link.as_ref().and_then(|link| link.name.as_ref());
        let Some(other) = other else {
            return Some(index.gitlinks);
        };
        let other = self.find(&at.join(other), MOST_INDEX_BYTES);
        let rest = index::shared(other.bytes()?, hash, &index, MOST_GITLINKS)?;
        Some([index.gitlinks, rest].concat())
    }

    /// Files that settings name, as programs or among a program's words.
    fn programs(&mut self, work: &Path, entries: &[Entry]) -> Vec<Program> {
        let mut programs: Vec<Program> = Vec::new();
        let running = entries.iter().filter(|entry| keys::runs(entry));
        for entry in
            running.filter(|entry| entry.section != "alias" || entry.text().starts_with('!'))
        {
            let words = entry.text().trim_start_matches('!').split_whitespace();
            for word in words.map(|word| word.trim_matches(['"', '\'', ';'])) {
                let named = work.join(word);
                let is_new = tidy(&named) != work && !programs.iter().any(|one| one.named == named);
                if programs.len() >= MOST_NAMED || !is_new || !self.reach.holds(&tidy(&named)) {
                    continue;
                }
                // A word that does not look like a program is one only if there is one.
                let may_be = looks_like_a_file(word) && !keys::names_data(entry);
                if !may_be && self.reach.stamp(&named).is_none() {
                    continue;
                }
                programs.extend(self.program(&named));
            }
        }
        programs
    }

    fn program(&mut self, named: &Path) -> Option<Program> {
        let end = self.follow(named)?;
        let found = self.find(&end, 0);
        (!matches!(found, Found::Folder(_))).then(|| Program {
            named: named.to_path_buf(),
            end,
            found,
        })
    }

    /// What is in a folder, by name: no more than this.
    pub(super) fn list(&self, folder: &Path, most: usize) -> Vec<OsString> {
        self.reach.list(folder, most)
    }
}

/// Whether a word of a command line would be taken for a file by whoever reads it.
fn looks_like_a_file(word: &str) -> bool {
    let is_odd = |c: char| "$%*(){}[]<>|&=:".contains(c);
    !word.starts_with('-') && word.contains(['/', '.']) && !word.contains(is_odd)
}

/// The settings that could run something.
fn running(parsed: &[Entry], (work, at): (&Path, &Path)) -> Vec<Entry> {
    let is_own_work_tree =
        |entry: &Entry| entry.key() == "core.worktree" && tidy(&at.join(entry.text())) == work;
    let mut running: Vec<Entry> = parsed
        .iter()
        .filter(|entry| keys::runs(entry) && !is_own_work_tree(entry))
        .cloned()
        .collect();
    running.sort();
    running
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
