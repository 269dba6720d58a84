//! Layers without structure: environment variables and flags.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::fit::{fit, misfit, plain};
use super::{Entry, Errors, FlagValue, suggest_path};
use crate::config::error::{ConfigError, nearest};
use crate::config::key::Kind;
use crate::config::origin::Origin;
use crate::config::settings::keys;
use crate::config::value::Value;
use crate::config::value::path::Bases;

/// Variables that begin with `RINGFENCE_` (or are `RINGFENCE`) and are not configuration.
pub const RESERVED_VARIABLES: &[&str] = &[
    "RINGFENCE",
    "RINGFENCE_SANDBOX",
    "RINGFENCE_SANDBOX_NETWORK_DISABLED",
    "RINGFENCE_REQUIRE",
    "RINGFENCE_CONFIG_HOME",
    "RINGFENCE_STATE_HOME",
    "RINGFENCE_CACHE_HOME",
    "RINGFENCE_MCP_TOKEN",
    "RINGFENCE_LOG",
];

/// Reads the variables that are configuration.
pub(in crate::config) fn environment(
    variables: &BTreeMap<String, String>,
    bases: &Bases<'_>,
    errors: &mut Errors,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (variable, text) in variables {
        let ours = variable == "RINGFENCE" || variable.starts_with("RINGFENCE_");
        if !ours || RESERVED_VARIABLES.contains(&variable.as_str()) {
            continue;
        }
        let origin = Origin::Environment {
            variable: variable.clone(),
        };
        let Some(key) = keys().iter().find(|key| key.variable() == *variable) else {
            let names: Vec<String> = keys().iter().map(|key| key.variable()).collect();
            let suggestion = nearest(variable, names.iter().map(String::as_str));
            let (what, name) = ("variable", variable.clone());
            errors.push(ConfigError::Unknown {
                origin,
                what,
                name,
                suggestion,
            });
            continue;
        };
        match parse_text(key.kind, text).and_then(|value| fit(key, value, bases)) {
            Ok(value) => entries.push(Entry { key, value, origin }),
            Err(found) => errors.push(misfit(key, origin, found)),
        }
    }
    entries
}

/// Reads the flags.
pub(in crate::config) fn flags(
    flags: &[FlagValue],
    bases: &Bases<'_>,
    errors: &mut Errors,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for FlagValue {
        flag,
        key: path,
        value,
    } in flags
    {
        let origin = Origin::Flag { flag: flag.clone() };
        let Some(key) = keys().iter().find(|key| key.is(path)) else {
            let (name, suggestion) = ((*path).to_owned(), suggest_path(path));
            errors.push(ConfigError::Unknown {
                origin,
                what: "key",
                name,
                suggestion,
            });
            continue;
        };
        match fit(key, value.clone(), bases) {
            Ok(value) => entries.push(Entry { key, value, origin }),
            Err(found) => errors.push(misfit(key, origin, found)),
        }
    }
    entries
}

/// A variable's text as the value that its key wants: paths are separated by `:` as in `PATH`,
/// names by `,`, and a table is written as TOML does inline.
fn parse_text(kind: Kind, text: &str) -> Result<Value, String> {
    let list = |separator: char| {
        let items = text
            .split(separator)
            .map(str::trim)
            .filter(|item| !item.is_empty());
        Value::List(items.map(ToOwned::to_owned).collect())
    };
    Ok(match kind {
        Kind::Bool => match text {
            "true" | "1" => Value::Bool(true),
            "false" | "0" => Value::Bool(false),
            _ => return Err(format!("{text:?}")),
        },
        Kind::Number(_) | Kind::Limit(_) => match text.parse() {
            Ok(number) => Value::Number(number),
            Err(_) => Value::Text(text.to_owned()),
        },
        Kind::Choice(_) | Kind::Text | Kind::Path => Value::Text(text.to_owned()),
        Kind::Paths | Kind::RootedPaths => list(':'),
        Kind::Names | Kind::Hosts | Kind::Presets => list(','),
        Kind::Table => {
            let value = DeValue::parse(text).map_err(|_| format!("{text:?}"))?;
            plain(&value).map_err(|odd| odd.found)?
        }
    })
}
