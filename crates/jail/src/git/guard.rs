//! What exists and must not change while a run lives: files that decide what git runs, and programs
//! that they name.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ringfence_policy::permissions::{GIT_SETUP, GIT_WORK_TREE_SETUP};

use super::known::Known;
use super::memory::Memory;
use super::reach::Reach;
use super::{Care, MOST_PLACES, look, places};

/// The paths, in these roots and in the repositories that are known there.
pub(crate) fn guarded(
    roots: &[PathBuf],
    known: &[Known],
    care: Care,
    memory: &Memory,
) -> Vec<PathBuf> {
    if care.is_none() {
        return Vec::new();
    }
    let reach = Reach::of(roots);
    let mut paths = BTreeSet::new();
    let mut folders: BTreeSet<PathBuf> = known.iter().filter_map(Known::git_folder).collect();
    for seen in look(&reach, places(&reach, known), memory).0 {
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
    for folder in &folders {
        let cared_for = GIT_SETUP.iter().filter(|name| match **name {
            "hooks" => care.hooks,
            _ => care.settings,
        });
        paths.extend(cared_for.map(|name| folder.join(name)));
        for tree in reach.list(&folder.join("worktrees"), MOST_PLACES) {
            let tree = folder.join("worktrees").join(tree);
            paths.extend(GIT_WORK_TREE_SETUP.iter().map(|name| tree.join(name)));
        }
    }
    // What is not there is not held: git dies of a `commondir` that it cannot read. A link has no
    // place of its own to be covered: what it leads to is on the list, and it is compared itself.
    let is_there = |path: &PathBuf| {
        let kind = reach.stamp(path).map(|stamp| stamp.mode & 0o170_000);
        matches!(kind, Some(0o100_000 | 0o040_000))
    };
    paths.into_iter().filter(is_there).collect()
}
