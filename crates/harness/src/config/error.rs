//! What can be wrong with a configuration. Every message says where, and what to write instead.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::origin::Origin;

impl ConfigError {
    /// Whether it is in this file.
    pub fn is_in(&self, path: &Path) -> bool {
        self.to_string().starts_with(&path.display().to_string())
    }
}

/// One thing that is wrong.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// A file is there and cannot be read.
    #[error("{}: cannot be read: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is no configuration file by its size or kind.
    #[error("{}: {reason}", file.display())]
    NotAFile {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file is not TOML.
    #[error("{}:{line}: {message}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser said.
        message: String,
    },
    /// A key, section or variable that does not exist.
    #[error("{origin}: unknown {what} `{name}`{}", suggest(suggestion.as_deref()))]
    Unknown {
        /// Where it stands.
        origin: Origin,
        /// What it would be: a key, a section, a variable.
        what: &'static str,
        /// Its name.
        name: String,
        /// A name that exists and looks much like it.
        suggestion: Option<String>,
    },
    /// A value that its key does not accept.
    #[error("{origin}: `{key}` must be {accepts}; found {found}")]
    Value {
        /// Where it stands.
        origin: Origin,
        /// The key.
        key: String,
        /// What it accepts.
        accepts: String,
        /// What was found instead.
        found: String,
    },
}

fn suggest(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("; did you mean `{name}`?"),
        None => "; see `ringfence config show` for all keys".to_owned(),
    }
}

/// All that is wrong, in the order of the layers.
#[derive(Debug, Error)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// The name that looks most like this one, if any does.
pub(super) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let lower = name.to_ascii_lowercase().replace('-', "_");
    names
        .into_iter()
        .map(|known| {
            (
                strsim::damerau_levenshtein(&lower, &known.to_ascii_lowercase()),
                known,
            )
        })
        .filter(|(distance, known)| *distance <= (known.len().max(lower.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known.to_owned())
}
