//! What a fake model answers: a list of answers, each for one request, with the faults that go with it.
//!
//! As a file it is JSON:
//!
//! ```json
//! {"answers": [
//!   {"status": 429, "retry_after": "1"},
//!   {"parts": [{"thinking": "first the tests"}, {"text": "Looking."},
//!              {"call": {"name": "bash", "arguments": {"command": "ls"}}},
//!              {"script": "return 1"}]},
//!   {"parts": [{"text": "Done."}], "piece": 3, "keep_alives": true, "cut_after": 400}
//! ]}
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a fake model answers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Each is given once, to the first request that it is for; in this order.
    pub answers: Vec<Answer>,
    /// What is answered when none is left. Without it that is an error 500 that says so.
    pub otherwise: Option<Answer>,
}

impl Script {
    /// These answers, one after the other.
    pub fn of(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            answers: answers.into_iter().collect(),
            otherwise: None,
        }
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// One answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Answer {
    /// Which requests it is for; all of them unless said.
    pub when: When,
    /// What the model says and wants, in order.
    pub parts: Vec<Part>,
    /// Why it stopped, in the API's own word, in place of the usual one.
    pub stop: Option<String>,
    /// The status; 200 unless said. Another one has an error in the API's form for a body.
    pub status: Option<u16>,
    /// The value of a `retry-after` header.
    pub retry_after: Option<String>,
    /// More headers.
    pub headers: BTreeMap<String, String>,
    /// The body as it is, in place of what the parts would make: a text, or JSON.
    pub raw: Option<Value>,
    /// Server-sent events as they are, in place of what the parts would make. Each is one `data`.
    pub events: Option<Vec<Value>>,
    /// How many characters of text go into one event; all of them unless said.
    pub piece: Option<usize>,
    /// How many bytes are written at once; an event unless said. Characters are cut in two by it.
    pub chunk: Option<usize>,
    /// Comments and pings between events.
    pub keep_alives: bool,
    /// How long nothing comes at first.
    pub delay_ms: u64,
    /// How long it is silent between two events.
    pub pace_ms: u64,
    /// The connection ends after so many bytes of the body.
    pub cut_after: Option<usize>,
    /// Nothing more comes after so many bytes of the body, and the connection stays open.
    pub stall_after: Option<usize>,
    /// The connection ends before there is an answer.
    pub hang_up: bool,
    /// Whether it is answered whole although it was asked for as a stream, and the other way round.
    pub contrary: bool,
}

/// Which requests an answer is for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// Those whose body contains this text.
    pub contains: Option<String>,
    /// Those that name tools, or those that do not: clients ask for titles without any.
    pub tools: Option<bool>,
}

impl When {
    pub(super) fn holds(&self, body: &str, json: &Value) -> bool {
        let has_tools = json["tools"].as_array().is_some_and(|all| !all.is_empty());
        let contains = |text: &String| body.contains(text.as_str());
        self.contains.as_ref().is_none_or(contains)
            && self.tools.is_none_or(|wanted| wanted == has_tools)
    }
}

/// Something that the model says or wants.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A thought, as the API has them; signed and encrypted where it has that.
    Thinking(String),
    /// Text.
    Text(String),
    /// A script, between its marks in the text.
    Script(String),
    /// A structured call.
    Call(Call),
    /// An output item, content block or (for Chat Completions) tool call of the API's, as it is.
    Raw(Value),
}

/// A structured call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments; as a text they are sent as that text, however wrong it is.
    pub arguments: Value,
    /// The id; a new one unless said.
    #[serde(default)]
    pub id: Option<String>,
}

impl Answer {
    /// An answer of these parts.
    pub fn of(parts: impl IntoIterator<Item = Part>) -> Self {
        Self {
            parts: parts.into_iter().collect(),
            ..Self::default()
        }
    }

    /// An answer with an error status.
    pub fn status(status: u16) -> Self {
        Self {
            status: Some(status),
            ..Self::default()
        }
    }
}

impl Part {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A thought.
    pub fn thinking(text: impl Into<String>) -> Self {
        Self::Thinking(text.into())
    }

    /// A script.
    pub fn script(source: impl Into<String>) -> Self {
        Self::Script(source.into())
    }

    /// A structured call.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::Call(Call {
            name: name.to_owned(),
            arguments,
            id: None,
        })
    }
}
