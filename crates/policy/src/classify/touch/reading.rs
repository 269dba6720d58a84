//! What it means to read a place, or to look at what is there.

use std::path::Path;

use super::{Finding, known};
use crate::{
    classify::{
        Class,
        path::{Spot, Spread},
    },
    ground::Ground,
    sensitive::path::Reading,
};

/// What it means to read a word.
pub(in crate::classify) fn reading(spread: &Spread, ground: &Ground) -> Finding {
    let lifted = |spot: &Spot| {
        let mut readable = ground.readable.iter();
        !spot.open && readable.any(|path| spot.is_in(path))
    };
    for spot in spread.places.iter().filter(|spot| !lifted(spot)) {
        if let Some(why) = secret(spot, ground) {
            return (
                Class::Suspicious,
                format!("it reads {why} ({})", spot.shown()),
            );
        }
    }
    (Class::ReadOnly, String::new())
}

/// What it means to look at the name, the size or the times of a word: what it holds stays hidden.
pub(in crate::classify) fn looking(spread: &Spread, ground: &Ground) -> Option<Finding> {
    let (class, why) = reading(spread, ground);
    let hidden = spread
        .places
        .iter()
        .all(|spot| !belongs_to_the_system(spot));
    (class > Class::ReadOnly && !hidden).then_some((class, why))
}

/// What it would read that is kept from others.
fn secret(spot: &Spot, ground: &Ground) -> Option<&'static str> {
    if belongs_to_the_system(spot) {
        return Some("what belongs to the system");
    }
    let row = known::in_home(spot, ground).filter(|row| row.read > Reading::Free)?;
    Some(row.what)
}

fn belongs_to_the_system(spot: &Spot) -> bool {
    if known::in_system(spot).is_some() {
        return true;
    }
    match (spot.part(0), spot.part(1)) {
        ("proc", _) => matches!(
            spot.part(2),
            "environ" | "mem" | "root" | "cwd" | "fd" | "maps"
        ),
        ("dev", name) => {
            matches!(name, "mem" | "kmem" | "tcp" | "udp")
                || ["sd", "nvme", "vd", "hd", "disk"]
                    .iter()
                    .any(|d| name.starts_with(d))
        }
        ("var", "run") | ("run", _) => spot
            .parts
            .last()
            .is_some_and(|name| Path::new(name).extension().is_some_and(|end| end == "sock")),
        _ => false,
    }
}
