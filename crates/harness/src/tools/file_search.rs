//! `file_search`: files by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Invocation, Tool};
use crate::error::CallError;
use crate::search::{Found, Query};

/// The tool.
pub(super) struct FileSearch;

impl Tool for FileSearch {
    type Arguments = Arguments;
    type Reply = Vec<FileSearchResult>;

    fn name(&self) -> &'static str {
        "file_search"
    }

    fn aliases(&self) -> &[&str] {
        &["fileSearch"]
    }

    fn description(&self) -> &'static str {
        "Finds files by a part of their path or by a pattern such as `*.test.ts`, best first."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: Arguments,
    ) -> Result<Vec<FileSearchResult>, CallError> {
        let Invocation { engine, call, .. } = at;
        let excluded = arguments.exclude_patterns.unwrap_or_default();
        let query = Query::parse(&arguments.pattern, &excluded).map_err(|error| {
            CallError::BadArguments {
                tool: "file_search".to_owned(),
                message: error.to_string(),
            }
        })?;
        let limit = arguments.limit.unwrap_or(engine.config.files.search_limit);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let found = engine.search_files(call, query, limit).await?;
        Ok(found.into_iter().map(FileSearchResult::of).collect())
    }
}

/// The arguments of `file_search`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// Letters of the path in order (`harnlib` finds `harness/src/lib.rs`), or a pattern with `*`, `?` or `{a,b}`.
    pattern: String,
    /// The most results to return (100 unless configured otherwise).
    limit: Option<u64>,
    /// What to leave out, written like lines of a `.gitignore`.
    #[serde(rename = "excludePatterns")]
    exclude_patterns: Option<Vec<String>>,
}

/// A file that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileSearchResult {
    /// Its path below the session's folder.
    path: String,
    /// How well it fits; comparable within one search.
    score: u32,
    /// Which characters of the path fit, as UTF-16 counts them; absent for a pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    indices: Option<Vec<u32>>,
}

impl FileSearchResult {
    fn of(found: Found) -> Self {
        Self {
            path: found.path,
            score: found.score,
            indices: found.indices,
        }
    }
}
