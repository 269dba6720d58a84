//! An answer in the words of one API: whole, and as server-sent events.

mod chat;
mod gemini;
mod messages;
mod responses;

use serde_json::{Value, json};

use super::script::{Answer, Call, Part};

/// The API that a request speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Api {
    /// `OpenAI`'s Responses.
    Responses,
    /// Chat Completions.
    Chat,
    /// Anthropic's Messages.
    Messages,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Responses, Self::Chat, Self::Messages];

    /// The API that is reached at a path.
    pub fn at(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        [
            ("/responses", Self::Responses),
            ("/chat/completions", Self::Chat),
            ("/messages", Self::Messages),
        ]
        .into_iter()
        .find_map(|(end, api)| path.ends_with(end).then_some(api))
    }

    /// Where it is reached below a host.
    pub fn path(self) -> &'static str {
        match self {
            Self::Responses => "/v1/responses",
            Self::Chat => "/v1/chat/completions",
            Self::Messages => "/v1/messages",
        }
    }
}

/// Whose words an answer is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// Those of an API that the program speaks too.
    Of(Api),
    /// Those of Gemini, which only other agents speak.
    Gemini(Form),
}

/// How Gemini was asked to answer: by the path, where the others are by the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Whole,
    Streamed,
}

impl Words {
    /// Those of the API that is reached at a path.
    pub(super) fn at(path: &str) -> Option<Self> {
        let ends = path.split('?').next().unwrap_or(path);
        if ends.ends_with(":streamGenerateContent") {
            Some(Self::Gemini(Form::Streamed))
        } else if ends.ends_with(":generateContent") {
            Some(Self::Gemini(Form::Whole))
        } else {
            Api::at(path).map(Self::Of)
        }
    }

    /// Whether a request wants a stream.
    pub(super) fn wants_stream(self, request: &Value) -> bool {
        match self {
            Self::Of(_) => request["stream"] == true,
            Self::Gemini(form) => form == Form::Streamed,
        }
    }
}

/// One event of a stream: the text of a `data` field, and the name that goes with it.
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) data: String,
}

impl Event {
    fn named(data: &Value) -> Self {
        Self {
            name: data["type"].as_str().map(str::to_owned),
            data: data.to_string(),
        }
    }

    fn plain(data: String) -> Self {
        Self { name: None, data }
    }
}

/// What the model says, with the ids that its parts have: consecutive text and scripts are one.
struct Said {
    blocks: Vec<Block>,
    model: String,
    /// The number of the request, which makes the ids of its answer unlike others'.
    number: usize,
}

enum Block {
    Thinking { text: String, signature: String },
    Text(String),
    Call { id: String, call: Call },
    Raw(Value),
}

impl Block {
    fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. })
    }
}

impl Said {
    fn of(answer: &Answer, request: &Value, number: usize) -> Self {
        let mut blocks: Vec<Block> = Vec::new();
        for (index, part) in answer.parts.iter().enumerate() {
            let text = match part {
                Part::Text(text) => text.clone(),
                Part::Script(source) => format!("<tool-calls>\n{source}\n</tool-calls>"),
                Part::Thinking(text) => {
                    blocks.push(Block::Thinking {
                        text: text.clone(),
                        signature: format!("signature/{number}+{index}=="),
                    });
                    continue;
                }
                Part::Call(call) => {
                    let id = call.id.clone();
                    blocks.push(Block::Call {
                        id: id.unwrap_or_else(|| format!("call_{number}_{index}")),
                        call: call.clone(),
                    });
                    continue;
                }
                Part::Raw(value) => {
                    blocks.push(Block::Raw(value.clone()));
                    continue;
                }
            };
            match blocks.last_mut() {
                Some(Block::Text(before)) => before.push_str(&text),
                _ => blocks.push(Block::Text(text)),
            }
        }
        Self {
            blocks,
            model: request["model"].as_str().unwrap_or("fake").to_owned(),
            number,
        }
    }

    fn has_calls(&self) -> bool {
        self.blocks.iter().any(Block::is_call)
    }
}

impl Call {
    /// The arguments as the text that is sent.
    fn text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// The answer as one body.
pub(super) fn whole(words: Words, answer: &Answer, request: &Value, number: usize) -> Value {
    let said = Said::of(answer, request, number);
    match words {
        Words::Of(Api::Responses) => responses::whole(&said, answer),
        Words::Of(Api::Chat) => chat::whole(&said, answer),
        Words::Of(Api::Messages) => messages::whole(&said, answer),
        Words::Gemini(_) => gemini::whole(&said, answer),
    }
}

/// The answer as events.
pub(super) fn events(words: Words, answer: &Answer, request: &Value, number: usize) -> Vec<Event> {
    let said = Said::of(answer, request, number);
    match words {
        Words::Of(Api::Responses) => responses::events(&said, answer),
        Words::Of(Api::Chat) => chat::events(&said, answer, request),
        Words::Of(Api::Messages) => messages::events(&said, answer),
        Words::Gemini(_) => gemini::events(&said, answer),
    }
}

/// An error in the API's form.
pub(super) fn error(words: Option<Words>, status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    match words {
        Some(Words::Of(Api::Messages)) => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Some(Words::Gemini(_)) => {
            json!({"error": {"code": status, "message": message, "status": kind.to_ascii_uppercase()}})
        }
        _ => json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
    }
}

/// A text in pieces of so many characters.
fn pieces(text: &str, most: Option<usize>) -> Vec<String> {
    let most = most.unwrap_or(usize::MAX).max(1);
    let characters: Vec<char> = text.chars().collect();
    let cut = characters.chunks(most.min(characters.len().max(1)));
    cut.map(|piece| piece.iter().collect()).collect()
}
