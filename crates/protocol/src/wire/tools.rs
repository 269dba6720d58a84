//! `tools`: what can be called.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What can be called.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolsResult {
    /// The tools.
    pub tools: Vec<ToolDescription>,
}

/// A tool, as a model is told about it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolDescription {
    /// Its name.
    pub name: String,
    /// Other names that it answers to.
    pub aliases: Vec<String>,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// The JSON schema of its reply.
    pub output_schema: Value,
}
