//! The history of a conversation in a provider's own items, and the request that is made of it.
//!
//! Items are kept as they came: what a model said is sent back byte for byte, with everything in it that only the provider
//! understands.

use super::error::ReadError;
use super::feedback::Feedback;
use super::raw::{Object, Raw};
use super::tool_table::ToolTable;
use super::turn::Turn;
use super::{Provider, anthropic_messages, openai_chat, openai_responses};

/// The history of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    provider: Provider,
    items: Vec<Raw>,
}

impl History {
    /// A conversation in which nothing has been said.
    pub fn new(provider: Provider) -> Self {
        Self::of(provider, Vec::new())
    }

    /// A conversation of these items.
    pub fn of(provider: Provider, items: Vec<Raw>) -> Self {
        Self { provider, items }
    }

    /// Whose items these are.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The items, in order.
    pub fn items(&self) -> &[Raw] {
        &self.items
    }

    /// Adds items that are in the provider's form already.
    pub fn extend(&mut self, items: impl IntoIterator<Item = Raw>) {
        self.items.extend(items);
    }

    /// Adds what the user says.
    pub fn say(&mut self, text: &str) {
        self.items.push(match self.provider {
            Provider::OpenAiResponses => openai_responses::said(text),
            Provider::OpenAiChat => openai_chat::said(text),
            Provider::AnthropicMessages => anthropic_messages::said(text),
        });
    }

    /// Adds a turn of the model's.
    pub fn append(&mut self, turn: &Turn) {
        self.items.extend(turn.items.iter().cloned());
    }

    /// Adds what the model is told after its turn. Results come first, as providers want it.
    pub fn append_feedback(&mut self, feedback: &[Feedback]) {
        self.items.extend(feedback_items(self.provider, feedback));
    }

    /// A request for the next turn.
    pub fn request(&self, options: &RequestOptions, tools: &ToolTable) -> Request {
        let mut fields = match self.provider {
            Provider::OpenAiResponses => openai_responses::fields(options, tools),
            Provider::OpenAiChat => openai_chat::fields(options, tools),
            Provider::AnthropicMessages => anthropic_messages::fields(options, tools),
        };
        for (name, raw) in options.extra.iter() {
            fields.set(name, raw.clone());
        }
        let mut history = self.clone();
        if self.provider == Provider::OpenAiChat
            && let Some(instructions) = &options.instructions
        {
            history
                .items
                .insert(0, openai_chat::instructed(instructions));
        }
        Request { fields, history }
    }
}

/// What the model is told after its turn, in the provider's form.
pub fn feedback_items(provider: Provider, feedback: &[Feedback]) -> Vec<Raw> {
    match provider {
        Provider::OpenAiResponses => openai_responses::feedback(feedback),
        Provider::OpenAiChat => openai_chat::feedback(feedback),
        Provider::AnthropicMessages => anthropic_messages::feedback(feedback),
    }
}

/// What a request says besides the history and the tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// The model.
    pub model: String,
    /// What the model is told before everything else.
    pub instructions: Option<String>,
    /// The most that it may write, in tokens.
    pub max_output_tokens: Option<u64>,
    /// Whether the answer is to come as events.
    pub stream: bool,
    /// Fields of the provider's own, which win over what is made here.
    pub extra: Object,
}

/// A request, as it goes over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// All its fields but the items of the history.
    pub fields: Object,
    /// The history. Of a Chat request it has the instructions too.
    pub history: History,
}

impl Request {
    /// Takes a request of somebody else's apart.
    pub fn read(provider: Provider, body: &[u8]) -> Result<Self, ReadError> {
        let mut fields = super::read_object(body)?;
        let field = provider.items_field();
        let items = fields.remove(field).ok_or(ReadError::Foreign { field })?;
        let items = match (items.elements(), items.as_text()) {
            (Some(items), _) => items,
            (None, Some(text)) if provider == Provider::OpenAiResponses => {
                vec![openai_responses::said(&text)]
            }
            _ => return Err(ReadError::Foreign { field }),
        };
        Ok(Self {
            fields,
            history: History::of(provider, items),
        })
    }

    /// Whether the answer is to come as events.
    pub fn is_streamed(&self) -> bool {
        self.fields
            .get("stream")
            .is_some_and(|stream| stream.text() == "true")
    }

    /// The model that is asked for.
    pub fn model(&self) -> String {
        self.fields.text("model").unwrap_or_default()
    }

    /// The body. What did not change since the last request is the same bytes at its beginning, but for what other fields say.
    pub fn body(&self) -> String {
        let mut fields = self.fields.clone();
        fields.set(
            self.history.provider.items_field(),
            Raw::array(&self.history.items),
        );
        fields.to_raw().text().to_owned()
    }
}
