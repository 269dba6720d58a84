//! The named types of replies: each is declared once, however many tools return it.
//!
//! Names come from schemas, which may come from other servers: one that is no name of a type, that the language has
//! already, or that two different types lay claim to is not used, and the types are written out where they are.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::schema::{is_identifier, type_of, type_with};

/// Types that declarations use by name.
const OF_THE_LANGUAGE: &[&str] = &[
    "Array", "Object", "Promise", "Record", "String", "Number", "Boolean", "Function",
];

/// Types that are referred to by name.
#[derive(Debug, Default)]
pub(super) struct Interfaces<'s> {
    /// Where each is described, and the schema that this is a part of.
    known: BTreeMap<&'s str, (&'s Value, &'s Value)>,
}

impl<'s> Interfaces<'s> {
    /// The named types in these schemas.
    pub(super) fn of(schemas: impl Iterator<Item = &'s Value>) -> Self {
        let mut known: BTreeMap<&'s str, (&'s Value, &'s Value)> = BTreeMap::new();
        let mut disputed = BTreeSet::new();
        for root in schemas {
            for (name, part) in parts(root) {
                let same = |(other, of): &(&Value, &Value)| {
                    type_of(other, of, 0) == type_of(part, root, 0)
                };
                match known.get(name) {
                    Some(other) if !same(other) => drop(disputed.insert(name)),
                    Some(_) => {}
                    None => drop(known.insert(name, (part, root))),
                }
            }
        }
        // Only an object makes an interface; others lay claim to their names all the same.
        known
            .retain(|name, (part, _)| !disputed.contains(name) && part.get("properties").is_some());
        Self { known }
    }

    /// Whether a type is referred to by this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }

    /// Their declarations.
    pub(super) fn declared(&self) -> String {
        let declared = self.known.iter().map(|(name, (part, root))| {
            format!(
                "interface {name} {}\n\n",
                type_with(part, root, self, Some(name), 0)
            )
        });
        declared.collect()
    }
}

/// The types in a schema that have names.
fn parts(root: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let title = root.get("title").and_then(Value::as_str);
    let own = title.map(|title| (title, root));
    let below = root.get("$defs").and_then(Value::as_object);
    let below = below.into_iter().flatten();
    own.into_iter()
        .chain(below.map(|(name, part)| (name.as_str(), part)))
        .filter(|(name, _)| is_name(name))
}

fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_uppercase());
    begins && is_identifier(name) && !OF_THE_LANGUAGE.contains(&name)
}
