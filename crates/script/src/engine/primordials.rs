//! The intrinsics that marshaling relies on, taken before any script runs.
//!
//! A script may replace `Map.prototype.entries` or `RegExp.prototype.source`; what crosses the boundary does
//! not depend on it.

use super::quickjs::{Realm, Thrown, Val};

/// Functions of a realm as they were when it was made.
pub(crate) struct Primordials {
    pub(crate) map: Val,
    pub(crate) map_entries: Val,
    pub(crate) map_next: Val,
    pub(crate) map_set: Val,
    pub(crate) set: Val,
    pub(crate) set_values: Val,
    pub(crate) set_next: Val,
    pub(crate) set_add: Val,
    pub(crate) date_get_time: Val,
    pub(crate) regexp: Val,
    pub(crate) regexp_source: Val,
    pub(crate) regexp_flags: Val,
    pub(crate) data_view: Val,
    pub(crate) view_buffer: Val,
    pub(crate) view_offset: Val,
    pub(crate) view_length: Val,
    /// The getter of every typed array's `byteLength`.
    pub(crate) array_length: Val,
    pub(crate) big_int: Val,
    /// The getter of `Error.prototype.stack`, which gives the engine's own text.
    pub(crate) stack: Val,
    pub(crate) capture_stack: Val,
    /// The error constructors, by name.
    pub(crate) errors: Vec<(&'static str, Val)>,
}

const ERRORS: [&str; 8] = [
    "Error",
    "TypeError",
    "RangeError",
    "SyntaxError",
    "ReferenceError",
    "EvalError",
    "URIError",
    "AggregateError",
];

impl Primordials {
    /// Takes them from a fresh realm. `evaluate` runs an expression in that realm.
    pub(crate) fn take(
        realm: &Realm,
        evaluate: impl Fn(&str) -> Result<Val, Thrown>,
    ) -> Result<Self, Thrown> {
        let global = realm.global();
        let getter = |class: &str, name: &str| {
            evaluate(&format!(
                "Object.getOwnPropertyDescriptor({class}.prototype, '{name}').get"
            ))
        };
        let errors: Result<Vec<_>, _> = ERRORS
            .into_iter()
            .map(|name| Ok((name, global.get_text(name)?)))
            .collect();
        Ok(Self {
            map: global.get(c"Map")?,
            map_entries: evaluate("Map.prototype.entries")?,
            map_next: evaluate("Object.getPrototypeOf(new Map().entries()).next")?,
            map_set: evaluate("Map.prototype.set")?,
            set: global.get(c"Set")?,
            set_values: evaluate("Set.prototype.values")?,
            set_next: evaluate("Object.getPrototypeOf(new Set().values()).next")?,
            set_add: evaluate("Set.prototype.add")?,
            date_get_time: evaluate("Date.prototype.getTime")?,
            regexp: global.get(c"RegExp")?,
            regexp_source: getter("RegExp", "source")?,
            regexp_flags: getter("RegExp", "flags")?,
            data_view: global.get(c"DataView")?,
            view_buffer: getter("DataView", "buffer")?,
            view_offset: getter("DataView", "byteOffset")?,
            view_length: getter("DataView", "byteLength")?,
            array_length: getter("Object.getPrototypeOf(Uint8Array)", "byteLength")?,
            big_int: global.get(c"BigInt")?,
            stack: getter("Error", "stack")?,
            capture_stack: evaluate("Error.captureStackTrace")?,
            errors: errors?,
        })
    }
}
