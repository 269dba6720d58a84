//! Why a value of a script did not cross, and where in it.

use super::quickjs::{Realm, Thrown};
use crate::value::wire::WireError;

/// Why a value did not cross.
pub(crate) enum CloneFault {
    /// Something in it cannot; the path is collected from the inside out.
    Refused { path: Vec<String>, what: String },
    /// It is larger than what may cross.
    TooLarge(usize),
    /// A getter threw, or memory ran out.
    Thrown(Thrown),
}

impl CloneFault {
    pub(super) fn refused(what: impl Into<String>) -> Self {
        Self::Refused {
            path: Vec::new(),
            what: what.into(),
        }
    }

    pub(super) fn at(mut self, part: impl FnOnce() -> String) -> Self {
        if let Self::Refused { path, .. } = &mut self {
            path.push(part());
        }
        self
    }

    pub(crate) fn is_too_large(&self) -> bool {
        matches!(self, Self::TooLarge(_))
    }

    /// The error for the script: a `SerializationError` that names the path below `root`.
    pub(crate) fn into_thrown(self, realm: &Realm, root: &str) -> Thrown {
        match self {
            Self::Thrown(thrown) => thrown,
            Self::TooLarge(limit) => {
                let message = format!("{root}: the value is larger than {limit} bytes");
                realm.error("SerializationError", &message)
            }
            Self::Refused { path, what } => {
                let path: String = path.iter().rev().map(String::as_str).collect();
                realm.error("SerializationError", &format!("{root}{path}: {what}"))
            }
        }
    }
}

impl From<Thrown> for CloneFault {
    fn from(thrown: Thrown) -> Self {
        Self::Thrown(thrown)
    }
}

impl From<WireError> for CloneFault {
    fn from(error: WireError) -> Self {
        if let WireError::TooLarge(limit) = error {
            return Self::TooLarge(limit);
        }
        Self::refused(match error {
            WireError::TooDeep(limit) => format!("the value is nested deeper than {limit} levels"),
            other => other.to_string(),
        })
    }
}

pub(super) fn path_part(key: &str) -> String {
    let plain = key.chars().enumerate().all(|(at, letter)| {
        letter == '_'
            || letter == '$'
            || letter.is_alphabetic()
            || at > 0 && letter.is_alphanumeric()
    });
    if plain && !key.is_empty() {
        format!(".{key}")
    } else {
        format!("[{key:?}]")
    }
}
