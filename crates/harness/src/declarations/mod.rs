//! Tools as a model reads about them: TypeScript declarations made from their JSON schemas, a short
//! text for the prompt, and single tools looked up by words, so that a model with hundreds of them
//! reads only what it needs.
//!
//! Names and descriptions may come from other servers: nothing in them gets out of its comment or its
//! quotes.

mod lookup;
mod schema;
mod source;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use lookup::{describe, search};
pub use source::{declarations, prompt};

/// A tool as it is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// Its path below `tools`, such as `exec` or `mcp.files.read`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its argument.
    pub schema: Value,
    /// The type of what it returns.
    pub returns: String,
}

impl Declared {
    /// A tool whose reply is known, if it is one of ours.
    pub fn new(name: impl Into<String>, description: impl Into<String>, schema: Value) -> Self {
        let name = name.into();
        Self {
            returns: returns(&name).to_owned(),
            name,
            description: description.into(),
            schema,
        }
    }
}

/// What our own tools return.
fn returns(name: &str) -> &'static str {
    match name {
        "exec" => "Promise<ExecResult>",
        "spawn.exec" => "{ id: string; done: Promise<ExecResult> }",
        "spawn.cancel" => "Promise<boolean>",
        "applyPatch" | "apply_patch" => "Promise<PatchResult>",
        "fileSearch" | "file_search" => "Promise<FileSearchResult[]>",
        _ => "Promise<unknown>",
    }
}
