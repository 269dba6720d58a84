//! Which of the places that are known to be sensitive a word may point to.

use std::path::{Component, Path};

use crate::{
    classify::path::{ONE, STAR, Spot, wildcard},
    ground::Ground,
    sensitive::path::{self, Base, PathRow, Reading, Writing},
};

/// What is known of a place below somebody's home folder.
pub(super) fn in_home(spot: &Spot, ground: &Ground) -> Option<&'static PathRow> {
    row(Base::Home, spot.below_home(ground)?)
}

/// What is known of a place anywhere.
pub(super) fn in_system(spot: &Spot) -> Option<&'static PathRow> {
    row(Base::System, &spot.parts)
}

/// What is known of a place in the workspace, however deep: a project may hold others.
fn in_workspace(spot: &Spot, ground: &Ground) -> Option<&'static PathRow> {
    if !spot.is_in(&ground.workspace) {
        return None;
    }
    let inside = &spot.parts[depth(&ground.workspace).min(spot.parts.len())..];
    (0..inside.len()).find_map(|at| row(Base::Root, &inside[at..]))
}

/// What at a place runs code later, or says who the user is.
pub(super) fn runs_later(spot: &Spot, ground: &Ground) -> Option<&'static str> {
    let kept = |row: &&PathRow| row.write > Writing::Free || row.read > Reading::Free;
    if let Some(row) = in_home(spot, ground).filter(kept) {
        return Some(row.what);
    }
    if let Some(at) = spot.parts.iter().position(|part| part == ".git") {
        let after = spot.part(at + 1);
        if matches!(
            after,
            "hooks" | "config" | "config.worktree" | "info" | "modules"
        ) || after.contains([STAR, ONE])
        {
            return Some("what git runs");
        }
    }
    in_workspace(spot, ground).filter(kept).map(|row| row.what)
}

/// The row of the place that these parts lead to or into.
fn row(base: Base, parts: &[String]) -> Option<&'static PathRow> {
    let is_open = |part: &String| part.contains([STAR, ONE]);
    if !parts.iter().any(is_open) {
        return path::around(base, parts.iter().map(String::as_str));
    }
    // A star does not stand for a dot at the beginning.
    let may_be = |part: &String, name: &str| {
        wildcard(part, name) && (!name.starts_with('.') || part.starts_with('.'))
    };
    path::rows().filter(|row| row.base == base).find(|row| {
        row.paths.iter().any(|path| {
            let mut parts = parts.iter();
            let mut names = path.split('/').filter(|name| !name.is_empty());
            names.all(|name| parts.next().is_some_and(|part| may_be(part, name)))
        })
    })
}

fn depth(path: &Path) -> usize {
    let names = path.components();
    names
        .filter(|part| matches!(part, Component::Normal(_)))
        .count()
}
