//! What a model is told after its turn: the results of its calls and of its scripts, and whatever else there is to say.

use serde::{Deserialize, Serialize};

use crate::item::ScriptToolCallOutput;

use super::turn::{CallForm, StructuredCall};

/// Something that a model is told after its turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feedback {
    /// What came of a structured call.
    Result(CallResult),
    /// What came of a script in its text.
    Script(Box<ScriptToolCallOutput>),
    /// A word of the harness's.
    Note(String),
}

/// What came of a structured call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    /// The id of the call.
    pub call_id: String,
    /// The form of the call.
    pub form: CallForm,
    /// What it came to.
    pub output: CallOutput,
    /// Whether it failed.
    pub is_error: bool,
}

impl CallResult {
    /// A call that came to a text.
    pub fn text(call: &StructuredCall, text: impl Into<String>) -> Self {
        Self::of(call, CallOutput::Content(vec![Content::Text(text.into())]))
    }

    /// A call that came to this.
    pub fn of(call: &StructuredCall, output: CallOutput) -> Self {
        Self {
            call_id: call.call_id.clone(),
            form: call.form,
            output,
            is_error: false,
        }
    }

    /// A call that came to nothing, and why.
    pub fn error(call: &StructuredCall, text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(call, text)
        }
    }
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutput {
    /// Texts and images.
    Content(Vec<Content>),
    /// What each line of a `shell_call` came to.
    Shell {
        /// One for each line.
        outputs: Vec<ShellOutput>,
        /// What the call said of how long they may be, which it wants to hear again.
        max_output_length: Option<u64>,
    },
}

impl CallOutput {
    /// All the text of it.
    pub fn text(&self) -> String {
        match self {
            Self::Content(content) => {
                let texts = content.iter().filter_map(|content| match content {
                    Content::Text(text) => Some(text.as_str()),
                    Content::Image { .. } => None,
                });
                texts.collect::<Vec<_>>().join("\n")
            }
            Self::Shell { outputs, .. } => {
                let texts = outputs.iter().map(|output| {
                    let ShellOutput { stdout, stderr, .. } = output;
                    format!("{stdout}{stderr}")
                });
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

/// A piece of what a call came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Its media type.
        media_type: String,
        /// The image, in base64.
        base64: String,
    },
}

/// What a line of a `shell_call` came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOutput {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code, unless its time was over.
    pub exit_code: Option<i32>,
}

/// A script's output as a model reads it, in a message: marked, and such that nothing in it can end the mark.
pub(super) fn script_text(output: &ScriptToolCallOutput) -> String {
    let json = serde_json::to_string(output).unwrap_or_default();
    let json = json.replace('<', "\\u003c");
    format!("<tool-results>\n{json}\n</tool-results>")
}
