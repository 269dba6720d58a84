//! The bridges that `ringfence code` can build for a script: files, a console, a clock.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use ringfence::script::{CodeOptions, HostError, HostFunction, HostResult, Value};
use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::paint;

/// The largest file that a script may read.
const LARGEST_FILE: u64 = 16 << 20;
/// The longest that a script may sleep at once.
const LONGEST_SLEEP: f64 = 3_600_000.0;

/// Adds the bridge that a flag asks for: `fs=DIR`, `console` or `clock`.
pub(crate) fn add(options: CodeOptions, asked: &str) -> Result<CodeOptions> {
    match asked
        .split_once('=')
        .map_or((asked, None), |(name, value)| (name, Some(value)))
    {
        ("fs", Some(folder)) => files(options, Path::new(folder)),
        ("console", None) => Ok(console(options)),
        ("clock", None) => Ok(clock(options)),
        _ => bail!("--import takes fs=DIR, console or clock, not `{asked}`"),
    }
}

/// Files below a folder, to read. No path leads out of it, by links or otherwise.
fn files(options: CodeOptions, folder: &Path) -> Result<CodeOptions> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(folder, flags, Mode::empty())
        .with_context(|| format!("--import fs={} cannot be used", folder.display()))?;
    let root = Arc::new(root);
    let read_file = {
        let root = Arc::clone(&root);
        HostFunction::sync("readFile", move |arguments| read_file(&root, &arguments))
    };
    let read_dir = HostFunction::sync("readDir", move |arguments| read_dir(&root, &arguments));
    Ok(options.import(
        "fs",
        [
            ("readFile", Value::from(read_file)),
            ("readDir", Value::from(read_dir)),
        ],
    ))
}

fn open(root: &OwnedFd, arguments: &[Value], flags: OFlags) -> Result<OwnedFd, HostError> {
    let Some(path) = arguments.first().and_then(Value::as_str) else {
        return Err(HostError::named("TypeError", "the path must be a string"));
    };
    let path = path.trim_start_matches('/');
    let path = if path.is_empty() { "." } else { path };
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(root, path, flags | OFlags::CLOEXEC, Mode::empty(), beneath)
        .map_err(|error| HostError::new(format!("{path}: {}", std::io::Error::from(error))))
}

fn read_file(root: &OwnedFd, arguments: &[Value]) -> HostResult {
    // A pipe would be waited for; without blocking it reads as empty.
    let file = std::fs::File::from(open(root, arguments, OFlags::RDONLY | OFlags::NONBLOCK)?);
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| HostError::new(error.to_string());
    file.take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(HostError::named(
            "RangeError",
            "the file is larger than 16 MiB",
        ));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Value::from(text),
        Err(error) => Value::bytes(error.into_bytes()),
    })
}

fn read_dir(root: &OwnedFd, arguments: &[Value]) -> HostResult {
    let folder = open(root, arguments, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let failed = |error| HostError::new(std::io::Error::from(error).to_string());
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::new(folder).map_err(failed)? {
        let name = entry
            .map_err(failed)?
            .file_name()
            .to_string_lossy()
            .into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(Value::array(names))
}

/// What a script said to its console, as a line: texts as they are, anything else as JSON.
pub(crate) fn console_line(values: &[Value]) -> String {
    let words = values.iter().map(|value| {
        let text = value.as_str().map(str::to_owned);
        text.unwrap_or_else(|| value.to_json().to_string())
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A console that prints to standard error at once, instead of the one that collects.
fn console(options: CodeOptions) -> CodeOptions {
    let print = |level: &'static str| {
        Value::from(HostFunction::sync(level, move |arguments: Vec<Value>| {
            paint::aside(&console_line(&arguments));
            Ok(Value::Undefined)
        }))
    };
    let levels = ["log", "info", "warn", "error", "debug"];
    options.global(
        "console",
        Value::object(levels.map(|level| (level, print(level)))),
    )
}

/// The time, and a way to wait.
fn clock(options: CodeOptions) -> CodeOptions {
    let now = HostFunction::sync("now", |_| {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Ok(Value::from(since.as_secs_f64() * 1000.0))
    });
    let sleep = HostFunction::asynchronous("sleep", |arguments: Vec<Value>| async move {
        let asked = arguments.first().and_then(Value::as_number).unwrap_or(0.0);
        if !(0.0..=LONGEST_SLEEP).contains(&asked) {
            return Err(HostError::named(
                "RangeError",
                "sleep takes 0 to 3600000 milliseconds",
            ));
        }
        tokio::time::sleep(Duration::from_secs_f64(asked / 1000.0)).await;
        Ok(Value::Undefined)
    });
    options.import(
        "clock",
        [("now", Value::from(now)), ("sleep", Value::from(sleep))],
    )
}
