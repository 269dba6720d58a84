//! Whether a value is what its key accepts.

use ringfence_policy::preset::Preset;
use ringfence_policy::rule::HostPattern;
use toml::Spanned;
use toml::de::DeValue;

use crate::config::error::ConfigError;
use crate::config::key::{Key, Kind};
use crate::config::origin::Origin;
use crate::config::value::Value;
use crate::config::value::path::Bases;

/// A piece of TOML that no key accepts.
pub(super) struct Odd {
    /// Where it begins.
    pub(super) at: usize,
    /// What it is.
    pub(super) found: String,
}

impl Odd {
    fn new(value: &Spanned<DeValue<'_>>) -> Self {
        Self {
            at: value.span().start,
            found: describe(value.get_ref()),
        }
    }
}

/// A value of TOML as one of ours.
pub(super) fn plain(value: &Spanned<DeValue<'_>>) -> Result<Value, Odd> {
    Ok(match value.get_ref() {
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let parsed = u64::from_str_radix(number.as_str(), number.radix());
            Value::Number(parsed.map_err(|_| Odd::new(value))?)
        }
        DeValue::Array(items) => Value::List(items.iter().map(text_of).collect::<Result<_, _>>()?),
        DeValue::Table(table) => {
            let items = table
                .iter()
                .map(|(name, item)| Ok((name.get_ref().to_string(), text_of(item)?)));
            Value::Table(items.collect::<Result<_, Odd>>()?)
        }
        DeValue::Float(_) | DeValue::Datetime(_) => return Err(Odd::new(value)),
    })
}

fn text_of(value: &Spanned<DeValue<'_>>) -> Result<String, Odd> {
    match value.get_ref() {
        DeValue::String(text) => Ok(text.to_string()),
        other => Err(Odd {
            at: value.span().start,
            found: format!("{} inside", describe(other)),
        }),
    }
}

pub(super) fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

/// The value as its key accepts it, or what was found instead.
pub(super) fn fit(key: &Key, value: Value, bases: &Bases<'_>) -> Result<Value, String> {
    let found = value.to_string();
    match (key.kind, value) {
        (Kind::Bool, value @ Value::Bool(_)) | (Kind::Table, value @ Value::Table(_)) => Ok(value),
        (Kind::Number(least) | Kind::Limit(least), Value::Number(number)) if number >= least => {
            Ok(Value::Number(number))
        }
        (Kind::Limit(_), Value::Text(text)) if text == "unlimited" => Ok(Value::Nothing),
        (Kind::Choice(words), Value::Text(text)) if words.contains(&text.as_str()) => {
            Ok(Value::Text(text))
        }
        (Kind::Text, Value::Text(text)) if !text.is_empty() => Ok(Value::Text(text)),
        (Kind::Path, Value::Text(text)) => bases.absolute(&text).map(Value::Text),
        (Kind::Paths, Value::List(items)) => {
            let items = items.iter().map(|item| bases.absolute(item));
            Ok(Value::List(items.collect::<Result<_, _>>()?))
        }
        (Kind::RootedPaths, Value::List(items)) => {
            let items = items.iter().map(|item| bases.rooted(item));
            Ok(Value::List(items.collect::<Result<_, _>>()?))
        }
        (Kind::Hosts, Value::List(items)) => {
            for item in &items {
                HostPattern::parse(item).map_err(|error| format!("{item:?}: {error}"))?;
            }
            Ok(Value::List(items))
        }
        (Kind::Presets, Value::List(items))
            if items.iter().all(|item| Preset::of(item).is_some()) =>
        {
            Ok(Value::List(items))
        }
        (Kind::Names, Value::List(items)) if items.iter().all(|item| !item.is_empty()) => {
            Ok(Value::List(items))
        }
        _ => Err(found),
    }
}

pub(super) fn misfit(key: &Key, origin: Origin, found: String) -> ConfigError {
    ConfigError::Value {
        origin,
        key: key.path(),
        accepts: key.kind.accepts(),
        found,
    }
}
