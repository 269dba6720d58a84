//! A layer that is a TOML file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fit::{describe, fit, misfit, plain};
use super::{Entry, Errors, suggest_path};
use crate::config::error::ConfigError;
use crate::config::key::Key;
use crate::config::origin::Origin;
use crate::config::settings::keys;
use crate::config::value::path::Bases;

/// More than any configuration needs; a project must not fill our memory.
const LARGEST_FILE: u64 = 1 << 20;

/// Reads a file.
pub(in crate::config) fn file(path: &Path, bases: &Bases<'_>, errors: &mut Errors) -> Vec<Entry> {
    let text = match read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Vec::new(),
        Err(error) => {
            errors.push(error);
            return Vec::new();
        }
    };
    self::text(path, &text, bases, errors)
}

/// Reads the text of a file that somebody has opened already.
pub(in crate::config) fn text(
    path: &Path,
    text: &str,
    bases: &Bases<'_>,
    errors: &mut Errors,
) -> Vec<Entry> {
    match DeTable::parse(text) {
        Ok(table) => {
            let mut reader = Reader {
                file: path,
                text,
                bases,
                entries: Vec::new(),
                errors,
            };
            reader.table("", table.get_ref());
            reader.entries
        }
        Err(error) => {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
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
            let known = by_another_name(&path).unwrap_or(&path);
            if let Some(key) = keys().iter().find(|key| key.is(known)) {
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

/// Settings of the `bash` tool as other hosts of it write them.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("bash.default-timeout", "bash.default_timeout_ms"),
    ("bash.max-timeout", "bash.max_timeout_ms"),
    ("bash.max-output-length", "bash.max_output_chars"),
    (
        "bash.allow-disable-sandbox",
        "sandbox.allow_disable_sandbox",
    ),
    ("bash.docker-image", "sandbox.container_image"),
    ("bash.working-directory", "bash.working_directory"),
    ("bash.allowed-commands", "bash.allowed_commands"),
    ("bash.blocked-commands", "bash.blocked_commands"),
    ("bash.blocked-patterns", "bash.blocked_patterns"),
    ("bash.allowed-paths", "bash.allowed_paths"),
    ("bash.blocked-paths", "bash.blocked_paths"),
    ("bash.max-background-tasks", "bash.max_background_tasks"),
    ("bash.task-retention-hours", "bash.task_retention_hours"),
];

fn by_another_name(path: &str) -> Option<&'static str> {
    let found = OTHER_NAMES.iter().find(|(other, _)| *other == path);
    found.map(|(_, name)| *name)
}

fn is_section(path: &str) -> bool {
    keys().iter().any(|key| {
        key.section
            .strip_prefix(path)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}
