//! Tools as a model reads about them: TypeScript declarations made from their JSON schemas, a short
//! text for the prompt, and single tools looked up by words, so that a model with hundreds of them
//! reads only what it needs.
//!
//! Names and descriptions may come from other servers: nothing in them gets out of its comment or its
//! quotes.

mod interfaces;
mod lookup;
mod prompt;
mod schema;
mod source;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use lookup::{describe, search};
pub use prompt::prompt;
pub use source::declarations;

/// A tool as it is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// Its path below `tools`, such as `exec` or `mcp.files.read`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its argument.
    pub schema: Value,
    /// What it returns.
    pub returns: Returns,
}

/// What a script gets from a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Returns {
    /// A promise of what this JSON schema describes.
    Promise(Value),
    /// A task that outlives the script, with a promise of what this JSON schema describes.
    Task(Value),
}

impl Declared {
    /// A tool whose reply is not known.
    pub fn new(name: impl Into<String>, description: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            schema,
            returns: Returns::Promise(Value::Bool(true)),
        }
    }
}

impl Returns {
    /// The JSON schema of the reply.
    pub fn schema(&self) -> &Value {
        match self {
            Self::Promise(schema) | Self::Task(schema) => schema,
        }
    }
}
