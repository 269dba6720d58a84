//! What it means to delete what is at a place.

use std::path::Path;

use super::{Finding, known::runs_later, tampering::tampering};
use crate::{
    classify::{
        Class,
        path::{HOME, STAR, Spot, Spread, wildcard},
    },
    ground::Ground,
};

/// Folders of the system. Losing the folder, or (with `true`) anything in it, breaks the machine.
const SYSTEM: &[(&str, bool)] = &[
    ("bin", true),
    ("boot", true),
    ("dev", true),
    ("etc", true),
    ("lib", true),
    ("lib32", true),
    ("lib64", true),
    ("libx32", true),
    ("proc", true),
    ("sbin", true),
    ("sys", true),
    ("usr", true),
    ("System", true),
    ("Library", true),
    ("root", false),
    ("home", false),
    ("Users", false),
    ("var", false),
    ("opt", false),
    ("srv", false),
    ("mnt", false),
    ("media", false),
    ("run", false),
    ("Applications", false),
    ("nix", false),
    ("snap", false),
    ("tmp", false),
];

/// What it means to delete what is at a word, with everything below it or not.
pub(in crate::classify) fn deletion(spread: &Spread, recursive: bool, ground: &Ground) -> Finding {
    let mut worst = (Class::Unknown, "it deletes files".to_owned());
    let mut note = |class: Class, why: String| {
        if class > worst.0 {
            worst = (class, why);
        }
    };
    if spread.unknown {
        let why = "which files it deletes is computed";
        note(
            if recursive {
                Class::Suspicious
            } else {
                Class::Unknown
            },
            why.into(),
        );
    }
    for spot in &spread.places {
        let (class, why) = delete_at(spot, recursive, ground);
        note(class, why);
    }
    worst
}

fn delete_at(spot: &Spot, recursive: bool, ground: &Ground) -> Finding {
    let shown = spot.shown();
    if let Some(finding) = tampering(spot, ground) {
        return finding;
    }
    if recursive && !spot.open {
        if spot.covers(Path::new("/")) {
            return (Class::Dangerous, "it deletes the whole file system".into());
        }
        let home = spot.part(0) == HOME && spot.covers(Path::new(&format!("/{HOME}")));
        if home || ground.home.as_ref().is_some_and(|home| spot.covers(home)) {
            return (
                Class::Dangerous,
                format!("it deletes the home folder ({shown})"),
            );
        }
        if spot.covers(&ground.workspace) {
            let whole = spot.is_in(&ground.workspace);
            return if whole {
                (Class::Suspicious, "it deletes the workspace".into())
            } else {
                (
                    Class::Dangerous,
                    format!("it deletes a parent of the workspace ({shown})"),
                )
            };
        }
        if let Some(why) = system_loss(spot, ground) {
            return (Class::Dangerous, why);
        }
    }
    if spot.open {
        let class = if recursive {
            Class::Suspicious
        } else {
            Class::Unknown
        };
        return (class, "which files it deletes is computed".into());
    }
    if !spot.may_write(ground) {
        return (
            Class::Suspicious,
            format!("it deletes outside the workspace ({shown})"),
        );
    }
    if let Some(why) = runs_later(spot, ground) {
        return (Class::Suspicious, format!("it deletes {why} ({shown})"));
    }
    if spot.parts.last().is_some_and(|name| name == ".git") {
        return (
            Class::Suspicious,
            "it deletes the repository's history".into(),
        );
    }
    (Class::Unknown, format!("it deletes {shown}"))
}

fn system_loss(spot: &Spot, ground: &Ground) -> Option<String> {
    let (top, deep) = SYSTEM
        .iter()
        .find(|(name, _)| wildcard(spot.part(0), name))?;
    let shown = spot.shown();
    let mut depth = spot.parts.len();
    if spot
        .parts
        .last()
        .is_some_and(|last| last.chars().all(|c| c == STAR))
    {
        depth -= 1;
    }
    if *top == "tmp" && depth == 1 && spot.parts.len() > 1 {
        return None;
    }
    let person = matches!(*top, "home" | "Users") && depth == 2 && !spot.may_write(ground);
    let inside = *deep && !spot.may_write(ground);
    (depth <= 1 || inside || person).then(|| format!("it deletes a folder of the system ({shown})"))
}
