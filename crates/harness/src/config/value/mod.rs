//! A value of a key, before it becomes a type of its own.

pub(super) mod path;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Unlimited, or found out at run time.
    Nothing,
    /// A switch.
    Bool(bool),
    /// A whole number.
    Number(u64),
    /// A word or a path.
    Text(String),
    /// A list of words or paths.
    List(Vec<String>),
    /// Names and texts.
    Table(BTreeMap<String, String>),
}

impl fmt::Display for Value {
    /// The value as TOML writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("(none)"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(&quoted(value)),
            Self::List(values) => {
                let values: Vec<_> = values.iter().map(|value| quoted(value)).collect();
                write!(f, "[{}]", values.join(", "))
            }
            Self::Table(values) if values.is_empty() => f.write_str("{}"),
            Self::Table(values) => {
                let values: Vec<_> = values
                    .iter()
                    .map(|(name, value)| format!("{} = {}", bare_or_quoted(name), quoted(value)))
                    .collect();
                write!(f, "{{ {} }}", values.join(", "))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn bare_or_quoted(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        quoted(name)
    }
}
