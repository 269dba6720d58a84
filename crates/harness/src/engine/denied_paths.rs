//! What rules about paths deny, as the fence holds it: patterns become the paths that are there
//! now. The look is bounded; what it does not reach is held by the judgement alone, and said.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use ringfence_policy::Ground;
use ringfence_policy::action::Action;
use ringfence_policy::permissions::SandboxPolicy;
use ringfence_policy::rule::Access;
use ringfence_policy::ruleset::{DeniedPaths, RuleSet, step};

/// As many names are looked at for one command.
const MOST_NAMES: usize = 20_000;
/// So many folders deep.
const DEEPEST: usize = 32;
/// As many paths are held: each of them is a mount.
const MOST_PATHS: usize = 256;

/// The policy for an action, with what rules about paths deny, and what could not be held.
pub(super) fn with_denied_paths<'s>(
    sandbox: &'s SandboxPolicy,
    action: &Action,
    rules: &RuleSet,
    ground: &Ground,
) -> (Cow<'s, SandboxPolicy>, Option<String>) {
    let Action::RunCommand(command) = action else {
        return (Cow::Borrowed(sandbox), None);
    };
    let denied_paths = rules.denied_paths(ground, &command.tool);
    if denied_paths.is_empty() || !sandbox.mode.is_fenced() {
        return (Cow::Borrowed(sandbox), None);
    }
    let mut look = Look::default();
    let mut policy = sandbox.clone();
    for denied in denied_paths {
        for path in look.paths(&denied, ground) {
            let list = match denied.access {
                Access::Read | Access::Any => &mut policy.denied_reads,
                Access::Write => &mut policy.protected_paths,
            };
            if !list.contains(&path) {
                list.push(path.clone());
            }
            policy
                .granted_reads
                .retain(|granted| !granted.starts_with(&path));
        }
    }
    (Cow::Owned(policy), look.missed)
}

/// A look at the tree, and what is left of its bounds.
#[derive(Default)]
struct Look {
    names: usize,
    paths: usize,
    missed: Option<String>,
}

impl Look {
    fn paths(&mut self, denied: &DeniedPaths, ground: &Ground) -> Vec<PathBuf> {
        // Without the workspace, or the folders that lead to it, nothing runs.
        if denied.rest.is_empty() && ground.workspace.starts_with(&denied.base) {
            self.miss(&denied.base, "holds the workspace");
            return Vec::new();
        }
        let mut found = Vec::new();
        if denied.rest.is_empty() {
            found.push(denied.base.clone());
        } else {
            self.walk(&denied.base, &[&denied.rest], 0, &mut found);
        }
        found.retain(|path| !ground.workspace.starts_with(path));
        let room = MOST_PATHS.saturating_sub(self.paths);
        if found.len() > room {
            self.miss(
                &denied.base,
                "has more files that a rule denies than are held",
            );
            found.truncate(room);
        }
        self.paths += found.len();
        found
    }

    fn walk(
        &mut self,
        folder: &Path,
        patterns: &[&[String]],
        depth: usize,
        found: &mut Vec<PathBuf>,
    ) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        if depth > DEEPEST {
            return self.miss(folder, "is too deep to be looked through");
        }
        for entry in entries.flatten() {
            self.names += 1;
            if self.names > MOST_NAMES {
                return self.miss(folder, "has too many files to be looked through");
            }
            let stepped = step(patterns, &entry.file_name().to_string_lossy());
            if stepped.meant {
                found.push(entry.path());
                continue;
            }
            // A link is not followed: what it leads to has a path of its own.
            let is_folder = || entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !stepped.below.is_empty() && is_folder() {
                self.walk(&entry.path(), &stepped.below, depth + 1, found);
            }
        }
    }

    fn miss(&mut self, place: &Path, why: &str) {
        let place = place.display();
        self.missed.get_or_insert_with(|| {
            format!("a rule about paths is held in part only: {place} {why}")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringfence_policy::rule::Layer;

    /// Which of these files a rule makes the fence hold.
    #[test]
    fn patterns_become_the_paths_that_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in [
            ".env",
            "a/.env",
            "a/b/.env",
            "a/b/key.pem",
            "a/env",
            "s/deep/x",
            "s2/x",
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        for (pattern, expected) in [
            ("s", &["s"][..]),
            ("s/**", &["s"]),
            ("not-there", &["not-there"]),
            ("**/.env", &[".env", "a/.env", "a/b/.env"]),
            ("a/*/.env", &["a/b/.env"]),
            ("a/**/*.pem", &["a/b/key.pem"]),
            ("s*", &["s", "s2"]),
            ("a/?nv", &["a/env"]),
            ("**/b/**", &["a/b"]),
            // The workspace itself cannot be taken away.
            (".", &[]),
            ("/", &[]),
        ] {
            let text = format!("[[rule]]\npath = \"{pattern}\"\ndecision = \"deny\"\n");
            let rules = RuleSet::parse(Layer::User, "rules", &text).unwrap();
            let ground = Ground::at(&root);
            let mut look = Look::default();
            let mut found: Vec<_> = rules
                .denied_paths(&ground, "bash")
                .iter()
                .flat_map(|denied| look.paths(denied, &ground))
                .map(|path| path.strip_prefix(&root).unwrap().display().to_string())
                .collect();
            found.sort();
            assert_eq!(found, expected, "{pattern}");
            assert_eq!(look.missed.is_some(), expected.is_empty(), "{pattern}");
        }
    }
}
