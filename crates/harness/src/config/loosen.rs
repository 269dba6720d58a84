//! What of a project's setting would loosen the fence.

use std::collections::BTreeMap;
use std::path::Path;

use ringfence_policy::sensitive::variable::project_may_set;

use super::key::{Key, Kind, Loosens};
use super::value::Value;

/// A project's value, parted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parted {
    /// What is honoured.
    pub(super) kept: Option<Value>,
    /// What is not.
    pub(super) refused: Option<Value>,
}

/// Parts a project's value into what tightens and what loosens, compared with what the layers
/// below came to.
pub(super) fn part(key: &Key, new: Value, below: &Value, workspace: &Path) -> Parted {
    match (key.loosens, new) {
        (Loosens::Outside, Value::List(items)) => {
            // The workspace is writable as it is. Kept as a root of its own, a folder inside could
            // be replaced by a link that leads out.
            let outside = items
                .into_iter()
                .filter(|item| !Path::new(item).starts_with(workspace));
            Parted {
                kept: None,
                refused: list(outside.collect()),
            }
        }
        (Loosens::Each, Value::List(items)) => {
            let Value::List(known) = below else {
                return refuse(Value::List(items));
            };
            let replaces = key.merge == super::key::Merge::Replace;
            let (kept, refused): (Vec<_>, Vec<_>) =
                items.into_iter().partition(|item| known.contains(item));
            // A list that replaces may be made empty, which is as tight as can be.
            let kept = if replaces && refused.is_empty() {
                Some(Value::List(kept))
            } else {
                list(kept)
            };
            Parted {
                kept,
                refused: list(refused),
            }
        }
        (Loosens::LoaderNames, Value::Table(items)) => {
            let Value::Table(known) = below else {
                return refuse(Value::Table(items));
            };
            // What the user has set may be there to keep something in check.
            let replaces =
                |name: &str, value: &str| known.get(name).is_some_and(|set| set != value);
            let (refused, kept): (BTreeMap<_, _>, BTreeMap<_, _>) = items
                .into_iter()
                .partition(|(name, value)| !project_may_set(name) || replaces(name, value));
            let table = |items: BTreeMap<_, _>| (!items.is_empty()).then_some(Value::Table(items));
            Parted {
                kept: table(kept),
                refused: table(refused),
            }
        }
        (_, new) if new == *below || !is_looser(key, &new, below) => Parted {
            kept: Some(new),
            refused: None,
        },
        (_, new) => refuse(new),
    }
}

fn is_looser(key: &Key, new: &Value, below: &Value) -> bool {
    match (key.loosens, new, below) {
        // Where there was no limit, any is tighter.
        (Loosens::Never, ..) | (Loosens::Higher, Value::Number(_), Value::Nothing) => false,
        (Loosens::Later, Value::Text(new), Value::Text(below)) => {
            let Kind::Choice(order) = key.kind else {
                return true;
            };
            let place = |word: &str| order.iter().position(|known| *known == word);
            place(new) > place(below)
        }
        (Loosens::To(words), Value::Text(new), _) => words.contains(&new.as_str()),
        (Loosens::Unless(steps), Value::Text(new), Value::Text(below)) => {
            !steps.contains(&(below.as_str(), new.as_str()))
        }
        (Loosens::When(loose), Value::Bool(new), _) => *new == loose,
        (Loosens::Higher, Value::Number(new), Value::Number(below)) => new > below,
        // Whatever the rule does not know is held to loosen.
        _ => true,
    }
}

fn refuse(value: Value) -> Parted {
    Parted {
        kept: None,
        refused: Some(value),
    }
}

fn list(items: Vec<String>) -> Option<Value> {
    (!items.is_empty()).then_some(Value::List(items))
}
