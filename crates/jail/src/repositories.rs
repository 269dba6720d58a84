//! Repositories inside a writable root, further down than its top: their hooks and settings run
//! code for whoever uses git in them, just like those at the top.
//!
//! The look is bounded by the number of folders, not by a clock: what lies beyond is not found, and
//! not protected. Nothing is followed that is a link.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// The most folders that are looked into for one root.
const MOST_FOLDERS: usize = 2000;
/// How far down.
const DEEPEST: usize = 8;
/// The most repositories that are told of one root: each costs every launch a little.
const MOST_REPOSITORIES: usize = 64;

/// Folders that hold many others and are made by tools.
const SKIPPED: &[&str] = &["node_modules", "target", ".cache", ".venv", "__pycache__"];

/// The git folders below a root, but for the root's own: `.git` folders, and those of submodules,
/// which are kept below the `.git` folder of the repository around them.
pub(crate) fn git_folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut budget = MOST_FOLDERS;
    let mut waiting = VecDeque::from([(root.to_path_buf(), 0)]);
    while let Some((folder, depth)) = waiting.pop_front() {
        if budget == 0 || found.len() >= MOST_REPOSITORIES {
            break;
        }
        budget -= 1;
        for (name, path) in folders_in(&folder) {
            if name == ".git" {
                if folder != root {
                    found.push(path.clone());
                }
                modules(&path.join("modules"), &mut budget, &mut found);
            } else if depth < DEEPEST && !SKIPPED.contains(&name.as_str()) {
                waiting.push_back((path, depth + 1));
            }
        }
    }
    found.truncate(MOST_REPOSITORIES);
    found
}

/// The git folders of submodules. A submodule's name may have slashes in it, and it may have
/// submodules itself.
fn modules(folder: &Path, budget: &mut usize, found: &mut Vec<PathBuf>) {
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        if *budget == 0 || found.len() >= MOST_REPOSITORIES {
            return;
        }
        *budget -= 1;
        for (_, path) in folders_in(&folder) {
            if path.join("HEAD").is_file() {
                waiting.push(path.join("modules"));
                found.push(path);
            } else {
                waiting.push(path);
            }
        }
    }
}

/// The folders in a folder, links not counted. One that cannot be read is empty.
fn folders_in(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut folders: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, entry.path())
        })
        .collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_further_down_and_submodules_are_found() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for folder in [
            ".git/hooks",
            ".git/modules/lib/one/modules/deep",
            "vendor/other/.git/hooks",
            "node_modules/x/.git",
            "plain/folder",
        ] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for head in [
            ".git/modules/lib/one/HEAD",
            ".git/modules/lib/one/modules/deep/HEAD",
        ] {
            std::fs::write(at(head), "ref: refs/heads/main").unwrap();
        }
        std::os::unix::fs::symlink(at("vendor"), at("linked")).unwrap();
        assert_eq!(
            git_folders(root.path()),
            [
                at(".git/modules/lib/one"),
                at(".git/modules/lib/one/modules/deep"),
                at("vendor/other/.git"),
            ]
        );
    }

    #[test]
    fn the_look_is_bounded() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..100 {
            std::fs::create_dir_all(root.path().join(format!("{number}/.git"))).unwrap();
        }
        assert_eq!(git_folders(root.path()).len(), MOST_REPOSITORIES);
    }
}
