//! `file_search`: files by name, as spec 1 has it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, arguments};
use crate::error::CallError;
use crate::search::{Found, Wanted};

pub(super) const TOOL: Tool = Tool {
    name: "file_search",
    aliases: &["fileSearch"],
    description: "Finds files by a part of their path or by a pattern such as `*.test.ts`, best first.",
    schema: arguments::schema::<Arguments>,
    run: |engine, call, value| {
        Box::pin(async move {
            let arguments: Arguments = arguments::read("file_search", value)?;
            let excluded = arguments.exclude_patterns.unwrap_or_default();
            let wanted = Wanted::parse(&arguments.pattern, &excluded).map_err(|error| {
                CallError::BadArguments {
                    tool: "file_search".to_owned(),
                    message: error.to_string(),
                }
            })?;
            let limit = arguments.limit.unwrap_or(engine.config.files.search_limit);
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let found = engine.search_files(call, wanted, limit).await?;
            Ok(Value::Array(found.into_iter().map(reply).collect()))
        })
    },
};

/// The arguments of `file_search`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// Letters of the path in order (`harnlib` finds `harness/src/lib.rs`), or a pattern with `*`, `?` or `{a,b}`.
    pattern: String,
    /// The most results to return (100 unless configured otherwise).
    limit: Option<u64>,
    /// What to leave out, written like lines of a `.gitignore`.
    #[serde(rename = "excludePatterns")]
    exclude_patterns: Option<Vec<String>>,
}

fn reply(found: Found) -> Value {
    let mut value = json!({ "path": found.path, "score": found.score });
    if let Some(indices) = found.indices {
        value["indices"] = json!(indices);
    }
    value
}
