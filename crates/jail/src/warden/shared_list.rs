//! The list of what can be read, made once for all stages of a fence.
//!
//! It takes a call or three for everything in the folders around denied paths, most of the time that
//! a stage takes to get ready. Rules of Landlock's belong to files and folders wherever they are
//! mounted, so that the warden can put them together before it forks, and a stage only adds what it
//! has mounted itself. The list says which folders it depends on: it is used for as long as those are
//! as they were, and looked at once more by the stage, under its watch.

use std::cell::{Ref, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ringfence_confine::landlock::{Grant, Rules};
use ringfence_confine::mount;
use rustix::fs::{AtFlags, CWD, Stat};

use crate::git::reach::Stamp;
use crate::git::seen::is_older;
use crate::real_paths;

use super::protocol::{Fence, Identity, RawPath};
use super::readable::{self, Denied, OnList};

/// What each stage mounts for itself, or finds mounted by the session.
const MOUNTED: &[&str] = &["/dev", "/proc", "/run", "/sys", "/tmp"];

/// How often a list is used: each stage adds its own `/proc` to it.
const MOST_USES: u32 = 128;

/// The list of the fence that the last stages had.
#[derive(Default)]
pub(super) struct SharedList(RefCell<Option<Kept>>);

struct Kept {
    fence: Fence,
    /// None for a fence that one stage has had: there may be no second one.
    list: Option<List>,
}

/// A list.
pub(super) struct List {
    rules: Rules,
    /// The folders that were listed, which a stage watches.
    listed: Vec<PathBuf>,
    depends: Depends,
    uses: u32,
}

impl SharedList {
    /// Sees to it that there is a list for a stage with this fence, if it is not the first one. What
    /// cannot be shared each stage makes for itself.
    pub(super) fn refresh(
        &self,
        fence: &Fence,
        identity: &Identity,
        empty: impl FnOnce() -> Option<Rules>,
    ) {
        let mut kept = self.0.borrow_mut();
        match kept.as_mut().filter(|kept| kept.fence == *fence) {
            Some(Kept {
                list: Some(list), ..
            }) if list.uses < MOST_USES && list.depends.are_still_so() => {
                list.uses += 1;
            }
            Some(kept) => {
                let made = empty().and_then(|rules| List::of(fence, identity, rules).ok());
                kept.list = made.flatten();
            }
            None => {
                let fence = fence.clone();
                *kept = Some(Kept { fence, list: None });
            }
        }
    }

    /// The list for a stage with this fence, if there is one.
    pub(super) fn of(&self, fence: &Fence) -> Option<Ref<'_, List>> {
        let is_for = |kept: &&Kept| kept.fence == *fence;
        Ref::filter_map(self.0.borrow(), |kept| {
            kept.as_ref()
                .filter(is_for)
                .and_then(|kept| kept.list.as_ref())
        })
        .ok()
    }
}

impl List {
    /// None if it could not be relied on.
    fn of(fence: &Fence, identity: &Identity, mut rules: Rules) -> io::Result<Option<Self>> {
        let began = SystemTime::now();
        let denied = readable::denied(fence, identity);
        let Some(depends) = Depends::of(fence, &denied).filter(|depends| depends.is_older(began))
        else {
            return Ok(None);
        };
        let mut listed = Vec::new();
        readable::grant_but(&mut rules, &denied, &mut |folder| {
            listed.push(folder.to_path_buf());
            Ok(())
        })?;
        let list = Self {
            rules,
            listed,
            depends,
            uses: 1,
        };
        // What was changed meanwhile may be on it or not.
        Ok(list.depends.are_still_so().then_some(list))
    }

    /// The rules for the calling stage, whose view is complete, and who is told which folders are
    /// listed. None if the list does not hold any more.
    pub(super) fn take(&self, on_list: OnList<'_>) -> io::Result<Option<Rules>> {
        for folder in &self.listed {
            on_list(folder)?;
        }
        // What happens from here on is noticed.
        if !self.depends.folders_are_still_so() {
            return Ok(None);
        }
        let mut rules = self.rules.share()?;
        for path in MOUNTED {
            match mount::open_path(Path::new(path)) {
                Ok(place) => rules
                    .grant(place.as_fd(), Grant::Read)
                    .map_err(io::Error::other)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(rules))
    }
}

/// Everything whose change could make another list.
struct Depends {
    /// The folders on the way to each denied path, as it is named and as it really is.
    folders: Vec<(PathBuf, Stamp)>,
    /// Denied paths themselves, by which it is told who could read them.
    access: Vec<(PathBuf, Access)>,
    /// Those inside writable roots, where folders change all the time, and what they really are.
    inside: Vec<(PathBuf, PathBuf)>,
}

type Access = (u64, u32, u32, u32);

impl Depends {
    /// None where a stage may see something else than the warden.
    fn of(fence: &Fence, denied: &Denied) -> Option<Self> {
        let roots: Vec<PathBuf> = fence.writable.iter().map(RawPath::to_path).collect();
        let named: Vec<PathBuf> = fence.denied.iter().map(RawPath::to_path).collect();
        let is_own = |path: &Path| MOUNTED.iter().any(|own| path.starts_with(own));
        let is_tmp = |path: &Path| path.starts_with("/tmp");
        if named.iter().chain(denied).any(|path| is_tmp(path)) {
            return None;
        }
        let all: HashSet<&Path> = named.iter().map(PathBuf::as_path).collect();
        let is_below_another =
            |path: &Path| path.ancestors().skip(1).any(|above| all.contains(above));
        let (inside, outside): (Vec<PathBuf>, Vec<PathBuf>) = named
            .iter()
            .chain(denied)
            .filter(|path| !is_own(path) && !is_below_another(path))
            .cloned()
            .partition(|path| roots.iter().any(|root| path.starts_with(root)));
        let above = outside.iter().flat_map(|path| path.ancestors().skip(1));
        let above: BTreeSet<&Path> = above.collect();
        // What does not exist cannot come into being without a change of the folder around it.
        let folders = above.into_iter().filter_map(|path| {
            let found = look(path)?;
            Some((path.to_path_buf(), Stamp::of(&found)))
        });
        Some(Self {
            folders: folders.collect(),
            access: outside
                .iter()
                .filter_map(|path| Some((path.clone(), access(path)?)))
                .collect(),
            inside: inside
                .into_iter()
                .map(|path| (path.clone(), real_paths::resolved(&path)))
                .collect(),
        })
    }

    /// Whether a later change could be told.
    fn is_older(&self, when: SystemTime) -> bool {
        self.folders.iter().all(|(_, stamp)| is_older(stamp, when))
    }

    fn are_still_so(&self) -> bool {
        let mut inside = self.inside.iter();
        let mut known = self.access.iter();
        self.folders_are_still_so()
            && known.all(|(path, then)| access(path) == Some(*then))
            && inside.all(|(path, real)| real_paths::resolved(path) == *real)
    }

    /// The same where denied paths are covered.
    fn folders_are_still_so(&self) -> bool {
        let mut folders = self.folders.iter();
        folders.all(|(path, then)| look(path).is_some_and(|found| Stamp::of(&found) == *then))
    }
}

fn look(path: &Path) -> Option<Stat> {
    rustix::fs::statat(CWD, path, AtFlags::empty()).ok()
}

fn access(path: &Path) -> Option<Access> {
    let found = look(path)?;
    Some((found.st_ino, found.st_mode, found.st_uid, found.st_gid))
}
