//! What a script returned: JSON, or too much of it.

use ringfence_dialect::{ErrorCode, Phase, ScriptError};
use ringfence_script::CodeExecutionResult;
use serde_json::{Value, json};

use super::failure;

/// Characters of something that is too large.
const PREVIEW: usize = 2000;

/// What a script returned.
#[derive(Debug, Default)]
pub(super) struct ReturnValue {
    /// It, as JSON text, or what there is in its place.
    pub(super) json: Option<String>,
    /// The `message` in it.
    pub(super) summary: Option<String>,
    /// Why it is not taken as it is.
    pub(super) error: Option<Box<ScriptError>>,
}

impl ReturnValue {
    /// What came of a run that ended by itself.
    pub(super) fn of(result: &CodeExecutionResult, most: u64) -> Self {
        if let Some(error) = failure::of_run(result) {
            return Self::failed(error);
        }
        if let Some(oversize) = &result.oversize {
            return Self::too_large(oversize.bytes, &preview(&oversize.preview), most);
        }
        let Some(text) = result.result.as_ref().and_then(|value| value.as_str()) else {
            return Self::default();
        };
        // The process that wrote it is not trusted to have written JSON.
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                return Self::failed(odd(format!(
                    "what the script returned is not JSON: {error}"
                )));
            }
        };
        let summary = value.get("message").and_then(Value::as_str);
        let summary = summary.map(|summary| summary.chars().take(PREVIEW).collect());
        let size = text.len() as u64;
        if size > most {
            return Self {
                summary,
                ..Self::too_large(size, &preview(text), most)
            };
        }
        Self {
            json: Some(text.to_owned()),
            summary,
            error: None,
        }
    }

    fn failed(error: ScriptError) -> Self {
        Self {
            error: Some(Box::new(error)),
            ..Self::default()
        }
    }

    /// A result that is replaced by its size and how it begins.
    fn too_large(bytes: u64, preview: &str, most: u64) -> Self {
        let error = odd(format!(
            "what the script returned has {bytes} bytes as JSON; at most {most} are taken, so return less: `output_json` \
             has how it begins"
        ));
        let shown = json!({ "truncated": true, "bytes": bytes, "preview": preview });
        Self {
            json: Some(shown.to_string()),
            ..Self::failed(error.with("bytes", bytes))
        }
    }
}

fn odd(message: String) -> ScriptError {
    ScriptError::new(ErrorCode::SerializationError, Phase::Finalizing, message)
}

/// How a text begins.
pub(super) fn preview(text: &str) -> String {
    text.chars().take(PREVIEW).collect()
}
