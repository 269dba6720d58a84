//! What has changed in git's set-up so that it could run something new, or would not find its
//! repository any more and take another for it; and what is to be done about each.
//!
//! Pure: it compares what was seen before a run with what is seen after it; `repository` does so inside
//! of a repository.

mod repository;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Care;
use super::reach::{Found, Reach};
use super::runs::Trust;
use super::seen::{Seen, gitfile};

/// Something to be mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: PathBuf,
    pub(crate) remedy: Remedy,
    pub(crate) reason: String,
}

/// What mends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// It is given another name.
    SetAside,
    /// It gets its content of before; what is there now is kept under another name.
    PutBack { bytes: Arc<[u8]>, mode: u32 },
    /// It is a link again.
    LinkBack(PathBuf),
    /// It is a folder again.
    Folder { mode: u32 },
    /// It gets its permissions back.
    Mode(u32),
}

/// What makes of something what it was.
pub(crate) fn put_back(then: &Found) -> Remedy {
    match then {
        Found::File(stamp, bytes) => Remedy::PutBack {
            bytes: Arc::clone(bytes),
            mode: stamp.permissions(),
        },
        Found::Link(_, target) => Remedy::LinkBack(target.clone()),
        Found::Folder(stamp) => Remedy::Folder {
            mode: stamp.permissions(),
        },
        Found::Absent | Found::Closed(_) | Found::Other(_) => Remedy::SetAside,
    }
}

/// What a run is measured by.
#[derive(Clone, Copy)]
pub(super) struct Measure<'s> {
    pub(super) care: Care,
    pub(super) trust: Trust,
    pub(super) reach: &'s Reach,
    /// Everything that was seen at its beginning.
    pub(super) all: &'s [Arc<Seen>],
}

/// What is to be done about a folder.
pub(super) fn findings(before: &Seen, after: &Seen, measure: Measure<'_>) -> Vec<Finding> {
    let mut found = Findings {
        measure,
        list: Vec::new(),
    };
    found.dot_git(before, after);
    if let Some(link) = &after.link
        && before.link.as_ref() != Some(link)
    {
        found.add(link, Remedy::SetAside, "it leads git to another repository");
    }
    found.bare(before, after);
    if !found.list.is_empty() {
        // What is behind it is looked at once this is settled.
        return found.list;
    }
    if let Some(now) = &after.repository {
        let same = before.repository.as_ref().filter(|then| then.at == now.at);
        found.repository(same, now);
    }
    found.list
}

/// An index that names more repositories than are looked at, as a finding.
pub(super) fn too_many(before: Option<&Seen>, after: &Seen) -> Option<Finding> {
    let now = after.repository.as_ref()?;
    let then = before.and_then(|seen| seen.repository.as_ref());
    let is_new = then.is_none_or(|then| !then.index.is_like(&now.index));
    (is_new && !now.gitlinks.is_empty()).then(|| Finding {
        path: now.at.join("index"),
        remedy: Remedy::SetAside,
        reason: "it names more repositories than can be looked at".to_owned(),
    })
}

struct Findings<'s> {
    measure: Measure<'s>,
    list: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, path: &Path, remedy: Remedy, reason: impl Into<String>) {
        self.list.push(Finding {
            path: path.to_path_buf(),
            remedy,
            reason: reason.into(),
        });
    }

    /// Whether something is as it was. What another run may have made is so only if nobody has
    /// touched it.
    fn is_same(&self, then: &Found, now: &Found) -> bool {
        if self.measure.trust.holds(then) {
            then.is_like(now)
        } else {
            then.stamp() == now.stamp()
        }
    }

    /// Puts something back as it was, or aside if it was not there or may have been made by another
    /// run. What that made and is gone stays so.
    fn restore(&mut self, path: &Path, then: &Found, now: &Found, reason: impl Into<String>) {
        if self.measure.trust.holds(then) {
            self.add(path, put_back(then), reason);
        } else if now.exists() {
            self.add(path, Remedy::SetAside, reason);
        }
    }

    /// The `.git` of a folder: its kind, where it leads, and whether it can be entered.
    fn dot_git(&mut self, before: &Seen, after: &Seen) {
        let path = after.folder.join(".git");
        match (&before.dot_git, &after.dot_git) {
            (Found::Folder(then), Found::Folder(now)) => {
                self.mode(&path, then.permissions(), now.permissions());
            }
            (then, now) if self.is_same(then, now) => {}
            (Found::Absent | Found::Other(_), Found::File(_, bytes)) => {
                let target = gitfile(&after.folder, bytes);
                if !target.is_some_and(|target| self.measure.reach.holds(&target)) {
                    self.add(&path, Remedy::SetAside, "it leads git out of the workspace");
                }
            }
            // A repository that came into being is looked at like any other; one that is gone runs
            // nothing.
            (Found::Absent | Found::Other(_), Found::Folder(_))
            | (_, Found::Absent | Found::Other(_)) => {}
            (then, now) => self.restore(&path, then, now, "it leads git to another repository"),
        }
    }

    /// A folder that became a repository by what lies in it: what was not there before goes, be it
    /// the last of the parts.
    fn bare(&mut self, before: &Seen, after: &Seen) {
        let Some(now) = &after.bare else {
            return;
        };
        let is_known = before.bare.as_ref().is_some_and(|then| {
            let mut both = then.parts.iter().zip(&now.parts);
            let trust = self.measure.trust;
            let is_the_users = then.parts.iter().all(|(_, found)| trust.holds(found));
            is_the_users || both.all(|((_, then), (_, now))| self.is_same(then, now))
        });
        if is_known {
            return;
        }
        let was_there = |path: &Path, found: &Found| {
            let mut depends = before.depends.iter();
            let known = depends.any(|(known, stamp)| known == path && stamp.is_some());
            known && self.measure.trust.holds(found)
        };
        let there = now.parts.iter().filter(|(_, found)| found.exists());
        let mut there = there.map(|(name, found)| (after.folder.join(name), found));
        let new = there.find(|(path, found)| !was_there(path, found));
        let path = new.map_or_else(|| after.folder.join("HEAD"), |(path, _)| path);
        let reason = "it makes a repository of the folder that it is in";
        self.add(&path, Remedy::SetAside, reason);
    }

    /// A folder that its owner could use and cannot any more.
    fn mode(&mut self, path: &Path, then: u32, now: u32) {
        if then & !now & 0o700 != 0 {
            let reason = "git could not enter it any more";
            self.add(path, Remedy::Mode(then), reason);
        }
    }

    /// Whether something was read-only for the run from its beginning to its end: the same node,
    /// which has no other name. Whoever changed it was outside.
    fn is_covered(&self, then: &Found, now: &Found) -> bool {
        match (self.measure.care.covers, then, now) {
            (super::Covers::InForce, Found::File(then, _), Found::File(now, _)) => {
                then.node == now.node && now.links == 1
            }
            (super::Covers::InForce, Found::Folder(then), Found::Folder(now)) => {
                then.node == now.node
            }
            _ => false,
        }
    }
}
