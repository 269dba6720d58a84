//! Protected names: what stood at each of them before a run, and what is to be done about what
//! stands there after it.
//!
//! Covers and marks keep a command from these names, and the run's guard covers again what somebody
//! outside replaces or removes. But a guard can be killed with its run, and it can be late. So the
//! harness compares, after every run and from outside: what stands at a name now is what stood there
//! before, or what was covered for the run, as the mark is that held the name, whoever filled it
//! since; or nothing. Anything else came while nothing held the name, and nobody can say from whom:
//! it is set aside, never deleted.
//!
//! What is git's is not looked at here: its content is compared (`git`).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::git::compare::{Finding, Remedy};
use crate::git::reach::{Found, Reach, Stamp};
use crate::git::seen::is_older;
use crate::standing::{Node, Standing};
use crate::warden::protocol::{Fence, RawPath};

/// The protected names of a run.
#[derive(Debug, Default)]
pub(crate) struct Names {
    reach: Reach,
    names: Vec<Name>,
}

/// What folders were like.
#[derive(Debug)]
pub(crate) struct Folders(Vec<(PathBuf, Stamp)>);

/// The same, as it is told to others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NamesBefore {
    roots: Vec<RawPath>,
    names: Vec<(RawPath, Option<Node>)>,
}

/// A protected name: the path itself, or the first part of the way there that does not exist.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    path: PathBuf,
    /// What stood there, unless that was nothing, or a mark.
    stood: Option<Node>,
}

impl Names {
    /// Takes them down.
    pub(crate) fn of(fence: &Fence) -> Self {
        let roots: Vec<PathBuf> = fence.writable.iter().map(RawPath::to_path).collect();
        let reach = Reach::of(&roots);
        let mut names: Vec<Name> = Vec::new();
        for root in &roots {
            for path in fence.protected.iter().map(RawPath::to_path) {
                let relative = if path.is_absolute() {
                    path.strip_prefix(root).ok().map(Path::to_path_buf)
                } else {
                    Some(path)
                };
                let name = relative.and_then(|relative| name_on_the_way(&reach, root, &relative));
                if let Some(path) = name
                    && !is_gits(&path)
                    && !names.iter().any(|known| known.path == path)
                {
                    let stood = node(&reach, &path);
                    names.push(Name { path, stood });
                }
            }
        }
        Self { reach, names }
    }

    /// The roots that they are in.
    pub(crate) fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The folders that the names are in, and those on the way there, as they are before a run can do
    /// anything. None if a change since then might not show.
    pub(crate) fn folders(&self) -> Option<Folders> {
        let now = SystemTime::now();
        let above = self.names.iter().flat_map(|name| {
            let above = name.path.ancestors().skip(1);
            above.take_while(|folder| self.reach.holds(folder))
        });
        let above: BTreeSet<&Path> = above.collect();
        let stamped = above.into_iter().map(|folder| {
            let stamp = self.reach.stamp(folder)?;
            is_older(&stamp, now).then(|| (folder.to_path_buf(), stamp))
        });
        stamped.collect::<Option<Vec<_>>>().map(Folders)
    }

    /// Whether nothing has come to or gone from the folders since.
    pub(crate) fn are_untouched(&self, folders: &Folders) -> bool {
        let mut folders = folders.0.iter();
        folders.all(|(folder, stamp)| self.reach.stamp(folder).as_ref() == Some(stamp))
    }

    /// As it is told to others, with paths at which nothing stood.
    pub(crate) fn before(&self, absent: impl Iterator<Item = PathBuf>) -> NamesBefore {
        let raw = |path: &Path| RawPath::from(path);
        let names = self.names.iter().map(|name| (raw(&name.path), name.stood));
        let absent = absent.map(|path| (raw(&path), None));
        NamesBefore {
            roots: self.reach.roots().map(raw).collect(),
            names: names.chain(absent).collect(),
        }
    }

    /// Takes up what was told.
    pub(crate) fn taken_up(before: NamesBefore) -> Self {
        let roots: Vec<PathBuf> = before.roots.iter().map(RawPath::to_path).collect();
        let names = before.names.into_iter().map(|(path, stood)| Name {
            path: path.to_path(),
            stood,
        });
        Self {
            reach: Reach::of(&roots),
            names: names.collect(),
        }
    }

    /// What is to be done about what stands at them now. `covered` is what was, when the run began.
    pub(crate) fn findings(&self, covered: &[Standing]) -> Vec<Finding> {
        let findings = self.names.iter().filter_map(|name| {
            let path = name.in_the_way(&self.reach, covered)?;
            Some(Finding {
                path,
                remedy: Remedy::SetAside,
                reason: REASON.to_owned(),
            })
        });
        let mut findings: Vec<Finding> = findings.collect();
        // One link may be on the way to several.
        findings.dedup();
        findings
    }
}

const REASON: &str = "somebody outside removed or replaced what was at this protected name while a \
                      command ran that may have put this there";

impl Name {
    /// What stands there, or leads there, and did not.
    fn in_the_way(&self, reach: &Reach, covered: &[Standing]) -> Option<PathBuf> {
        if let Some(now) = node(reach, &self.path) {
            let was_covered = || {
                let mut covered = covered.iter();
                covered.any(|one| one.node().is(&now) && one.path() == self.path)
            };
            let is_known = self.stood.is_some_and(|stood| stood.is(&now)) || was_covered();
            return (!is_known).then(|| self.path.clone());
        }
        // It may be there behind a link that the run made.
        reach.stamp(&self.path)?;
        reach.link_on_the_way(self.path.parent()?)
    }
}

/// The first part of a protected path that does not exist, or that nothing can be made below; or its
/// end.
fn name_on_the_way(reach: &Reach, root: &Path, relative: &Path) -> Option<PathBuf> {
    let mut parts = relative.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut path = root.join(parts.next()?);
    for part in parts {
        if !matches!(reach.find(&path, 0), Found::Folder(_)) {
            break;
        }
        path.push(part);
    }
    Some(path)
}

/// The node at a path. A mark is nobody's, and none.
fn node(reach: &Reach, path: &Path) -> Option<Node> {
    if !reach.find(path, 0).exists() {
        return None;
    }
    let (folder, name) = reach.parent(path).ok()?;
    Node::of(folder, Path::new(name))
}

/// Whether a path is compared with the rest of git's.
pub(crate) fn is_gits(path: &Path) -> bool {
    path.components()
        .any(|part| part.as_os_str() == OsStr::new(".git"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use ringfence_policy::permissions::SandboxPolicy;

    use super::*;
    use crate::plan;

    /// What a run that may write in a root protects there.
    fn names(root: &Path) -> Names {
        let sandbox = SandboxPolicy {
            protected_paths: [".a", ".b", ".deep/er/x", ".there", ".git/config"]
                .map(PathBuf::from)
                .to_vec(),
            ..SandboxPolicy::workspace_write(root)
        };
        Names::of(&plan::fence(&sandbox).unwrap())
    }

    #[test]
    fn what_was_not_there_and_was_not_covered_goes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = |path: &str| root.join(path);
        fs::create_dir(at(".deep")).unwrap();
        fs::write(at(".there"), "").unwrap();
        let before = names(&root);
        let told = |covered: &[Standing]| -> Vec<PathBuf> {
            let findings = before.findings(covered).into_iter();
            findings.map(|finding| finding.path).collect()
        };
        assert_eq!(told(&[]), Vec::<PathBuf>::new());
        // What a run put there while nothing held the name.
        fs::write(at(".a"), "").unwrap();
        fs::create_dir_all(at(".deep/er")).unwrap();
        fs::create_dir(at(".git")).unwrap();
        assert_eq!(told(&[]), [at(".a"), at(".deep/er")]);
        // What stood for a name while the run lived, and was filled from outside.
        let marks = [Standing::at(&at(".a")).unwrap()];
        fs::write(at(".a"), "filled").unwrap();
        assert_eq!(told(&marks), [at(".deep/er")]);
        // Its like is not it, nor is it the same at another name.
        fs::rename(at(".a"), at(".b")).unwrap();
        fs::write(at(".a"), "filled").unwrap();
        assert_eq!(told(&marks), [at(".a"), at(".b"), at(".deep/er")]);
    }

    #[test]
    fn folders_tell_whether_there_is_anything_to_compare() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join(".deep")).unwrap();
        let names = names(&root);
        // What has just been made cannot be told from what is made next.
        assert!(names.folders().is_none());
        // There is no event for the time to pass.
        std::thread::sleep(std::time::Duration::from_millis(80));
        let folders = names.folders().unwrap();
        assert!(names.are_untouched(&folders));
        fs::write(root.join(".deep/er"), "").unwrap();
        assert!(!names.are_untouched(&folders));
        std::thread::sleep(std::time::Duration::from_millis(80));
        let folders = names.folders().unwrap();
        fs::write(root.join("ordinary"), "").unwrap();
        assert!(!names.are_untouched(&folders));
    }

    #[test]
    fn what_was_there_may_change_and_not_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let there = root.join(".there");
        fs::write(&there, "").unwrap();
        let before = names(&root);
        fs::write(&there, "by its owner").unwrap();
        assert_eq!(before.findings(&[]), []);
        fs::remove_file(&there).unwrap();
        assert_eq!(before.findings(&[]), []);
        fs::write(root.join("draft"), "").unwrap();
        fs::rename(root.join("draft"), &there).unwrap();
        assert_eq!(before.findings(&[]).len(), 1);
    }

    #[test]
    fn a_link_on_the_way_goes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join(".deep")).unwrap();
        let before = names(&root);
        fs::remove_dir(root.join(".deep")).unwrap();
        fs::create_dir_all(root.join("own/er")).unwrap();
        symlink("own", root.join(".deep")).unwrap();
        let found = before.findings(&[]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, root.join(".deep"));
    }
}
