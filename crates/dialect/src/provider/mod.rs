//! Three APIs by which models are reached: what a model says by any of them is read into one neutral [`Turn`], and what
//! it is told goes back in the form of the API that it came by.
//!
//! - [`Provider`]: the APIs; `openai_responses`, `openai_chat`, `anthropic_messages`: one each, with the same functions
//! - [`Turn`]: what a model said; [`Feedback`]: what it is told after it
//! - [`Reader`]: a turn that comes in as server-sent events ([`sse`]), in whatever pieces
//! - [`History`]: a conversation in the provider's own items, which are kept [`raw`]; [`Request`]: what is sent
//! - [`ToolTable`]: tools in the provider's form; `schema`: the dialects of their schemas
//! - [`ReadError`], [`ApiError`]: what can go wrong
//!
//! **Invariant:** whatever is not understood is carried: an unknown event, field or kind of item is never an error and never lost.

use serde_json::Value;

mod anthropic_messages;
mod error;
mod feedback;
mod history;
mod openai_chat;
mod openai_responses;
pub mod raw;
mod reader;
mod schema;
pub mod sse;
mod tool_table;
mod turn;

pub use error::{ApiError, ApiErrorKind, ReadError};
pub use feedback::{CallOutput, CallResult, Content, Feedback, ShellOutput};
pub use history::{History, Request, RequestOptions, feedback_items};
pub use raw::{Object, Raw};
pub use reader::{LONGEST_ANSWER, Reader};
pub use sse::{EventStream, ServerEvent};
pub use tool_table::{ToolDefinition, ToolTable};
pub use turn::{
    CallForm, CallInput, CallOrder, Part, StopReason, StructuredCall, Turn, TurnEvent, Usage,
};

/// An API by which models are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// OpenAI's Responses.
    OpenAiResponses,
    /// OpenAI's Chat Completions, which many other servers speak.
    OpenAiChat,
    /// Anthropic's Messages.
    AnthropicMessages,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 3] = [
        Self::OpenAiResponses,
        Self::OpenAiChat,
        Self::AnthropicMessages,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiChat => "openai-chat",
            Self::AnthropicMessages => "anthropic-messages",
        }
    }

    /// The API of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|provider| provider.name() == name)
    }

    /// Where requests go, below the base of the API.
    pub fn path(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "/v1/responses",
            Self::OpenAiChat => "/v1/chat/completions",
            Self::AnthropicMessages => "/v1/messages",
        }
    }

    /// Reads a whole answer. One that is an error of the API is that error.
    pub fn read(self, body: &[u8]) -> Result<Turn, ReadError> {
        let response = read_object(body)?;
        let is_error = response.text("type").as_deref() == Some("error");
        if is_error || response.get("error").is_some_and(|error| !error.is_null()) {
            return Err(ApiError::of_raw(&response.to_raw()).into());
        }
        match self {
            Self::OpenAiResponses => openai_responses::turn(response),
            Self::OpenAiChat => openai_chat::turn(response),
            Self::AnthropicMessages => anthropic_messages::turn(response),
        }
    }

    /// Reads an answer that comes as events.
    pub fn reader(self) -> Reader {
        Reader::new(self)
    }

    /// The field of a request that has the items of the history.
    fn items_field(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "input",
            Self::OpenAiChat | Self::AnthropicMessages => "messages",
        }
    }
}

/// The fields of a body.
fn read_object(body: &[u8]) -> Result<Object, ReadError> {
    serde_json::from_slice(body).map_err(|error| ReadError::NotJson {
        why: error.to_string(),
    })
}

/// What a tool is called with, from the JSON that a model wrote. Nothing at all is no arguments.
fn call_input(text: &str) -> CallInput {
    if text.trim().is_empty() {
        return CallInput::Json(Value::Object(serde_json::Map::new()));
    }
    let read = Raw::parse(text.trim()).map(|raw| raw.value());
    match read {
        Ok(Some(value)) => CallInput::Json(value),
        Ok(None) => CallInput::Unreadable {
            text: text.to_owned(),
            why: "it is nested too deep".to_owned(),
        },
        Err(error) => CallInput::Unreadable {
            text: text.to_owned(),
            why: error.to_string(),
        },
    }
}
