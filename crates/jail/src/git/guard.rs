//! What exists and must not change while a run lives: files that decide what git runs, and programs
//! that they name.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use ringfence_policy::permissions::{GIT_SETUP, GIT_WORK_TREE_SETUP};

use super::known::Known;
use super::reach::Reach;
use super::seen::Seen;
use super::{Care, MOST_PLACES};

/// The paths, in what was seen of the roots and in the repositories that are known there. Whatever
/// was looked at for this comes along, there or not: it stays true for as long as the folders do
/// that those are in.
pub(crate) fn guarded(
    reach: &Reach,
    known: &[Known],
    seen: &[Arc<Seen>],
    care: Care,
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    if care.is_none() {
        return (Vec::new(), Vec::new());
    }
    let mut paths = BTreeSet::new();
    let mut folders: BTreeSet<PathBuf> = known.iter().filter_map(Known::git_folder).collect();
    for seen in seen {
        if seen.dot_git.bytes().is_some() {
            paths.insert(seen.folder.join(".git"));
        }
        let Some(repository) = &seen.repository else {
            continue;
        };
        folders.extend([repository.at.clone(), repository.common.clone()]);
        if care.settings {
            let files = repository.settings.iter();
            paths.extend(files.map(|settings| settings.path.clone()));
            let programs = repository.programs.iter();
            paths.extend(programs.map(|program| program.end.clone()));
            paths.extend(repository.attributes_at.clone());
        }
        paths.extend(repository.hooks_at.clone().filter(|_| care.hooks));
    }
    let mut trees = Vec::new();
    for folder in &folders {
        let cared_for = GIT_SETUP.iter().filter(|name| match **name {
            "hooks" => care.hooks,
            _ => care.settings,
        });
        paths.extend(cared_for.map(|name| folder.join(name)));
        let folder = folder.join("worktrees");
        for tree in reach.list(&folder, MOST_PLACES) {
            let tree = folder.join(tree);
            paths.extend(GIT_WORK_TREE_SETUP.iter().map(|name| tree.join(name)));
        }
        // A name in it stands for the list.
        trees.push(folder.join("any"));
    }
    // What is not there is not held: git dies of a `commondir` that it cannot read. A link has no
    // place of its own to be covered: what it leads to is on the list, and it is compared itself.
    let is_there = |path: &PathBuf| {
        let kind = reach.stamp(path).map(|stamp| stamp.mode & 0o170_000);
        matches!(kind, Some(0o100_000 | 0o040_000))
    };
    let there = paths
        .iter()
        .filter(|path| is_there(path))
        .cloned()
        .collect();
    trees.extend(paths);
    (there, trees)
}
