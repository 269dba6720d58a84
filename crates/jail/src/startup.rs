//! Files that run by themselves when the user's next shell, program or session starts: what exists
//! of them is read-only for a run, and what a run makes of them is set aside at its end.
//!
//! There are many names, and hardly any run makes one. So they are looked at by folder: one whose
//! entries have not changed is not looked into again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ringfence_policy::permissions::SandboxPolicy;
use ringfence_policy::sensitive::path::kept_because;

use crate::git::compare::{Finding, Remedy, put_back};
use crate::git::reach::{Found, Reach, Stamp};
use crate::git::{Covers, seen};

/// The longest file of which the content is kept, where nothing keeps it from being changed.
const MOST_BYTES: u64 = 1 << 20;

/// The paths that a policy watches in these roots. A folder on the way that is a link is followed:
/// it is what is behind it that counts.
pub(crate) fn watched(sandbox: &SandboxPolicy, roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut real: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut paths = Vec::new();
    for path in &sandbox.watched_paths {
        for root in roots {
            let path = root.join(path);
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                continue;
            };
            let folder = real
                .entry(folder.to_path_buf())
                .or_insert_with_key(|folder| {
                    folder.canonicalize().unwrap_or_else(|_| folder.clone())
                });
            let path = folder.join(name);
            if roots
                .iter()
                .any(|root| path.starts_with(root) && path != *root)
            {
                paths.push(path);
            }
        }
    }
    let held: Vec<PathBuf> = held(sandbox, roots);
    paths.retain(|path| !held.iter().any(|held| path.starts_with(held)));
    paths.sort();
    paths.dedup();
    paths
}

/// What is held whether it exists or not.
fn held(sandbox: &SandboxPolicy, roots: &[PathBuf]) -> Vec<PathBuf> {
    let paths = sandbox.protected_paths.iter().chain(&sandbox.denied_reads);
    paths
        .flat_map(|path| roots.iter().map(move |root| root.join(path)))
        .collect()
}

/// What exists of them.
#[derive(Debug)]
pub(crate) struct Existing {
    /// What can be covered: the paths, and what links among them lead to.
    pub(crate) paths: Vec<PathBuf>,
    /// How many of them are links.
    pub(crate) links: usize,
}

/// Those of them that exist.
pub(crate) fn existing(paths: &[PathBuf], roots: &[PathBuf]) -> Existing {
    let mut links = 0;
    let there = paths.iter().filter_map(|path| {
        let found = path.symlink_metadata().ok()?;
        if !found.is_symlink() {
            return Some(path.clone());
        }
        links += 1;
        let real = path.canonicalize().ok()?;
        let is_inside = roots
            .iter()
            .any(|root| real.starts_with(root) && real != *root);
        is_inside.then_some(real)
    });
    let paths = there.collect();
    Existing { paths, links }
}

/// What of them there was at the beginning of a run.
#[derive(Debug, Default)]
pub(crate) struct StartUp {
    folders: Vec<Folder>,
}

/// Those in one folder.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    stamp: Option<Stamp>,
    /// Whether a change since then shows in the stamp.
    is_settled: bool,
    entries: Vec<(OsString, Found)>,
}

impl StartUp {
    /// Takes it down.
    pub(crate) fn of(reach: &Reach, paths: &[PathBuf], covers: Covers) -> Self {
        let mut folders: BTreeMap<&Path, Vec<OsString>> = BTreeMap::new();
        for path in paths {
            if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                folders.entry(folder).or_default().push(name.to_owned());
            }
        }
        let began = SystemTime::now();
        let folders = folders.into_iter().map(|(path, names)| {
            let stamp = reach.stamp(path);
            Folder {
                is_settled: stamp.is_none_or(|stamp| seen::is_older(&stamp, began)),
                stamp,
                entries: entries(reach, path, names, covers),
                path: path.to_path_buf(),
            }
        });
        Self {
            folders: folders.collect(),
        }
    }

    /// Those of which there was none.
    pub(crate) fn absent(&self) -> impl Iterator<Item = PathBuf> {
        self.folders.iter().flat_map(|folder| {
            let entries = folder.entries.iter();
            let absent = entries.filter(|(_, found)| !found.exists());
            absent.map(|(name, _)| folder.path.join(name))
        })
    }

    /// What is to be done about those that a run made or changed.
    pub(crate) fn findings(&self, reach: &Reach, covers: Covers) -> Vec<Finding> {
        let mut findings = Vec::new();
        for folder in &self.folders {
            let now = reach.stamp(&folder.path);
            // Content can change without the folder noticing, where nothing covers it.
            let is_same = now == folder.stamp && covers == Covers::InForce;
            if now.is_none() || (is_same && folder.is_settled) {
                continue;
            }
            for (name, then) in &folder.entries {
                let path = folder.path.join(name);
                findings.extend(finding(reach, &path, then, covers));
            }
        }
        findings
    }
}

fn entries(
    reach: &Reach,
    folder: &Path,
    names: Vec<OsString>,
    covers: Covers,
) -> Vec<(OsString, Found)> {
    let found = names.into_iter().map(|name| {
        let found = look(reach, &folder.join(&name), covers);
        (name, found)
    });
    found.collect()
}

/// What is at a path; its content only where it may have to be put back.
fn look(reach: &Reach, path: &Path, covers: Covers) -> Found {
    let most = match covers {
        Covers::InForce => 0,
        Covers::None => MOST_BYTES,
    };
    // Most names are of nothing, and that is cheaper to see.
    if reach.stamp(path).is_none() {
        return Found::Absent;
    }
    reach.find(path, most)
}

fn finding(reach: &Reach, path: &Path, then: &Found, covers: Covers) -> Option<Finding> {
    let now = look(reach, path, covers);
    let made = |path: &Path, remedy| Finding {
        path: path.to_path_buf(),
        remedy,
        reason: reason(path).to_owned(),
    };
    match (then, &now) {
        (Found::Absent, Found::Absent) => {
            // Something is there, behind a link that the run made.
            reach.stamp(path)?;
            let link = reach.link_on_the_way(path.parent()?)?;
            Some(made(&link, Remedy::SetAside))
        }
        (Found::Absent, _) => Some(made(path, Remedy::SetAside)),
        (_, Found::Absent) => None,
        (then, now) if then.is_like(now) || covers == Covers::InForce && is_covered(then) => None,
        (Found::Folder(_) | Found::Closed(_) | Found::Other(_), _) => None,
        (then, _) => Some(made(path, put_back(then))),
    }
}

/// Whether it had a place of its own to be covered.
fn is_covered(then: &Found) -> bool {
    !matches!(then, Found::Link(..))
}

/// Why a path is watched: what the longest end of it that is in the tables says.
fn reason(path: &Path) -> &'static str {
    let parts: Vec<_> = path.components().collect();
    let ends = (0..parts.len()).map(|at| parts[at..].iter().collect::<PathBuf>());
    let mut reasons = ends.filter_map(|end| kept_because(end.to_str()?));
    reasons.next().unwrap_or("it would run by itself")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn policy(root: &Path) -> SandboxPolicy {
        SandboxPolicy {
            watched_paths: [".inputrc", ".config/fish", ".local/lib"]
                .map(PathBuf::from)
                .to_vec(),
            ..SandboxPolicy::workspace_write(root)
        }
    }

    #[test]
    fn what_a_run_makes_is_found_and_what_was_there_is_not() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().canonicalize().unwrap().join(path);
        let roots = [at("")].map(|path| path.components().collect::<PathBuf>());
        fs::create_dir_all(at(".local/lib/python3")).unwrap();
        let paths = watched(&policy(&roots[0]), &roots);
        assert_eq!(
            paths,
            [at(".config/fish"), at(".inputrc"), at(".local/lib")]
        );
        assert_eq!(existing(&paths, &roots).paths, [at(".local/lib")]);
        let reach = Reach::of(&roots);
        let before = StartUp::of(&reach, &paths, Covers::InForce);
        fs::write(at(".local/lib/new"), "").unwrap();
        fs::write(at("ordinary"), "").unwrap();
        assert_eq!(before.findings(&reach, Covers::InForce), []);
        fs::write(at(".inputrc"), "").unwrap();
        fs::create_dir_all(at(".config/fish")).unwrap();
        let found = before.findings(&reach, Covers::InForce);
        let found: Vec<_> = found.into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, [at(".inputrc"), at(".config/fish")]);
    }

    #[test]
    fn a_name_that_is_held_is_nobodys() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let paths = [root.join(".gem")];
        let reach = Reach::of(std::slice::from_ref(&root));
        let before = StartUp::of(&reach, &paths, Covers::InForce);
        // What marks a name until its folder has its time.
        fs::create_dir(&paths[0]).unwrap();
        fs::set_permissions(&paths[0], fs::Permissions::from_mode(0o1700)).unwrap();
        assert_eq!(before.findings(&reach, Covers::InForce), []);
        // Whoever puts something into a folder like that has made it.
        fs::write(paths[0].join("x"), "").unwrap();
        assert_eq!(before.findings(&reach, Covers::InForce).len(), 1);
        let held = StartUp::of(&reach, &paths, Covers::InForce);
        assert_eq!(held.findings(&reach, Covers::InForce), []);
    }

    /// File systems count time in ticks: what a run makes in the tick of the last change before it
    /// does not show in the folder's stamp.
    #[test]
    fn what_is_made_in_the_tick_of_the_change_before_is_found() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let reach = Reach::of(std::slice::from_ref(&root));
        let paths = [root.join(".inputrc")];
        // The folder is new: no later change could be told for certain.
        let mut before = StartUp::of(&reach, &paths, Covers::InForce);
        assert!(!before.folders[0].is_settled);
        fs::write(root.join(".inputrc"), "").unwrap();
        before.folders[0].stamp = reach.stamp(&root);
        assert_eq!(before.findings(&reach, Covers::InForce).len(), 1);
        before.folders[0].is_settled = true;
        assert_eq!(before.findings(&reach, Covers::InForce), []);
    }

    #[test]
    fn a_link_to_a_folder_does_not_hide_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let roots = [root.clone()];
        let paths = watched(&policy(&root), &roots);
        let reach = Reach::of(&roots);
        let before = StartUp::of(&reach, &paths, Covers::InForce);
        fs::create_dir_all(root.join("elsewhere/fish")).unwrap();
        symlink("elsewhere", root.join(".config")).unwrap();
        let found = before.findings(&reach, Covers::InForce);
        let found: Vec<_> = found.into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, [root.join(".config")]);
        // One that was there before is followed.
        let paths = watched(&policy(&root), &roots);
        assert!(paths.contains(&root.join("elsewhere/fish")));
    }
}
