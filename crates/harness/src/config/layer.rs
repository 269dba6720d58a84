//! The layers that a person can write: files, variables and flags, each read into entries that
//! know where they stand.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, nearest};
use super::key::{Key, Kind};
use super::keys::{KEYS, RESERVED_VARIABLES};
use super::origin::Origin;
use super::value::Value;
use super::value::path::Bases;

/// Where settings may come from. Files that do not exist are layers that say nothing.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The system's file.
    pub system: Option<PathBuf>,
    /// The user's file.
    pub user: Option<PathBuf>,
    /// The project's file, `.ringfence/config.toml` in its root.
    pub project: Option<PathBuf>,
    /// Whether the user trusts what the project brings.
    pub trust: Trust,
    /// The workspace, absolute: what a project may write, and where the relative paths of
    /// variables and flags start.
    pub workspace: PathBuf,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// The environment; only names that begin with `RINGFENCE` matter.
    pub environment: BTreeMap<String, String>,
    /// What was given on the command line, in that order.
    pub flags: Vec<FlagValue>,
}

/// Whether the user trusts what the project brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// It may tighten, not loosen.
    #[default]
    Untrusted,
    /// It counts like the user's own.
    Trusted,
}

/// A flag and what it sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagValue {
    /// The flag as the user wrote it, such as `--sandbox`.
    pub flag: String,
    /// The key that it sets, such as `sandbox.mode`.
    pub key: &'static str,
    /// The value.
    pub value: Value,
}

/// One setting of a layer.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) key: &'static Key,
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// What is wrong is collected, so that a person sees all of it at once.
type Errors = Vec<ConfigError>;

/// More than any configuration needs; a project must not fill our memory.
const LARGEST_FILE: u64 = 1 << 20;

/// Reads a file.
pub(super) fn file(path: &Path, bases: &Bases<'_>, errors: &mut Errors) -> Vec<Entry> {
    let text = match read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Vec::new(),
        Err(error) => {
            errors.push(error);
            return Vec::new();
        }
    };
    match DeTable::parse(&text) {
        Ok(table) => {
            let mut reader = Reader {
                file: path,
                text: &text,
                bases,
                entries: Vec::new(),
                errors,
            };
            reader.table("", table.get_ref());
            reader.entries
        }
        Err(error) => {
            let line = line_of(&text, error.span().map_or(0, |span| span.start));
            let message = error.message().to_owned();
            errors.push(ConfigError::Syntax {
                file: path.to_owned(),
                line,
                message,
            });
            Vec::new()
        }
    }
}

fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable {
        file: path.to_owned(),
        source,
    };
    let odd = |reason: String| ConfigError::NotAFile {
        file: path.to_owned(),
        reason,
    };
    let metadata = match fs::metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        metadata => metadata.map_err(unreadable)?,
    };
    // A pipe would make us wait for ever.
    if !metadata.is_file() {
        return Err(odd("is not a plain file".into()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(odd(format!("is larger than {LARGEST_FILE} bytes")));
    }
    fs::read_to_string(path).map(Some).map_err(unreadable)
}

fn line_of(text: &str, offset: usize) -> usize {
    text.get(..offset).unwrap_or(text).matches('\n').count() + 1
}

struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    bases: &'a Bases<'a>,
    entries: Vec<Entry>,
    errors: &'a mut Errors,
}

impl Reader<'_> {
    fn table(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let path = match section {
                "" => name.get_ref().to_string(),
                section => format!("{section}.{}", name.get_ref()),
            };
            if let Some(key) = KEYS.iter().find(|key| key.is(&path)) {
                self.value(key, value);
            } else if is_section(&path) {
                match value.get_ref() {
                    DeValue::Table(table) => self.table(&path, table),
                    other => {
                        let error = ConfigError::Value {
                            origin: self.origin(value.span().start),
                            key: path,
                            accepts: "a section".into(),
                            found: describe(other),
                        };
                        self.errors.push(error);
                    }
                }
            } else {
                let what = match value.get_ref() {
                    DeValue::Table(_) => "section",
                    _ => "key",
                };
                let suggestion = suggest_path(&path);
                let origin = self.origin(name.span().start);
                self.errors.push(ConfigError::Unknown {
                    origin,
                    what,
                    name: path,
                    suggestion,
                });
            }
        }
    }

    fn value(&mut self, key: &'static Key, value: &Spanned<DeValue<'_>>) {
        let origin = self.origin(value.span().start);
        let fitted = match plain(value) {
            Ok(plain) => fit(key, plain, self.bases),
            Err(odd) => {
                let origin = self.origin(odd.at);
                self.errors.push(misfit(key, origin, odd.found));
                return;
            }
        };
        match fitted {
            Ok(value) => self.entries.push(Entry { key, value, origin }),
            Err(found) => self.errors.push(misfit(key, origin, found)),
        }
    }

    fn origin(&self, offset: usize) -> Origin {
        Origin::File {
            file: self.file.to_owned(),
            line: line_of(self.text, offset),
        }
    }
}

fn is_section(path: &str) -> bool {
    KEYS.iter().any(|key| {
        key.section
            .strip_prefix(path)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The nearest name, first among those that stand in the same section.
fn suggest_path(path: &str) -> Option<String> {
    if let Some((section, name)) = path.rsplit_once('.') {
        let beside = KEYS
            .iter()
            .filter(|key| key.section == section)
            .map(|key| key.name);
        if let Some(name) = nearest(name, beside) {
            return Some(format!("{section}.{name}"));
        }
    }
    let paths: Vec<String> = KEYS
        .iter()
        .flat_map(|key| [key.path(), key.section.to_owned()])
        .collect();
    nearest(path, paths.iter().map(String::as_str)).or_else(|| {
        // The right name without its section, or in the wrong one.
        let name = path.rsplit('.').next()?;
        KEYS.iter().find(|key| key.name == name).map(Key::path)
    })
}

/// Reads the variables that are configuration.
pub(super) fn environment(
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
        let Some(key) = KEYS.iter().find(|key| key.variable() == *variable) else {
            let names: Vec<String> = KEYS.iter().map(Key::variable).collect();
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
pub(super) fn flags(flags: &[FlagValue], bases: &Bases<'_>, errors: &mut Errors) -> Vec<Entry> {
    let mut entries = Vec::new();
    for FlagValue {
        flag,
        key: path,
        value,
    } in flags
    {
        let origin = Origin::Flag { flag: flag.clone() };
        let Some(key) = KEYS.iter().find(|key| key.is(path)) else {
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
        Kind::Number(..) | Kind::Limit(_) => match text.parse() {
            Ok(number) => Value::Number(number),
            Err(_) => Value::Text(text.to_owned()),
        },
        Kind::Choice(_) | Kind::Path => Value::Text(text.to_owned()),
        Kind::Paths | Kind::RootedPaths => list(':'),
        Kind::Names => list(','),
        Kind::Table => {
            let value = DeValue::parse(text).map_err(|_| format!("{text:?}"))?;
            plain(&value).map_err(|odd| odd.found)?
        }
    })
}

/// A piece of TOML that no key accepts.
struct Odd {
    /// Where it begins.
    at: usize,
    /// What it is.
    found: String,
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
fn plain(value: &Spanned<DeValue<'_>>) -> Result<Value, Odd> {
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

fn describe(value: &DeValue<'_>) -> String {
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
fn fit(key: &Key, value: Value, bases: &Bases<'_>) -> Result<Value, String> {
    let found = value.to_string();
    match (key.kind, value) {
        (Kind::Bool, value @ Value::Bool(_)) | (Kind::Table, value @ Value::Table(_)) => Ok(value),
        (Kind::Number(least, most), Value::Number(number)) if (least..=most).contains(&number) => {
            Ok(Value::Number(number))
        }
        (Kind::Limit(least), Value::Number(number)) if number >= least => Ok(Value::Number(number)),
        (Kind::Limit(_), Value::Text(text)) if text == "unlimited" => Ok(Value::Nothing),
        (Kind::Choice(words), Value::Text(text)) if words.contains(&text.as_str()) => {
            Ok(Value::Text(text))
        }
        (Kind::Path, Value::Text(text)) => bases.absolute(&text).map(Value::Text),
        (Kind::Paths, Value::List(items)) => {
            let items = items.iter().map(|item| bases.absolute(item));
            Ok(Value::List(items.collect::<Result<_, _>>()?))
        }
        (Kind::RootedPaths, Value::List(items)) => {
            let items = items.iter().map(|item| bases.rooted(item));
            Ok(Value::List(items.collect::<Result<_, _>>()?))
        }
        (Kind::Names, Value::List(items)) if items.iter().all(|item| !item.is_empty()) => {
            Ok(Value::List(items))
        }
        _ => Err(found),
    }
}

fn misfit(key: &Key, origin: Origin, found: String) -> ConfigError {
    ConfigError::Value {
        origin,
        key: key.path(),
        accepts: key.kind.accepts(),
        found,
    }
}
