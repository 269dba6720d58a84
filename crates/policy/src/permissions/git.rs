//! What of a repository decides what git runs for the user. One list, for the fence and for
//! patches.

use std::path::{Component, Path};

/// What decides it, inside a git folder.
pub const GIT_SETUP: &[&str] = &[
    // Settings: aliases, editors, pagers, filters, hooks elsewhere, other files of settings.
    "config",
    "config.worktree",
    // Programs that git runs by their names.
    "hooks",
    // Where the settings and hooks really are.
    "commondir",
    // Which files pass through which program.
    "info/attributes",
];

/// The same in the folder that a repository keeps for another of its work trees.
pub const GIT_WORK_TREE_SETUP: &[&str] = &["commondir", "gitdir", "config.worktree"];

/// What a patch may change in a git folder: text that git shows or compares.
const HARMLESS: &[&str] = &[
    "info/exclude",
    "info/sparse-checkout",
    "description",
    "commit_editmsg",
    "merge_msg",
    "squash_msg",
];

/// What at the top of a writable root could be part of a repository there: each may be the last one
/// that was missing.
const MAKES_ONE: &[&str] = &["head", "commondir", "config.worktree"];

/// Why git would be led to run something by a file at this path, which is relative to a writable
/// root; nothing if it would not. `allows` says whether something like `.git/hooks` has been
/// given up.
pub fn git_setup(path: &Path, allows: impl Fn(&str) -> bool) -> Option<&'static str> {
    let names: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            // Some file systems take no notice of case.
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let Some(at) = names.iter().position(|name| name == ".git") else {
        return match names.as_slice() {
            [name] if MAKES_ONE.contains(&name.as_str()) && !allows(".git/config") => {
                Some("it could make a repository of the folder that it is in")
            }
            _ => None,
        };
    };
    let inside = names[at + 1..].join("/");
    let part = if inside.split('/').any(|name| name == "hooks") {
        ".git/hooks"
    } else {
        ".git/config"
    };
    if HARMLESS.contains(&inside.as_str()) || allows(part) {
        return None;
    }
    Some("it is part of a git repository, which decides what git runs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_leads_git_is_found_by_its_name() {
        for (path, expected) in [
            (".git/config", true),
            (".git/hooks/pre-commit", true),
            (".git/modules/lib/config", true),
            (".git/modules/a/modules/b/hooks/x", true),
            (".git/commondir", true),
            (".git/HEAD", true),
            (".git/info/attributes", true),
            ("sub/.git", true),
            ("sub/.GIT/config", true),
            ("HEAD", true),
            ("commondir", true),
            ("config.worktree", true),
            ("sub/HEAD", false),
            ("sub/commondir", false),
            (".git/info/exclude", false),
            (".gitignore", false),
            ("src/config", false),
            ("src/git/hooks.rs", false),
        ] {
            let found = git_setup(Path::new(path), |_| false);
            assert_eq!(found.is_some(), expected, "{path}");
        }
        let lifted = |part: &str| part == ".git/hooks";
        assert_eq!(git_setup(Path::new(".git/hooks/x"), lifted), None);
        assert!(git_setup(Path::new(".git/config"), lifted).is_some());
    }
}
