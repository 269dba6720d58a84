//! `run_script`: a script that composes tools.

use std::time::Duration;

use ringfence_dialect::{Language, ScriptToolCallOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Invocation, Tool};
use crate::error::CallError;
use crate::script::{ScriptRequest, ScriptRun};

/// The tool.
pub(super) struct RunScript;

impl Tool for RunScript {
    type Arguments = Arguments;
    type Reply = Reply;

    fn name(&self) -> &'static str {
        "run_script"
    }

    fn description(&self) -> &'static str {
        "Runs a script, the body of an async function in TypeScript, that calls tools as `await tools.exec({command: [\"ls\"]})` and returns JSON."
    }

    async fn run(&self, at: Invocation<'_>, arguments: Arguments) -> Result<Reply, CallError> {
        let Invocation { engine, call, .. } = at;
        let mut request = ScriptRequest::new(arguments.source);
        request.language = arguments.language.unwrap_or_default().into();
        request.timeout = arguments.timeout_ms.map(Duration::from_millis);
        Ok(Reply::of(engine.run_script(call, request).await?))
    }
}

/// The arguments of `run_script`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The script.
    source: String,
    /// What it is written in (`ts` unless told).
    language: Option<Written>,
    /// The most time to take, in milliseconds (30000 unless configured otherwise).
    timeout_ms: Option<u64>,
}

/// What came of a script: the item that goes into the conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Reply {
    /// Which item it is.
    #[serde(rename = "type")]
    kind: ItemKind,
    #[serde(flatten)]
    output: ScriptToolCallOutput,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ItemKind {
    ScriptToolCallOutput,
}

impl Reply {
    fn of(run: ScriptRun) -> Self {
        Self {
            kind: ItemKind::ScriptToolCallOutput,
            output: run.output,
        }
    }
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
