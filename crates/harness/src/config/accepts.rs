//! What a setting accepts and becomes: the form in which it is written, its default, and the type
//! that the rest of the harness sees.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::key::{Kind, Merge, Preset};
use super::value::Value;

/// The form of a setting that becomes a `T`.
pub(super) struct Accepts<T> {
    pub(super) kind: Kind,
    pub(super) default: Preset,
    pub(super) merge: Merge,
    /// `None` for a value that is not of this kind, which no layer lets in.
    pub(super) read: fn(&Value) -> Option<T>,
}

/// A type that is written as one of a few words.
pub(super) trait Word: Sized {
    /// The words. Where some are looser than others, from tight to loose.
    const WORDS: &'static [&'static str];

    fn of(word: &str) -> Option<Self>;
}

const fn one<T>(kind: Kind, default: Preset, read: fn(&Value) -> Option<T>) -> Accepts<T> {
    Accepts {
        kind,
        default,
        merge: Merge::Replace,
        read,
    }
}

/// A list to which every layer adds.
const fn added<T>(kind: Kind, read: fn(&Value) -> Option<T>) -> Accepts<T> {
    Accepts {
        kind,
        default: Preset::List(&[]),
        merge: Merge::Add,
        read,
    }
}

/// One of the words of a type.
pub(super) const fn word<T: Word>(default: &'static str) -> Accepts<T> {
    one(Kind::Choice(T::WORDS), Preset::Text(default), |value| {
        T::of(&text_of(value)?)
    })
}

/// `true` or `false`.
pub(super) const fn switch(default: bool) -> Accepts<bool> {
    one(Kind::Bool, Preset::Bool(default), |value| match value {
        Value::Bool(value) => Some(*value),
        _ => None,
    })
}

/// A text that is not empty.
pub(super) const fn text(default: &'static str) -> Accepts<String> {
    one(Kind::Text, Preset::Text(default), text_of)
}

/// A whole number of at least so many.
pub(super) const fn number(least: u64, default: u64) -> Accepts<u64> {
    let kind = Kind::Number(least);
    one(kind, Preset::Number(default), number_of)
}

/// A time in milliseconds.
pub(super) const fn millis(least: u64, default: u64) -> Accepts<Duration> {
    one(Kind::Number(least), Preset::Number(default), |value| {
        number_of(value).map(Duration::from_millis)
    })
}

/// A time in hours.
pub(super) const fn hours(least: u64, default: u64) -> Accepts<Duration> {
    one(Kind::Number(least), Preset::Number(default), |value| {
        number_of(value).map(|hours| Duration::from_secs(hours.saturating_mul(3600)))
    })
}

/// A number that may be absent.
pub(super) const fn limit(least: u64, default: Option<u64>) -> Accepts<Option<u64>> {
    one(Kind::Limit(least), preset(default), limit_of)
}

/// A time in seconds that may be absent.
pub(super) const fn limit_seconds(least: u64, default: Option<u64>) -> Accepts<Option<Duration>> {
    one(Kind::Limit(least), preset(default), |value| {
        limit_of(value).map(|limit| limit.map(Duration::from_secs))
    })
}

/// A time in milliseconds that may be absent.
pub(super) const fn limit_millis(least: u64, default: Option<u64>) -> Accepts<Option<Duration>> {
    one(Kind::Limit(least), preset(default), |value| {
        limit_of(value).map(|limit| limit.map(Duration::from_millis))
    })
}

/// A path that is found out where nobody names it.
pub(super) const fn path() -> Accepts<Option<PathBuf>> {
    one(Kind::Path, Preset::Nothing, |value| match value {
        Value::Nothing => Some(None),
        value => text_of(value).map(|path| Some(path.into())),
    })
}

/// Paths, to which every layer adds.
pub(super) const fn paths() -> Accepts<Vec<PathBuf>> {
    added(Kind::Paths, paths_of)
}

/// Paths that may be relative to every writable root, to which every layer adds.
pub(super) const fn rooted_paths() -> Accepts<Vec<PathBuf>> {
    added(Kind::RootedPaths, paths_of)
}

/// Names, to which every layer adds.
pub(super) const fn names() -> Accepts<Vec<String>> {
    added(Kind::Names, list_of)
}

/// Names of which the last layer's count.
pub(super) const fn these_names(default: &'static [&'static str]) -> Accepts<Vec<String>> {
    one(Kind::Names, Preset::List(default), list_of)
}

/// Hosts, to which every layer adds.
pub(super) const fn hosts() -> Accepts<Vec<String>> {
    added(Kind::Hosts, list_of)
}

/// Names of presets, to which every layer adds.
pub(super) const fn presets() -> Accepts<Vec<String>> {
    added(Kind::Presets, list_of)
}

/// Names and texts, to which every layer adds.
pub(super) const fn table() -> Accepts<BTreeMap<String, String>> {
    Accepts {
        kind: Kind::Table,
        default: Preset::NoTable,
        merge: Merge::Add,
        read: |value| match value {
            Value::Table(items) => Some(items.clone()),
            _ => None,
        },
    }
}

const fn preset(limit: Option<u64>) -> Preset {
    match limit {
        Some(number) => Preset::Number(number),
        None => Preset::Nothing,
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    }
}

fn number_of(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

#[expect(clippy::option_option, reason = "no limit, and no value of this kind")]
fn limit_of(value: &Value) -> Option<Option<u64>> {
    match value {
        Value::Nothing => Some(None),
        value => number_of(value).map(Some),
    }
}

fn list_of(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::List(items) => Some(items.clone()),
        _ => None,
    }
}

fn paths_of(value: &Value) -> Option<Vec<PathBuf>> {
    let items = list_of(value)?;
    Some(items.into_iter().map(PathBuf::from).collect())
}
