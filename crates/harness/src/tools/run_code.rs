//! `run_code`: JavaScript or TypeScript in a process of its own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ringfence_script::{CodeOptions, Function, JsonFunctions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::code_output::CodeOutput;
use super::{Invocation, Tool};
use crate::code::{Bridge, CodeBridge};
use crate::engine::Call;
use crate::error::CallError;

const NAME: &str = "run_code";

/// The tool.
pub(super) struct RunCode;

impl Tool for RunCode {
    type Arguments = Arguments;
    type Reply = CodeOutput;

    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &[&str] {
        &["runCode"]
    }

    fn description(&self) -> &'static str {
        "Runs an ES module (JavaScript or TypeScript) that reaches nothing but what it is given, and returns one of its exports."
    }

    async fn run(&self, at: Invocation<'_>, arguments: Arguments) -> Result<CodeOutput, CallError> {
        let options = match arguments.options {
            Some(options) => options.read(at.call)?,
            None => CodeOptions::new(),
        };
        let options = match &at.call.bridge {
            Some(bridge) => bridge.heard(options),
            None => options,
        };
        let deadline = arguments.timeout_ms.map_or(
            at.engine.config.script.limits.timeout,
            Duration::from_millis,
        );
        let result = at
            .engine
            .run_code(at.call, arguments.source, options, Some(deadline))
            .await?;
        Ok(CodeOutput::of(&result))
    }
}

/// The arguments of `run_code`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The source of the module.
    source: String,
    /// Which export to run, imports, modules, globals, language, memory limit and file name.
    options: Option<Options>,
    /// The most time to take, in milliseconds (30000 unless configured otherwise).
    timeout_ms: Option<u64>,
}

/// How a module is run.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "an object")]
struct Options {
    /// Which export becomes the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    execute: Option<Execute>,
    /// Modules that the source imports by a bare name: for each its exports, as values. JSON stands for itself, and
    /// `{"$": "bigint", "v": "1"}` for what JSON cannot write.
    #[serde(skip_serializing_if = "Option::is_none")]
    imports: Option<BTreeMap<String, Map<String, Value>>>,
    /// Modules that the source imports by a relative path such as `./helpers.js`: for each its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    modules: Option<BTreeMap<String, String>>,
    /// Names that the source finds without an import, and their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    globals: Option<BTreeMap<String, Value>>,
    /// What it is written in (`typescript` unless told).
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<CodeLanguage>,
    /// The most memory that its values may take, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_limit_bytes: Option<u64>,
    /// The name of the source in stack traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    /// Whether it gets a function `report`, whose arguments are in the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<bool>,
}

/// Which export becomes the result.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct Execute {
    /// Its name (`default` unless told).
    #[serde(rename = "fn", skip_serializing_if = "Option::is_none")]
    export: Option<String>,
    /// What it is called with, if it is a function.
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Vec<Value>>,
}

/// What a module is written in.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CodeLanguage {
    Javascript,
    Typescript,
}

impl Options {
    /// What the names and values amount to, which is the script's business to say.
    fn read(self, call: &Call) -> Result<CodeOptions, CallError> {
        let bad = |message: String| CallError::BadArguments {
            tool: NAME.to_owned(),
            message: format!("`options`: {message}"),
        };
        let options = serde_json::to_value(self).map_err(|error| bad(error.to_string()))?;
        let options = match &call.bridge {
            Some(Bridge(bridge)) => CodeOptions::from_json_with(&options, &mut Bridged(bridge)),
            None => CodeOptions::from_json(&options),
        };
        options.map_err(|error| bad(error.to_string()))
    }
}

/// Functions of whoever is at the other end of a call's bridge.
struct Bridged<'a>(&'a Arc<dyn CodeBridge>);

impl JsonFunctions for Bridged<'_> {
    fn write(&mut self, _: &Function) -> Value {
        // Options are only read.
        Value::Null
    }

    fn read(&mut self, tagged: &Map<String, Value>) -> Result<ringfence_script::Value, String> {
        let function = Arc::clone(self.0).function(tagged)?;
        Ok(function.into())
    }
}
