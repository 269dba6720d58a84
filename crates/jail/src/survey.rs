//! What a launch needs to know of the writable roots: the fence of its policy, and git's set-up and
//! start-up files as they are before it.
//!
//! Looking at all of that costs some hundred calls, and most launches of a session find what the one
//! before found. So a survey says what it depends on, and is made again only once that has changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ringfence_policy::permissions::SandboxPolicy;

use crate::error::LaunchError;
use crate::git::reach::{Reach, Stamp};
use crate::git::{self, Beginning, Care, Covers, Known, Seen, Setup};
use crate::names::Names;
use crate::plan;
use crate::startup::{self, StartUp};
use crate::surroundings::Surroundings;
use crate::warden::protocol::{Fence, Identity, RawPath};
use crate::ways::Ways;

/// What was found.
#[derive(Debug)]
pub(crate) struct Survey {
    sandbox: SandboxPolicy,
    sight: Sight,
    fence: Fence,
    start_up: Arc<StartUp>,
    names: Arc<Names>,
    ways: Arc<Ways>,
    /// Folders, and what they were like: what was found is so for as long as they are.
    depends: Vec<(PathBuf, Option<Stamp>)>,
    /// Whether a change since the look began could be told.
    is_settled: bool,
}

/// The roots as they are now, and what of git's is in them.
#[derive(Debug)]
struct Sight {
    roots: Vec<PathBuf>,
    known: Vec<Known>,
    seen: Vec<Arc<Seen>>,
}

impl Sight {
    fn of(sandbox: &SandboxPolicy, care: Care, surroundings: &Surroundings) -> (Self, Reach) {
        let roots = existing_roots(sandbox);
        let reach = Reach::of(&roots);
        let known: Vec<Known> = roots
            .iter()
            .flat_map(|root| surroundings.repositories(root))
            .collect();
        let seen = git::seen(&reach, &known, care, &surroundings.git);
        let sight = Self { roots, known, seen };
        (sight, reach)
    }

    /// Whether another look has shown nothing else.
    fn is_same(&self, other: &Self) -> bool {
        self.roots == other.roots
            && self.known == other.known
            && self.seen.len() == other.seen.len()
            && (self.seen.iter().zip(&other.seen)).all(|(one, two)| Arc::ptr_eq(one, two))
    }
}

impl Survey {
    /// Looks at what a policy is about: what was found before, if that is still so.
    pub(crate) fn of(
        sandbox: &SandboxPolicy,
        surroundings: &Surroundings,
    ) -> Result<Arc<Self>, LaunchError> {
        let began = SystemTime::now();
        let care = Care::of(sandbox, Covers::InForce);
        let (sight, reach) = Sight::of(sandbox, care, surroundings);
        if let Some(kept) = surroundings.survey()
            && kept.is_still_so(sandbox, &sight, &reach)
        {
            return Ok(kept);
        }
        let survey = Arc::new(Self::made(sandbox, care, sight, &reach, began)?);
        surroundings.keep(&survey);
        Ok(survey)
    }

    fn made(
        sandbox: &SandboxPolicy,
        care: Care,
        sight: Sight,
        reach: &Reach,
        began: SystemTime,
    ) -> Result<Self, LaunchError> {
        let Sight { roots, known, seen } = &sight;
        let watched = startup::watched(sandbox, roots);
        let (guarded, looked_at) = git::guarded(reach, known, seen, care);
        let mut fence = plan::fence(sandbox)?;
        let protected: Vec<PathBuf> = fence.protected.iter().map(RawPath::to_path).collect();
        let also = watched.iter().chain(&looked_at).chain(&protected);
        let depends = stamps(reach, folders(roots, sandbox, also));
        let existing = startup::existing(&watched, roots);
        fence
            .protected
            .extend(plan::in_git_folders(sandbox, known.iter()));
        let also = guarded.iter().chain(&existing.paths);
        fence
            .protected
            .extend(also.map(|path| RawPath::from(path.as_path())));
        let start_up = StartUp::of(reach, &watched, Covers::InForce);
        let mut stamps = depends.iter().filter_map(|(_, stamp)| stamp.as_ref());
        Ok(Self {
            is_settled: stamps.all(|stamp| git::seen::is_older(stamp, began))
                && existing.links == 0
                && sandbox.unix_sockets.is_empty(),
            sandbox: sandbox.clone(),
            sight,
            names: Arc::new(Names::of(&fence)),
            fence,
            start_up: Arc::new(start_up),
            ways: Arc::new(Ways::among(&depends)),
            depends,
        })
    }

    fn is_still_so(&self, sandbox: &SandboxPolicy, sight: &Sight, reach: &Reach) -> bool {
        self.is_settled
            && self.sandbox == *sandbox
            && self.sight.is_same(sight)
            && self
                .depends
                .iter()
                .all(|(path, stamp)| reach.stamp(path) == *stamp)
    }

    /// The fence of a run in namespaces.
    pub(crate) fn fence(&self) -> &Fence {
        &self.fence
    }

    /// What a run's end is compared with. None if there is nothing that it could change.
    pub(crate) fn setup(
        &self,
        beginning: Beginning,
        owner: &Identity,
        surroundings: &Surroundings,
    ) -> Option<Setup> {
        if self.sight.roots.is_empty() {
            return None;
        }
        Some(Setup::of(
            Reach::of(&self.sight.roots),
            self.sight.seen.clone(),
            (
                Arc::clone(&self.start_up),
                Arc::clone(&self.names),
                Arc::clone(&self.ways),
            ),
            Care::of(&self.sandbox, Covers::InForce),
            owner,
            &surroundings.git,
            beginning,
        ))
    }
}

/// The beginning of a run, to be taken before anything is looked at.
pub(crate) fn begin(sandbox: &SandboxPolicy) -> Beginning {
    Beginning::now(&existing_roots(sandbox))
}

/// What the end of a run is compared with where nothing is covered.
pub(crate) fn bare_setup(
    sandbox: &SandboxPolicy,
    owner: &Identity,
    surroundings: &Surroundings,
) -> Option<Setup> {
    let care = Care::of(sandbox, Covers::None);
    let beginning = begin(sandbox);
    let (sight, reach) = Sight::of(sandbox, care, surroundings);
    if sight.roots.is_empty() {
        return None;
    }
    let watched = startup::watched(sandbox, &sight.roots);
    let start_up = Arc::new(StartUp::of(&reach, &watched, Covers::None));
    let ways = stamps(&reach, folders(&sight.roots, sandbox, watched.iter()));
    // Nothing holds names here.
    let others = (start_up, Arc::default(), Arc::new(Ways::among(&ways)));
    let memory = &surroundings.git;
    let seen = sight.seen;
    Some(Setup::of(
        reach, seen, others, care, owner, memory, beginning,
    ))
}

/// What decides what git runs, and what runs by itself, as far as it is there.
pub(crate) fn guarded(sandbox: &SandboxPolicy, surroundings: &Surroundings) -> Vec<PathBuf> {
    let care = Care::of(sandbox, Covers::InForce);
    let (sight, reach) = Sight::of(sandbox, care, surroundings);
    let (mut guarded, _) = git::guarded(&reach, &sight.known, &sight.seen, care);
    let watched = startup::watched(sandbox, &sight.roots);
    guarded.extend(startup::existing(&watched, &sight.roots).paths);
    guarded
}

fn existing_roots(sandbox: &SandboxPolicy) -> Vec<PathBuf> {
    let roots = sandbox.effective_writable_roots().iter();
    roots.filter_map(|root| root.canonicalize().ok()).collect()
}

/// The folders that paths are in, and those on the way there: whichever of the paths comes, goes or
/// becomes a link changes one of them.
fn folders<'p>(
    roots: &[PathBuf],
    sandbox: &'p SandboxPolicy,
    paths: impl Iterator<Item = &'p PathBuf>,
) -> BTreeSet<PathBuf> {
    let named = sandbox.protected_paths.iter().chain(&sandbox.watched_paths);
    let named = named.flat_map(|path| roots.iter().map(move |root| root.join(path)));
    let mut folders = BTreeSet::new();
    for path in named.chain(paths.cloned()) {
        let Some(root) = roots.iter().find(|root| path.starts_with(root)) else {
            continue;
        };
        let above = path.ancestors().skip(1);
        let within = above.take_while(|folder| folder.starts_with(root));
        folders.extend(within.map(Path::to_path_buf));
    }
    folders
}

fn stamps(reach: &Reach, folders: BTreeSet<PathBuf>) -> Vec<(PathBuf, Option<Stamp>)> {
    let stamped = folders.into_iter().map(|folder| {
        let stamp = reach.stamp(&folder);
        (folder, stamp)
    });
    stamped.collect()
}
