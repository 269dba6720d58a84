//! An item of a conversation: what the model said or thought, a script that it wrote, and what
//! came of it. The names of the fields are those of the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::said::Said;
use crate::script_error::ScriptError;

/// One item. A conversation is a list of them, in the order in which things were said and done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item {
    /// Something said.
    Message(Message),
    /// Something thought.
    Reasoning(Reasoning),
    /// A script that the model wrote.
    ScriptToolCall(ScriptToolCall),
    /// What came of it.
    ScriptToolCallOutput(Box<ScriptToolCallOutput>),
    /// A call of a tool that the model made in its provider's own form.
    FunctionCall(FunctionCall),
    /// What came of it.
    FunctionCallOutput(FunctionCallOutput),
}

/// A call of a tool in a provider's own form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The id that it shares with its output.
    pub call_id: String,
    /// The tool, as the model named it.
    pub name: String,
    /// What it is called with, as JSON or as a text.
    pub arguments: String,
}

/// What came of a call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCallOutput {
    /// The id that it shares with its call.
    pub call_id: String,
    /// What the model is told.
    pub output: String,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// Something said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// By whom.
    pub role: Role,
    /// What, in parts.
    pub content: Vec<MessagePart>,
}

impl Message {
    /// What the model said.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![MessagePart::OutputText { text: text.into() }],
        }
    }

    /// The whole text.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .map(|MessagePart::OutputText { text }| text.as_str())
            .collect()
    }
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The model.
    Assistant,
}

/// A part of what was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessagePart {
    /// Text.
    OutputText {
        /// Byte for byte as the model wrote it.
        text: String,
    },
}

/// Something thought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// What, in parts.
    pub content: Vec<ReasoningPart>,
}

impl Reasoning {
    /// A thought.
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            content: vec![ReasoningPart::ReasoningText { text: text.into() }],
        }
    }
}

/// A part of what was thought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReasoningPart {
    /// Text.
    ReasoningText {
        /// Byte for byte as the model wrote it.
        text: String,
    },
}

/// What a script is written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// TypeScript.
    #[default]
    Ts,
    /// JavaScript.
    Js,
}

/// How far a script has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScriptStatus {
    /// It has not been started.
    Pending,
    /// It runs.
    Executing,
    /// It returned.
    Completed,
    /// It failed, or was never run.
    Error,
}

/// A script that the model wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptToolCall {
    /// Its own id (`scr_…`).
    pub id: String,
    /// The id that it shares with its output (`call_…`).
    pub call_id: String,
    /// What it is written in.
    pub language: Language,
    /// The script.
    pub source_code: String,
    /// The SHA-256 of the script, in hexadecimal digits.
    pub source_sha256: String,
    /// How far it has come.
    pub status: ScriptStatus,
}

impl ScriptToolCall {
    /// A script that has not been started.
    pub fn pending(id: String, call_id: String, language: Language, source_code: String) -> Self {
        Self {
            id,
            call_id,
            language,
            source_sha256: source_sha256(&source_code),
            source_code,
            status: ScriptStatus::Pending,
        }
    }
}

/// The SHA-256 of a source, in hexadecimal digits.
pub fn source_sha256(source: &str) -> String {
    use std::fmt::Write as _;
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(source.as_bytes()) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// What came of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptToolCallOutput {
    /// The script's own id.
    pub id: String,
    /// The id that it shares with its call.
    pub call_id: String,
    /// What it returned, as JSON text; what its tools had returned by then, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_json: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptError>,
    /// The `message` of what it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What the model ought to know besides: calls that were not awaited, rejections that nobody handled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What it said while it ran.
    #[serde(flatten)]
    pub said: Said,
    /// What it cost.
    pub metadata: OutputMetadata,
}

/// What a script cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutputMetadata {
    /// How long it took.
    pub duration_ms: u64,
    /// How many tools it called.
    pub tool_calls_made: u64,
    /// The most memory that it held at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used_mb: Option<f64>,
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::said::{Dropped, LogLevel, LogLine, ProgressKind, ProgressLine};
    use crate::script_error::{ErrorCode, Phase};

    #[test]
    fn items_have_the_names_of_the_wire() {
        let mut error = ScriptError::new(
            ErrorCode::ScriptTimeoutError,
            Phase::Executing,
            "Script exceeded 30000ms time limit",
        )
        .with("elapsedMs", 30_012)
        .with("completedTools", 12);
        error.tool_name = Some("exec".to_owned());
        error.call_id = Some("tool_3".to_owned());
        error.stack = Some("Error: timeout\n  at script.ts:15:3".to_owned());
        let items = [
            Item::Message(Message::assistant("Starting.")),
            Item::Reasoning(Reasoning::of("first the tests")),
            Item::ScriptToolCall(ScriptToolCall::pending(
                "scr_1".to_owned(),
                "call_1".to_owned(),
                Language::Ts,
                "return 1".to_owned(),
            )),
            Item::ScriptToolCallOutput(Box::new(ScriptToolCallOutput {
                id: "scr_1".to_owned(),
                call_id: "call_1".to_owned(),
                output_json: Some(r#"{"partialResults":[]}"#.to_owned()),
                error: Some(error),
                summary: None,
                warnings: Vec::new(),
                said: Said {
                    logs: vec![LogLine {
                        level: LogLevel::Warn,
                        text: "slow".to_owned(),
                    }],
                    progress: vec![ProgressLine {
                        kind: ProgressKind::Info,
                        text: "half".to_owned(),
                    }],
                    dropped: Dropped {
                        logs: 3,
                        progress: 0,
                    },
                },
                metadata: OutputMetadata {
                    duration_ms: 30_012,
                    tool_calls_made: 12,
                    memory_used_mb: None,
                },
            })),
        ];
        let json = serde_json::to_string_pretty(&items).unwrap();
        expect![[r#"
            [
              {
                "type": "message",
                "role": "assistant",
                "content": [
                  {
                    "type": "output_text",
                    "text": "Starting."
                  }
                ]
              },
              {
                "type": "reasoning",
                "content": [
                  {
                    "type": "reasoning_text",
                    "text": "first the tests"
                  }
                ]
              },
              {
                "type": "script_tool_call",
                "id": "scr_1",
                "call_id": "call_1",
                "language": "ts",
                "source_code": "return 1",
                "source_sha256": "486d9affb60dbb0063b03d8e23a6ccf6364ce203dc3a9f56f20e750eb41ecade",
                "status": "pending"
              },
              {
                "type": "script_tool_call_output",
                "id": "scr_1",
                "call_id": "call_1",
                "output_json": "{\"partialResults\":[]}",
                "error": {
                  "code": "ScriptTimeoutError",
                  "message": "Script exceeded 30000ms time limit",
                  "phase": "executing",
                  "toolName": "exec",
                  "callId": "tool_3",
                  "stack": "Error: timeout\n  at script.ts:15:3",
                  "metadata": {
                    "elapsedMs": 30012,
                    "completedTools": 12
                  }
                },
                "logs": [
                  {
                    "level": "warn",
                    "text": "slow"
                  }
                ],
                "progress": [
                  {
                    "kind": "info",
                    "text": "half"
                  }
                ],
                "dropped": {
                  "logs": 3,
                  "progress": 0
                },
                "metadata": {
                  "duration_ms": 30012,
                  "tool_calls_made": 12
                }
              }
            ]"#]]
        .assert_eq(&json);
        let read: Vec<Item> = serde_json::from_str(&json).unwrap();
        assert_eq!(read, items);
    }

    #[test]
    fn codes_have_the_names_that_serde_writes() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
            assert_eq!(ErrorCode::of_name(code.name()), Some(code));
        }
        assert_eq!(ErrorCode::of_name("Error"), None);
    }
}
