//! Files that record what happened, and the fence's own: changing them hides something.

use super::{Finding, known};
use crate::{
    classify::{Class, path::Spot},
    ground::Ground,
    sensitive::path::OWN,
};

/// What it means to change what is at a place, if it is one of these.
pub(super) fn tampering(spot: &Spot, ground: &Ground) -> Option<Finding> {
    let shown = spot.shown();
    let own = spot.parts.iter().any(|part| part == ".ringfence")
        || known::in_home(spot, ground).is_some_and(|row| row.what == OWN);
    if own {
        let why = format!("it changes {OWN} ({shown})");
        return Some((Class::Dangerous, why));
    }
    let below = spot.below_home(ground).unwrap_or_default();
    let first = below.first().map_or("", String::as_str);
    let history = (first.starts_with('.') && first.ends_with("history"))
        || below
            .last()
            .is_some_and(|name| name.ends_with("_history") || name == "ConsoleHost_history.txt");
    if history {
        return Some((
            Class::Dangerous,
            format!("it tampers with the shell's history ({shown})"),
        ));
    }
    let log = spot.part(0) == "var" && spot.part(1) == "log" && !spot.may_write(ground);
    let login = matches!(spot.part(1), "utmp" | "wtmp") && matches!(spot.part(0), "run" | "var");
    (log || login).then(|| {
        (
            Class::Dangerous,
            format!("it tampers with the system's logs ({shown})"),
        )
    })
}
