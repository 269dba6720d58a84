//! Flags as values of the configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use ringfence::config::{FlagValue, Value};

use crate::arguments::Common;

/// The flags as values of the configuration.
pub(crate) fn flag_values(common: &Common) -> Result<Vec<FlagValue>> {
    let mut values = Vec::new();
    let mut text = |flag: &str, key: &'static str, value: Option<&String>| {
        values.extend(value.map(|value| FlagValue {
            flag: flag.to_owned(),
            key,
            value: Value::Text(value.clone()),
        }));
    };
    text("--sandbox", "sandbox.mode", common.sandbox.as_ref());
    text("--approval", "approval.policy", common.approval.as_ref());
    text("--network", "sandbox.network", common.network.as_ref());
    for (flag, key, listed) in [
        ("--allow-host", "network.allow", &common.allow_host),
        ("--preset", "network.presets", &common.preset),
    ] {
        if listed.is_empty() {
            continue;
        }
        values.push(FlagValue {
            flag: flag.to_owned(),
            key,
            value: Value::List(listed.clone()),
        });
        if common.network.is_none() {
            values.push(FlagValue {
                flag: flag.to_owned(),
                key: "sandbox.network",
                value: Value::Text("allow-list".to_owned()),
            });
        }
    }
    for (flag, key, paths) in [
        (
            "--allow-socket",
            "sandbox.unix_sockets",
            &common.allow_socket,
        ),
        ("--writable", "sandbox.writable_roots", &common.writable),
        ("--allow-read", "sandbox.allowed_reads", &common.allow_read),
    ] {
        if !paths.is_empty() {
            let value = Value::List(real_paths(flag, paths)?);
            let flag = flag.to_owned();
            values.push(FlagValue { flag, key, value });
        }
    }
    values.extend(variables(&common.env)?);
    values.extend(common.limits.given().map(|(flag, key, value)| FlagValue {
        flag: flag.to_owned(),
        key,
        value: Value::Number(value),
    }));
    Ok(values)
}

/// Paths with every link in them followed.
fn real_paths(flag: &str, paths: &[PathBuf]) -> Result<Vec<String>> {
    let real = paths.iter().map(|path| {
        let real = path.canonicalize();
        let real = real.with_context(|| format!("{flag} {} cannot be used", path.display()))?;
        Ok(real.display().to_string())
    });
    real.collect()
}

/// Variables that are passed on, and those that are set.
fn variables(written: &[String]) -> Result<Vec<FlagValue>> {
    let (mut passed, mut set) = (Vec::new(), BTreeMap::new());
    for written in written {
        let (name, value) = match written.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (written.as_str(), None),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            anyhow::bail!("--env {written} cannot be used: write NAME or NAME=VALUE");
        }
        match value {
            Some(value) => {
                set.insert(name.to_owned(), value.to_owned());
            }
            None if std::env::var_os(name).is_none() => {
                anyhow::bail!("--env {name} cannot be used: there is no such variable here")
            }
            None => passed.push(name.to_owned()),
        }
    }
    let flag = || "--env".to_owned();
    let mut values = Vec::new();
    if !passed.is_empty() {
        values.push(FlagValue {
            flag: flag(),
            key: "environment.include",
            value: Value::List(passed),
        });
    }
    if !set.is_empty() {
        values.push(FlagValue {
            flag: flag(),
            key: "environment.set",
            value: Value::Table(set),
        });
    }
    Ok(values)
}
