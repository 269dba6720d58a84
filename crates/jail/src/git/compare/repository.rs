//! A repository before and after a run: its head, settings, attributes, hooks, links and the programs
//! that those name.

use super::super::head;
use super::super::seen::{Repository, Settings, is_entered};
use super::{Findings, Found, Remedy, put_back};

impl Findings<'_> {
    pub(super) fn repository(&mut self, then: Option<&Repository>, now: &Repository) {
        let care = self.measure.care;
        if care.settings {
            self.commondir(then, now);
        }
        if !self.list.is_empty() {
            return;
        }
        // What is shared with others is as it was there. Where another run had led git elsewhere it
        // is as it was before both.
        let kin = then.filter(|then| then.common == now.common);
        let kin = kin.or_else(|| {
            let mut all = self.measure.all.iter();
            all.find_map(|seen| {
                let repository = seen.repository.as_ref();
                repository.filter(|then| then.common == now.common)
            })
        });
        if let Some(then) = then.filter(|then| then.common == now.common)
            && self.lost(then, now)
        {
            return;
        }
        self.index(then, now);
        if care.settings {
            self.attributes(kin, now);
            for settings in &now.settings {
                let known = kin.and_then(|then| {
                    let mut known = then.settings.iter();
                    known.find(|known| known.path == settings.path)
                });
                self.settings(known, settings);
            }
        }
        if care.hooks {
            self.hooks(kin, now);
        }
        if let Some(then) = kin {
            self.links(then, now);
            self.programs(then, now);
        }
    }

    /// Whether git would not find a repository any more that it found before. There is no harm in
    /// the plain form of what is brought back here, whoever made it.
    fn lost(&mut self, then: &Repository, now: &Repository) -> bool {
        if let (Found::Folder(then), Found::Folder(is)) = (&then.folder, &now.folder) {
            self.mode(&now.at, then.permissions(), is.permissions());
        }
        if !then.is_valid() || !self.list.is_empty() {
            return !self.list.is_empty();
        }
        let reason = "git would not take the repository for one any more";
        // The superuser reads what is closed to those who own it.
        let is_shut = head::is_closed(&now.head) && !head::is_closed(&then.head);
        if is_shut || !head::is_plain(&now.head) && !self.is_same(&then.head, &now.head) {
            let path = now.at.join("HEAD");
            if head::is_plain(&then.head) {
                self.add(&path, put_back(&then.head), reason);
            } else {
                self.restore(&path, &then.head, &now.head, reason);
            }
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
                (then, is) if is_entered(is) || self.is_same(then, is) => {}
                (Found::Folder(_), _) => self.add(&path, put_back(then), reason),
                (then, is) => self.restore(&path, then, is, reason),
            }
        }
        false
    }

    fn commondir(&mut self, then: Option<&Repository>, now: &Repository) {
        let absent = Found::Absent;
        let was = then.map_or(&absent, |then| &then.commondir);
        if self.is_same(was, &now.commondir) || !now.commondir.exists() {
            return;
        }
        let path = now.at.join("commondir");
        match then {
            // A work tree of a repository that is in reach has one.
            None if now.common != now.at && is_linked_work_tree(now) => {}
            _ => self.restore(
                &path,
                was,
                &now.commondir,
                "it has git take settings and hooks from elsewhere",
            ),
        }
    }

    /// An index that has not been understood, and was before.
    fn index(&mut self, then: Option<&Repository>, now: &Repository) {
        let was_known = then.is_none_or(|then| then.index_is_known);
        if !now.index_is_known && was_known {
            let reason = "which repositories git would look into cannot be told from it";
            self.add(&now.at.join("index"), Remedy::SetAside, reason);
        }
    }

    fn attributes(&mut self, then: Option<&Repository>, now: &Repository) {
        let absent = Found::Absent;
        let was = then.map_or(&absent, |then| &then.attributes);
        if let Found::Link(..) = now.info
            && then.is_none_or(|then| !self.is_same(&then.info, &now.info))
        {
            self.add(
                &now.common.join("info"),
                Remedy::SetAside,
                "it leads git's attributes elsewhere",
            );
            return;
        }
        let Some(path) = &now.attributes_at else {
            return;
        };
        if self.is_same(was, &now.attributes) || self.measure.trust.knows(&now.attributes) {
            return;
        }
        let known = if self.measure.trust.holds(was) {
            was
        } else {
            &absent
        };
        if drivers(known) != drivers(&now.attributes) {
            let reason = "it has files pass through a program";
            self.restore(path, was, &now.attributes, reason);
        }
    }

    fn settings(&mut self, then: Option<&Settings>, now: &Settings) {
        let nothing = Vec::new();
        let trusted = then.filter(|then| self.measure.trust.holds(&then.found));
        let was = match trusted {
            Some(then) => then.running.as_ref(),
            None => Some(&nothing),
        };
        let is_untouched = then.is_some_and(|then| {
            self.is_same(&then.found, &now.found) || self.is_covered(&then.found, &now.found)
        });
        if is_untouched
            || self.measure.trust.knows(&now.found)
            || was == now.running.as_ref() && matches!(now.found, Found::File(..) | Found::Absent)
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
        let then = then.map_or(&absent, |then| &then.found);
        self.restore(&now.path, then, &now.found, reason);
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
        if !now.hooks_are_all && then.is_none_or(|then| then.hooks_are_all) {
            let reason = "there are more hooks in it than can be looked at";
            self.add(folder, Remedy::SetAside, reason);
            return;
        }
        for (name, is) in &now.hooks {
            let was = then.and_then(|then| {
                let mut known = then.hooks.iter();
                known.find(|(known, _)| known == name).map(|(_, was)| was)
            });
            let is_known = was.is_some_and(|was| self.is_same(was, is));
            if !is_known && !self.measure.trust.knows(is) {
                let reason = "git would run it as a hook";
                let was = was.unwrap_or(&Found::Absent);
                self.restore(&folder.join(name), was, is, reason);
            }
        }
    }

    /// Links on the way to what git reads and runs: none is led elsewhere, and none is new.
    fn links(&mut self, then: &Repository, now: &Repository) {
        let reason = "it leads git to other settings or programs";
        for (path, was) in &then.links {
            let is = self.measure.reach.find(path, 0);
            if is.exists() && !self.is_same(was, &is) {
                self.restore(path, was, &is, reason);
            }
        }
        for (path, is) in &now.links {
            let is_new = !then.links.iter().any(|(known, _)| known == path);
            let is_mended = self.list.iter().any(|finding| finding.path == *path);
            if is_new && !is_mended && !self.measure.trust.knows(is) {
                self.add(path, Remedy::SetAside, reason);
            }
        }
    }

    /// Programs that settings named all along, and that are there for the first time.
    fn programs(&mut self, then: &Repository, now: &Repository) {
        for program in now.programs.iter().filter(|program| program.found.exists()) {
            let mut known = then.programs.iter();
            let was_absent = known.any(|known| {
                known.named == program.named && known.end == program.end && !known.found.exists()
            });
            if was_absent {
                let reason = "git would run it: a setting or a hook names it";
                self.add(&program.end, Remedy::SetAside, reason);
            }
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
