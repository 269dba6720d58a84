//! The hooks that git would run: those that it knows by name, and whatever else could be one.

use std::ffi::OsString;
use std::path::Path;

use super::look::{Look, MOST_BYTES};
use super::reach::Found;

/// Git's own, looked up by name: however many files are beside them, none is overlooked.
const NAMES: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

/// The most others that are looked at.
const MOST: usize = 256;

/// The hooks in a folder, and whether that is all of them.
pub(super) fn of(look: &mut Look<'_>, folder: &Path) -> (Vec<(OsString, Found)>, bool) {
    let mut names = look.list(folder, MOST + 1);
    let are_all = names.len() <= MOST;
    names.extend(NAMES.iter().map(OsString::from));
    names.sort();
    names.dedup();
    let mut hooks = Vec::new();
    for name in names {
        let text = name.to_string_lossy();
        if text.ends_with(".sample") || text.contains(super::SET_ASIDE) {
            continue;
        }
        let path = folder.join(&name);
        // That one came into being is seen by the folder.
        if look.reach.stamp(&path).is_none() {
            continue;
        }
        let found = look.find(&path, MOST_BYTES);
        let is_active = match &found {
            Found::File(stamp, _) | Found::Closed(stamp) => stamp.mode & 0o111 != 0,
            Found::Link(..) => true,
            Found::Absent | Found::Folder(_) | Found::Other(_) => false,
        };
        if is_active {
            hooks.push((name, found));
        }
    }
    (hooks, are_all)
}
