//! JSON that is put together from pieces: texts grow, fields are added, entries with the same `index` are one.
//!
//! That is how clients of this API put deltas together, so that a field which nobody here knows is put together as well.

use super::super::raw::{Grown, Object, Raw};

/// Fields that are told once; a server that repeats them means the same.
const TOLD_ONCE: [&str; 3] = ["role", "type", "id"];

/// The field with calls.
pub(super) const CALLS: &str = "tool_calls";

/// JSON in the making.
#[derive(Debug)]
pub(super) enum Growing {
    Text(Grown),
    Fields(Vec<(String, Growing)>),
    List(Vec<Entry>),
    /// What came in one piece, as it came.
    Whole(Raw),
}

/// An entry of a list.
#[derive(Debug)]
pub(super) struct Entry {
    index: Option<u64>,
    value: Growing,
}

impl Growing {
    pub(super) fn new() -> Self {
        Self::Fields(Vec::new())
    }

    /// Adds a piece.
    pub(super) fn add(&mut self, piece: &Raw) {
        // Nothing is added by `null`.
        if piece.is_null() {
            return;
        }
        self.open();
        match self {
            Self::Text(text) if piece.text().starts_with('"') => text.push(piece),
            Self::Fields(fields) if piece.text().starts_with('{') => {
                for (name, raw) in piece.object().unwrap_or_default().iter() {
                    add_field(fields, name, raw);
                }
            }
            Self::List(entries) if piece.text().starts_with('[') => {
                for raw in piece.elements().unwrap_or_default() {
                    add_entry(entries, &raw);
                }
            }
            _ => *self = Self::Whole(piece.clone()),
        }
    }

    /// Takes what came in one piece apart, as there is more to come. Until then it stays as it came.
    fn open(&mut self) {
        let Self::Whole(raw) = self else {
            return;
        };
        let raw = raw.clone();
        match raw.text().as_bytes().first() {
            Some(b'"') => *self = Self::Text(Grown::default()),
            Some(b'{') => *self = Self::new(),
            Some(b'[') => *self = Self::List(Vec::new()),
            _ => return,
        }
        self.add(&raw);
    }

    /// The field of this name.
    pub(super) fn field(&self, name: &str) -> Option<&Growing> {
        let Self::Fields(fields) = self else {
            return None;
        };
        fields
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// How many entries it has.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::List(entries) => entries.len(),
            _ => 0,
        }
    }

    /// What it has become. Entries lose the `index` that only told where they belong.
    pub(super) fn raw(&self, within: &str) -> Raw {
        match self {
            Self::Text(text) => text.raw(),
            Self::Whole(raw) => raw.clone(),
            Self::Fields(fields) => {
                let kept = fields
                    .iter()
                    .filter(|(name, _)| within != CALLS || name != "index");
                let fields = kept.map(|(name, value)| (name.clone(), value.raw(name)));
                fields.collect::<Object>().to_raw()
            }
            Self::List(entries) => {
                let raws: Vec<Raw> = entries
                    .iter()
                    .map(|entry| entry.value.raw(within))
                    .collect();
                Raw::array(&raws)
            }
        }
    }
}

fn add_field(fields: &mut Vec<(String, Growing)>, name: &str, raw: &Raw) {
    let Some((_, known)) = fields.iter_mut().find(|(known, _)| known == name) else {
        let mut value = Growing::Whole(raw.clone());
        if name == CALLS {
            value.open();
        }
        fields.push((name.to_owned(), value));
        return;
    };
    if matches!(known, Growing::Whole(_)) && TOLD_ONCE.contains(&name) || name == "name" {
        known.open();
    }
    let repeats = match known {
        Growing::Text(text) if TOLD_ONCE.contains(&name) => !text.is_empty(),
        // A name may come in pieces, or again with every piece of the arguments.
        Growing::Text(text) if name == "name" => text.raw() == *raw,
        Growing::Whole(_) => name == "index",
        _ => false,
    };
    if !repeats {
        known.add(raw);
    }
}

fn add_entry(entries: &mut Vec<Entry>, raw: &Raw) {
    let fields = raw.object().unwrap_or_default();
    let index = fields.number("index");
    let known = match index {
        Some(index) => entries.iter().position(|entry| entry.index == Some(index)),
        // Without a place an entry with neither id nor type goes on with the one before it.
        None if fields.get("function").is_some()
            && fields.text("id").is_none_or(|id| id.is_empty()) =>
        {
            entries.len().checked_sub(1)
        }
        None => None,
    };
    if let Some(at) = known {
        entries[at].value.add(raw);
        return;
    }
    let mut value = Growing::Whole(raw.clone());
    // The place of a call is only told to put it together.
    if fields.get("function").is_some() || fields.get("custom").is_some() {
        value.open();
    }
    entries.push(Entry { index, value });
}
