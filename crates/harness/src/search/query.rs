//! What is looked for: a pattern if it has `*`, `?` or `{…}` in it, and otherwise letters that a path
//! has in this order.

use globset::{GlobBuilder, GlobSet};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use thiserror::Error;

/// What is looked for, and what is not.
#[derive(Debug)]
pub(crate) struct Query {
    pub(super) names: Names,
    excluded: Gitignore,
}

/// Which names are meant.
#[derive(Debug)]
pub(super) enum Names {
    /// Those that match a pattern: of the file alone, or of the whole path.
    Glob { matcher: GlobSet, whole: bool },
    /// Those with these letters in them.
    Fuzzy(Pattern),
}

/// A search that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum QueryError {
    /// Nothing to look for.
    #[error("`pattern`: it is empty; give a part of a name, or a pattern such as `*.test.ts`")]
    Empty,
    /// A pattern to leave out that is none.
    #[error("`excludePatterns`: `{pattern}` is not a pattern: {reason}")]
    Excluded {
        /// The pattern.
        pattern: String,
        /// Why not.
        reason: String,
    },
}

impl Query {
    /// Understands a search.
    pub(crate) fn parse(pattern: &str, excluded: &[String]) -> Result<Self, QueryError> {
        let pattern = pattern.trim();
        if pattern.is_empty() {
            return Err(QueryError::Empty);
        }
        let mut builder = GitignoreBuilder::new("");
        for line in excluded {
            builder
                .add_line(None, line)
                .map_err(|error| QueryError::Excluded {
                    pattern: line.clone(),
                    reason: error.to_string(),
                })?;
        }
        let excluded = builder.build().map_err(|error| QueryError::Excluded {
            pattern: excluded.join(" "),
            reason: error.to_string(),
        })?;
        Ok(Self {
            names: glob(pattern).unwrap_or_else(|| fuzzy(pattern)),
            excluded,
        })
    }

    /// Whether a path is left out.
    pub(super) fn excludes(&self, path: &str) -> bool {
        !self.excluded.is_empty()
            && self
                .excluded
                .matched_path_or_any_parents(path, false)
                .is_ignore()
    }
}

/// The pattern, if it is one. `[` alone does not make one: folders are called `[id]`.
fn glob(pattern: &str) -> Option<Names> {
    let has_braces = pattern.contains('{') && pattern.contains('}');
    if !pattern.contains(['*', '?']) && !has_braces {
        return None;
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let glob = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .ok()?;
    // A set of one: unlike a single matcher it looks at the end of a name before anything else.
    let matcher = GlobSet::builder().add(glob).build().ok()?;
    Some(Names::Glob {
        whole: pattern.contains('/'),
        matcher,
    })
}

fn fuzzy(pattern: &str) -> Names {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    Names::Fuzzy(Pattern::parse(
        pattern,
        CaseMatching::Smart,
        Normalization::Smart,
    ))
}
