//! What git would run, and what keeps it so.
//!
//! The user's next `git status` outside the fence runs whatever the repository's set-up says:
//! programs that settings name, hooks, those of repositories that it finds instead of its own. Two
//! things keep a command from changing that. What exists when a run begins is made read-only
//! ([`guarded`]). And what could only be held by names that git itself would stumble over is
//! compared before and after every run ([`Setup::of`], [`Setup::mend`]): what is new and could run
//! something is put back or set aside, never deleted, and reported. Ordinary work is left alone.
//!
//! - `config`, `index`, `split`, `head`, `keys`: git's formats, and which settings are harmless. Pure
//! - `reach`: roots held open, looked at without following links; `trail`: where links lead
//! - `known`: repositories further down; `guard`: what of them is read-only for a run
//! - `look`, `hooks`, `seen`, `compare`, `mend`: what there is, what has changed, what is done about
//!   it
//! - `runs`: others that live at the same time, whose doings are nobody's set-up
//!
//! It runs no git, and reads nothing outside the writable roots.

pub(crate) mod compare;
mod config;
mod guard;
mod head;
mod hooks;
mod index;
mod keys;
mod known;
mod look;
mod memory;
mod mend;
pub(crate) mod reach;
mod repair;
mod runs;
pub(crate) mod seen;
mod split;
mod trail;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use ringfence_confine::{account, privilege};
use ringfence_policy::permissions::SandboxPolicy;

use crate::line;
use crate::names::{self, Folders, Names};
use crate::standing::Standing;
use crate::startup::StartUp;
use crate::testament::Testator;
use crate::warden::protocol::Identity;
use crate::ways::Ways;
use reach::Reach;
pub(crate) use runs::Beginning;
use runs::{Living, Trust};

pub(crate) use guard::guarded;
pub(crate) use known::Known;
pub(crate) use memory::Memory;
pub use repair::{Amends, Repair};
pub(crate) use seen::Seen;

/// What is added to the name of something that was set aside.
pub(crate) const SET_ASIDE: &str = ".set-aside";

/// The most folders that are compared.
const MOST_PLACES: usize = 2048;
/// How often what was mended is looked at again: behind one thing there may be another.
const MOST_ROUNDS: u32 = 32;
/// How long the end of a run is waited for.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// Which parts of git's set-up a policy protects, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Care {
    settings: bool,
    hooks: bool,
    covers: Covers,
}

/// Whether what exists is read-only for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Covers {
    InForce,
    None,
}

impl Care {
    /// What a policy protects.
    pub(crate) fn of(sandbox: &SandboxPolicy, covers: Covers) -> Self {
        let protects = |path: &str| {
            sandbox
                .protected_paths
                .iter()
                .any(|known| known == Path::new(path))
        };
        Self {
            settings: protects(".git/config"),
            hooks: protects(".git/hooks"),
            covers,
        }
    }

    /// Whether nothing of git's is protected.
    fn is_none(self) -> bool {
        !self.settings && !self.hooks
    }
}

/// Git's set-up in the writable roots, at the beginning of a run.
#[derive(Debug)]
pub(crate) struct Setup {
    reach: Reach,
    before: Vec<Arc<Seen>>,
    start_up: Arc<StartUp>,
    names: Arc<Names>,
    ways: Arc<Ways>,
    /// What the folders of those names were like, if that tells whether anything was done there.
    folders: Option<Folders>,
    /// What was covered when the run began.
    covered: Vec<Standing>,
    /// Who is told that this was compared, once it was.
    testator: Option<Testator>,
    began: SystemTime,
    care: Care,
    /// Whether covers may have been lost.
    in_doubt: AtomicBool,
    owner: Identity,
    memory: Arc<Memory>,
    trust: Trust,
    /// Until everything is mended.
    _living: Living,
}

impl Setup {
    /// Takes it down: what was seen of git's, of files that run by themselves, of other protected
    /// names, and of the ways there.
    pub(crate) fn of(
        reach: Reach,
        before: Vec<Arc<Seen>>,
        (start_up, names, ways): (Arc<StartUp>, Arc<Names>, Arc<Ways>),
        care: Care,
        owner: &Identity,
        memory: &Arc<Memory>,
        beginning: Beginning,
    ) -> Self {
        let (living, trust) = beginning.over();
        Self {
            reach,
            before,
            folders: names.folders(),
            start_up,
            names,
            ways,
            covered: Vec::new(),
            testator: None,
            began: SystemTime::now(),
            care,
            in_doubt: AtomicBool::new(false),
            owner: owner.clone(),
            memory: Arc::clone(memory),
            trust,
            _living: living,
        }
    }

    /// The same beside the sessions of other processes, as far as they are known here.
    pub(crate) fn beside_others(self, registry: Option<&Path>) -> Self {
        let since = registry.and_then(crate::mark::others_since);
        Self {
            trust: self.trust.before(since),
            ..self
        }
    }

    /// The same, told to somebody who outlives the harness.
    pub(crate) fn told_to(self, warden: OwnedFd) -> Self {
        let testator = Testator::before(warden, &self.names, &self.start_up, &self.ways);
        Self {
            testator: Some(testator),
            ..self
        }
    }

    /// The same for a run for which this was covered when it began.
    pub(crate) fn with_covered(self, covered: Vec<Standing>) -> Self {
        if let Some(testator) = &self.testator {
            testator.covered(&covered);
        }
        Self { covered, ..self }
    }

    /// A cover was lost and may have been used, or the run was killed before it could tell: from now
    /// on nothing counts as having been covered. A file that has the number of the one before may be
    /// another, since file systems use numbers again.
    pub(crate) fn doubt_covers(&self) {
        self.in_doubt.store(true, Ordering::Relaxed);
    }

    fn care(&self) -> Care {
        let covers = if self.in_doubt.load(Ordering::Relaxed) {
            Covers::None
        } else {
            self.care.covers
        };
        Care {
            covers,
            ..self.care
        }
    }

    /// Puts back whatever has changed so that git could run something new, and sets aside what would
    /// run by itself, and what has come to stand at protected names.
    pub(crate) fn mend(&self) -> Vec<Repair> {
        self.mend_also(&[])
    }

    /// The same, and in repositories that have come into being elsewhere in the roots: whoever adds
    /// one of those to the index has git look into it from then on. This walks the roots, within
    /// the bounds of the first look, so it is for when nobody waits.
    pub(crate) fn mend_all(&self) -> Vec<Repair> {
        let roots = self.reach.roots();
        let found = roots.flat_map(|root| self.memory.known(root));
        let also: Vec<PathBuf> = found.filter_map(|known| known.work_tree()).collect();
        self.mend_also(&also)
    }

    /// The same, kept with what else there is to be told with what comes next.
    pub(crate) fn mend_and_keep(&self, mut told: Vec<Repair>) {
        told.extend(self.mend_all());
        self.memory.tell(told);
    }

    /// What becomes of paths whose covers were lost, and that a run may have used before it was
    /// ended. What git reads is compared like everything else of git's; the rest is set aside.
    pub(crate) fn see_to_exposed(&self, paths: Vec<PathBuf>) -> Vec<Repair> {
        let see_to = |path: PathBuf| {
            let is_gits = names::is_gits(&path);
            let is_there = path.symlink_metadata().is_ok() && !crate::mark::is_at(&path);
            let mended = Repair::exposed(path);
            if is_gits || !is_there {
                return mended;
            }
            let finding = compare::Finding {
                path: mended.path,
                remedy: compare::Remedy::SetAside,
                reason: mended.reason,
            };
            mend::mend(&self.reach, &finding)
        };
        as_somebody(&self.owner, || paths.into_iter().map(see_to).collect())
    }

    /// Sets aside what has come to stand at protected names that nothing held for a moment.
    fn clear_names(&self) -> Vec<Repair> {
        let is_untouched = |folders| self.names.are_untouched(folders);
        if self.folders.as_ref().is_some_and(is_untouched) {
            return Vec::new();
        }
        let findings = self.names.findings(&self.covered);
        if findings.is_empty() {
            return Vec::new();
        }
        as_somebody(&self.owner, || set_aside(self.names.reach(), &findings))
    }

    /// Opens what was closed so that nobody could look.
    fn open_ways(&self) -> Vec<Repair> {
        if self.ways.closed(&self.reach).is_empty() {
            return Vec::new();
        }
        as_somebody(&self.owner, || self.ways.open(&self.reach))
    }

    fn mend_also(&self, also: &[PathBuf]) -> Vec<Repair> {
        let mut mended = self.open_ways();
        mended.extend(self.clear_names());
        for _ in 0..MOST_ROUNDS {
            let findings = self.findings(also);
            if findings.is_empty() {
                break;
            }
            let round = as_somebody(&self.owner, || {
                let done = findings
                    .iter()
                    .map(|finding| mend::mend(&self.reach, finding));
                done.collect::<Vec<_>>()
            });
            let failed = round
                .iter()
                .all(|one| matches!(one.amends, Amends::Failed(_)));
            mended.extend(round);
            if failed {
                break;
            }
        }
        mended
    }

    /// What there is to mend in the places of before, in those that indexes name by now, and in
    /// these.
    fn findings(&self, also: &[PathBuf]) -> Vec<compare::Finding> {
        let places = self.before.iter().map(|seen| seen.folder.clone());
        let also = also.iter().filter(|_| !self.care.is_none()).cloned();
        let places = places.chain(also).collect();
        let (after, extent) = look(&self.reach, places, &self.memory);
        let named: Vec<&PathBuf> = after.iter().flat_map(|seen| seen.gitlinks()).collect();
        let mut findings = self.start_up.findings(&self.reach, self.care.covers);
        let measure = compare::Measure {
            care: self.care(),
            trust: self.trust,
            reach: &self.reach,
            all: &self.before,
        };
        if extent == Extent::CutShort {
            let then = self.before.iter().map(Some).chain(std::iter::repeat(None));
            let both = then.zip(&after);
            findings.extend(
                both.filter_map(|(then, now)| compare::too_many(then.map(Arc::as_ref), now)),
            );
        }
        for (index, now) in after.iter().enumerate() {
            // Places keep their order; those that came later follow.
            match self.before.get(index) {
                Some(then) if Arc::ptr_eq(then, now) => {}
                Some(then) => {
                    findings.extend(compare::findings(then, now, measure));
                }
                // One that the user made between two runs.
                None if !named.contains(&&now.folder) && now.is_older_than(self.began) => {}
                None => {
                    let nothing = Seen::nothing(&now.folder);
                    findings.extend(compare::findings(&nothing, now, measure));
                }
            }
        }
        // What cannot be entered cannot be judged: it looks as if everything in it were gone.
        let is_mode =
            |finding: &compare::Finding| matches!(finding.remedy, compare::Remedy::Mode(_));
        if findings.iter().any(is_mode) {
            findings.retain(is_mode);
        }
        findings
    }

    /// Mends once more when a run is over, whose first process this is: at once if it may still have
    /// been at work, or beside what follows.
    pub(crate) fn see_off(self, first: OwnedFd, leaving: Leaving) {
        let pending = self.memory.pending();
        let wait_and_mend = move || {
            line::gone_within(&first, ENDS_WITHIN);
            self.mend_and_keep(Vec::new());
            drop(pending);
        };
        match (leaving, tokio::runtime::Handle::try_current()) {
            (Leaving::Idle, Ok(runtime)) => drop(runtime.spawn_blocking(wait_and_mend)),
            _ => wait_and_mend(),
        }
    }
}

/// Does what is to be done about names.
pub(crate) fn set_aside(reach: &Reach, findings: &[compare::Finding]) -> Vec<Repair> {
    let done = findings.iter().map(|finding| mend::mend(reach, finding));
    done.collect()
}

/// In what state a run is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// It has ended and left nothing running.
    Idle,
    /// Something of it may be at work.
    Busy,
}

/// Where git may be started: at the tops of roots, and in repositories further down.
fn places(reach: &Reach, known: &[Known]) -> Vec<PathBuf> {
    let tops = reach.roots().map(Path::to_path_buf);
    tops.chain(known.iter().filter_map(Known::work_tree))
        .collect()
}

/// Looks at the tops of the roots, at repositories that are known, and at those that their indexes
/// name. Nothing if a policy protects nothing of git's.
pub(crate) fn seen(reach: &Reach, known: &[Known], care: Care, memory: &Memory) -> Vec<Arc<Seen>> {
    if care.is_none() {
        return Vec::new();
    }
    look(reach, places(reach, known), memory).0
}

/// Whether a look has got to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    /// There was more than is looked at.
    CutShort,
}

/// Looks at places, and at those that the indexes there name.
fn look(reach: &Reach, places: Vec<PathBuf>, memory: &Memory) -> (Vec<Arc<Seen>>, Extent) {
    let mut seen: Vec<Arc<Seen>> = Vec::new();
    let mut known = std::collections::HashSet::new();
    let mut waiting = std::collections::VecDeque::from(places);
    while let Some(place) = waiting.pop_front() {
        if !reach.holds(&place) || !known.insert(place.clone()) {
            continue;
        }
        if seen.len() >= MOST_PLACES {
            return (seen, Extent::CutShort);
        }
        let one = memory.look(reach, &place);
        waiting.extend(one.gitlinks().cloned());
        seen.push(one);
    }
    (seen, Extent::Whole)
}

/// Does something as a user, on a thread of its own if that is somebody else.
fn as_somebody<T: Send + Default>(owner: &Identity, what: impl FnOnce() -> T + Send) -> T {
    if account::own_uid() == owner.uid {
        return what();
    }
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| -> io::Result<T> {
            privilege::become_user(owner.uid, owner.gid, owner.groups.as_deref())?;
            Ok(what())
        });
        // A thread that could not become that user has done nothing.
        thread.join().ok().and_then(Result::ok).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests;
