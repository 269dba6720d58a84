//! `run_code`: JavaScript or TypeScript in a process of its own, as spec 3 has it.

use std::time::Duration;

use ringfence_script::CodeOptions;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Tool, arguments};
use crate::error::CallError;

pub(super) const TOOL: Tool = Tool {
    name: "run_code",
    aliases: &["runCode"],
    description: "Runs an ES module (JavaScript or TypeScript) that reaches nothing but what it is given, and returns one of its exports.",
    schema: arguments::schema::<Arguments>,
    run: |engine, call, value| {
        Box::pin(async move {
            let arguments: Arguments = arguments::read("run_code", value)?;
            let options = match &arguments.options {
                Some(options) => {
                    CodeOptions::from_json(options).map_err(|error| CallError::BadArguments {
                        tool: "run_code".to_owned(),
                        message: format!("`options`: {error}"),
                    })?
                }
                None => CodeOptions::new(),
            };
            let deadline = arguments
                .timeout_ms
                .map_or(engine.config.script.limits.timeout, Duration::from_millis);
            let result = engine
                .run_code(call, arguments.source, options, Some(deadline))
                .await?;
            Ok(result.to_json())
        })
    },
};

/// The arguments of `run_code`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The source of the module.
    source: String,
    /// Which export to run, imports, modules, globals, language, memory limit and file name.
    options: Option<Value>,
    /// The most time to take, in milliseconds (30000 unless configured otherwise).
    timeout_ms: Option<u64>,
}
