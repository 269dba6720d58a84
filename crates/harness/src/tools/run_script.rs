//! `run_script`: a script that composes tools, as spec 1 has it.

use std::time::Duration;

use ringfence_dialect::Language;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tool, arguments};
use crate::error::CallError;
use crate::script::ScriptRequest;

pub(super) const TOOL: Tool = Tool {
    name: "run_script",
    aliases: &[],
    description: "Runs a script, the body of an async function in TypeScript, that calls tools as `await tools.exec({command: [\"ls\"]})` and returns JSON.",
    schema: arguments::schema::<Arguments>,
    run: |engine, call, value| {
        Box::pin(async move {
            let arguments: Arguments = arguments::read("run_script", value)?;
            let mut request = ScriptRequest::new(arguments.source);
            request.language = arguments.language.unwrap_or_default().into();
            request.timeout = arguments.timeout_ms.map(Duration::from_millis);
            let [_, output] = engine.run_script(call, request).await?.into_items();
            serde_json::to_value(&output).map_err(|error| CallError::BadArguments {
                tool: "run_script".to_owned(),
                message: error.to_string(),
            })
        })
    },
};

/// The arguments of `run_script`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The script.
    source: String,
    /// What it is written in (`ts` unless told).
    language: Option<Written>,
    /// The most time to take, in milliseconds (30000 unless configured otherwise).
    timeout_ms: Option<u64>,
}

/// What a script is written in.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Written {
    #[default]
    Ts,
    Js,
}

impl From<Written> for Language {
    fn from(written: Written) -> Self {
        match written {
            Written::Ts => Self::Ts,
            Written::Js => Self::Js,
        }
    }
}
