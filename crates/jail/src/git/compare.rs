//! What has changed in git's set-up so that it could run something new, or would not find its
//! repository any more and take another for it; and what is to be done about each.
//!
//! Pure: it compares what was seen before a run with what is seen after it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Care;
use super::head;
use super::reach::tidy;
use super::reach::{Found, Reach};
use super::seen::{Repository, Seen, Settings, gitfile, is_entered};

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

/// What is to be done about a folder.
pub(super) fn findings(before: &Seen, after: &Seen, care: Care, reach: &Reach) -> Vec<Finding> {
    let mut found = Findings {
        care,
        list: Vec::new(),
    };
    found.dot_git(before, after, reach);
    if let Some(link) = &after.link
        && before.link.as_ref() != Some(link)
    {
        found.add(link, Remedy::SetAside, "it leads git to another repository");
    }
    if !found.list.is_empty() {
        // What is behind it is looked at once this is settled.
        return found.list;
    }
    found.bare(before, after);
    if let Some(now) = &after.repository {
        let same = before.repository.as_ref().filter(|then| then.at == now.at);
        found.repository(same, now);
    }
    found.list
}

struct Findings {
    care: Care,
    list: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, path: &Path, remedy: Remedy, reason: impl Into<String>) {
        self.list.push(Finding {
            path: path.to_path_buf(),
            remedy,
            reason: reason.into(),
        });
    }

    /// Puts something back as it was, or aside if it was not there.
    fn restore(&mut self, path: &Path, then: &Found, reason: impl Into<String>) {
        self.add(path, put_back(then), reason);
    }

    /// The `.git` of a folder: its kind, where it leads, and whether it can be entered.
    fn dot_git(&mut self, before: &Seen, after: &Seen, reach: &Reach) {
        let path = after.folder.join(".git");
        match (&before.dot_git, &after.dot_git) {
            (Found::Folder(then), Found::Folder(now)) => {
                self.mode(&path, then.permissions(), now.permissions());
            }
            (then, now) if then.is_like(now) => {}
            (Found::Absent | Found::Other(_), Found::File(_, bytes)) => {
                let target = gitfile(bytes).map(|target| tidy(&after.folder.join(target)));
                if !target.is_some_and(|target| reach.holds(&target)) {
                    self.add(&path, Remedy::SetAside, "it leads git out of the workspace");
                }
            }
            // A repository that came into being is looked at like any other; one that is gone runs
            // nothing.
            (Found::Absent | Found::Other(_), Found::Folder(_))
            | (_, Found::Absent | Found::Other(_)) => {}
            (then, _) => self.restore(&path, then, "it leads git to another repository"),
        }
    }

    /// A folder that became a repository by what lies in it.
    fn bare(&mut self, before: &Seen, after: &Seen) {
        if let (None, Some(now)) = (&before.bare, &after.bare)
            && now.exists()
        {
            let reason = "it makes a repository of the folder that it is in";
            self.add(&after.folder.join("HEAD"), Remedy::SetAside, reason);
        }
    }

    fn repository(&mut self, then: Option<&Repository>, now: &Repository) {
        if let Some(then) = then
            && self.lost(then, now)
        {
            return;
        }
        if self.care.settings {
            self.commondir(then, now);
            self.attributes(then, now);
            for settings in &now.settings {
                let known = then.and_then(|then| {
                    let mut known = then.settings.iter();
                    known.find(|known| known.path == settings.path)
                });
                self.settings(known, settings);
            }
        }
        if self.care.hooks {
            self.hooks(then, now);
        }
    }

    /// Whether git would not find a repository any more that it found before.
    fn lost(&mut self, then: &Repository, now: &Repository) -> bool {
        if let (Found::Folder(then), Found::Folder(is)) = (&then.folder, &now.folder) {
            self.mode(&now.at, then.permissions(), is.permissions());
        }
        if !then.is_valid() || !self.list.is_empty() {
            return !self.list.is_empty();
        }
        let reason = "git would not take the repository for one any more";
        if !head::is_valid(&now.head) {
            self.restore(&now.at.join("HEAD"), &then.head, reason);
        }
        for (name, then, is) in [
            ("objects", &then.objects, &now.objects),
            ("refs", &then.refs, &now.refs),
        ] {
            let path = now.common.join(name);
            match (then, is) {
                (Found::Folder(then), Found::Folder(is)) => {
                    self.mode(&path, then.permissions(), is.permissions());
                }
                _ if is_entered(is) => {}
                _ => self.restore(&path, then, reason),
            }
        }
        false
    }

    /// A folder that its owner could use and cannot any more.
    fn mode(&mut self, path: &Path, then: u32, now: u32) {
        if then & !now & 0o700 != 0 {
            let reason = "git could not enter it any more";
            self.add(path, Remedy::Mode(then), reason);
        }
    }

    fn commondir(&mut self, then: Option<&Repository>, now: &Repository) {
        let absent = Found::Absent;
        let was = then.map_or(&absent, |then| &then.commondir);
        if was.is_like(&now.commondir) {
            return;
        }
        let path = now.at.join("commondir");
        match then {
            // A work tree of a repository that is in reach has one.
            None if now.common != now.at && is_linked_work_tree(now) => {}
            _ => self.restore(
                &path,
                was,
                "it has git take settings and hooks from elsewhere",
            ),
        }
    }

    fn attributes(&mut self, then: Option<&Repository>, now: &Repository) {
        let absent = Found::Absent;
        let was = then.map_or(&absent, |then| &then.attributes);
        let info = now.common.join("info");
        if let Found::Link(..) = now.info
            && then.is_none_or(|then| !then.info.is_like(&now.info))
        {
            self.add(
                &info,
                Remedy::SetAside,
                "it leads git's attributes elsewhere",
            );
        } else if !was.is_like(&now.attributes) && drivers(was) != drivers(&now.attributes) {
            let reason = "it has files pass through a program";
            self.restore(&info.join("attributes"), was, reason);
        }
    }

    fn settings(&mut self, then: Option<&Settings>, now: &Settings) {
        let nothing = Vec::new();
        let was = match then {
            Some(then) => then.running.as_ref(),
            None => Some(&nothing),
        };
        if then.is_some_and(|then| {
            then.found.is_like(&now.found) || self.is_covered(&then.found, &now.found)
        }) || was == now.running.as_ref() && matches!(now.found, Found::File(..) | Found::Absent)
        {
            return;
        }
        let new = now
            .running
            .iter()
            .flatten()
            .find(|entry| was.is_none_or(|was| !was.contains(entry)));
        let reason = match new {
            Some(entry) => format!("`{}` could make git run something", entry.key()),
            None => "a setting about what git runs has changed".to_owned(),
        };
        let absent = Found::Absent;
        self.restore(&now.path, then.map_or(&absent, |then| &then.found), reason);
    }

    fn hooks(&mut self, then: Option<&Repository>, now: &Repository) {
        let Some(folder) = &now.hooks_at else {
            return;
        };
        let then = then.filter(|then| then.hooks_at.as_ref() == Some(folder));
        if let Some(then) = then
            && self.is_covered(&then.hooks_folder, &now.hooks_folder)
        {
            return;
        }
        if let Found::Link(..) = now.hooks_folder {
            if then.is_none_or(|then| !then.hooks_folder.is_like(&now.hooks_folder)) {
                self.add(folder, Remedy::SetAside, "it leads git to other hooks");
            }
            return;
        }
        for (name, is) in &now.hooks {
            let was = then.and_then(|then| {
                let mut known = then.hooks.iter();
                known.find(|(known, _)| known == name).map(|(_, was)| was)
            });
            if !was.is_some_and(|was| was.is_like(is)) {
                let reason = "git would run it as a hook";
                self.restore(&folder.join(name), was.unwrap_or(&Found::Absent), reason);
            }
        }
    }

    /// Whether something was read-only for the run from its beginning to its end: the same node,
    /// which has no other name. Whoever changed it was outside.
    fn is_covered(&self, then: &Found, now: &Found) -> bool {
        match (self.care.covers, then, now) {
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

/// Whether a repository is a work tree of another, kept where that keeps them.
fn is_linked_work_tree(now: &Repository) -> bool {
    now.at
        .parent()
        .is_some_and(|parent| parent == now.common.join("worktrees"))
}

/// The lines of attributes that have programs called.
fn drivers(found: &Found) -> Option<Vec<String>> {
    let bytes = match found {
        Found::Absent => return Some(Vec::new()),
        Found::File(_, bytes) => bytes,
        _ => return None,
    };
    let text = String::from_utf8_lossy(bytes);
    let calls = |line: &&str| {
        ["filter", "diff", "merge", "[attr]"]
            .iter()
            .any(|word| line.contains(word))
    };
    let mut lines: Vec<String> = text.lines().filter(calls).map(str::to_owned).collect();
    lines.sort();
    Some(lines)
}
