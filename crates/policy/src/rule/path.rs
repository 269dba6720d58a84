//! Matching paths, part by part.
//!
//! A rule about a folder is about everything in it. `~/.ssh` does not mean `~/.sshfoo`.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::text::glob;
use crate::ground::Ground;

/// What is done with a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It is read.
    Read,
    /// It is written, made, changed or deleted.
    Write,
    /// Either.
    #[default]
    Any,
}

/// Paths that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    /// As it was written: absolute, below `~`, or relative to the workspace.
    pub written: String,
    /// What is done with them.
    pub access: Access,
}

impl Access {
    fn includes(self, other: Self) -> bool {
        self == Self::Any || other == Self::Any || self == other
    }
}

impl PathPattern {
    /// The pattern as parts from the root; nothing if it is below a home folder that isn't known.
    pub(crate) fn parts(&self, ground: &Ground) -> Option<Vec<String>> {
        let (base, rest) = match self.written.strip_prefix("~/") {
            Some(rest) => (ground.home.clone()?, rest),
            None if self.written == "~" => (ground.home.clone()?, ""),
            None if self.written.starts_with('/') => (PathBuf::from("/"), self.written.as_str()),
            None => (ground.workspace.clone(), self.written.as_str()),
        };
        let mut parts = names(&base);
        for part in rest.split('/') {
            match part {
                "" | "." => {}
                ".." => _ = parts.pop(),
                part => parts.push(part.to_owned()),
            }
        }
        Some(parts)
    }

    /// Whether this path is meant.
    pub(crate) fn is_match(&self, path: &Path, access: Access, ground: &Ground) -> bool {
        self.access.includes(access)
            && self.may_begin(path)
            && self
                .parts(ground)
                .is_some_and(|pattern| covers(&pattern, &names(path)))
    }

    /// Whether the first part can be the same: a cheap test before the exact one.
    fn may_begin(&self, path: &Path) -> bool {
        let Some(rest) = self.written.strip_prefix('/') else {
            return true;
        };
        let first = rest.split('/').next().unwrap_or_default();
        if first.is_empty() || first.contains(['*', '?', '.']) {
            return true;
        }
        path.components()
            .nth(1)
            .is_some_and(|part| part.as_os_str() == first)
    }

    pub(crate) fn access_includes(&self, access: Access) -> bool {
        self.access.includes(access)
    }

    pub(crate) fn specificity(&self) -> usize {
        self.written
            .split('/')
            .filter(|part| !part.is_empty() && !part.contains('*'))
            .count()
    }
}

fn names(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            std::path::Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            std::path::Component::ParentDir => _ = names.pop(),
            _ => {}
        }
    }
    names
}

/// Whether a pattern means a path or a folder above it. `**` stands for any number of parts.
pub(crate) fn covers(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        None => true,
        Some((first, rest)) if first == "**" => {
            (0..=path.len()).any(|skip| covers(rest, &path[skip..]))
        }
        Some((first, rest)) => match path.split_first() {
            Some((name, below)) => glob(first, name) && covers(rest, below),
            None => false,
        },
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.access {
            Access::Read => write!(f, "reading {}", self.written),
            Access::Write => write!(f, "writing {}", self.written),
            Access::Any => write!(f, "path {}", self.written),
        }
    }
}
