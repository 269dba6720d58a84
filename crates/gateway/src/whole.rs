//! Several whole answers as one.

use ringfence::dialect::provider::{Object, Provider, Raw};
use serde_json::json;

use crate::splice;

/// Whole answers, joined: what was said in all of them, and all the rest as the last one has it.
pub(crate) struct Whole {
    provider: Provider,
    said: Vec<Raw>,
    /// Texts of ours that stand before this round's calls.
    ours: Vec<Raw>,
    /// What Chat Completions said and thought so far.
    content: String,
    reasoning: String,
    usage: Option<Raw>,
    inserted: usize,
    /// The id that the client knows this answer by.
    id: Option<Raw>,
}

impl Whole {
    pub(crate) fn new(provider: Provider) -> Self {
        Self {
            provider,
            said: Vec::new(),
            ours: Vec::new(),
            content: String::new(),
            reasoning: String::new(),
            usage: None,
            inserted: 0,
            id: None,
        }
    }

    /// Adds a text of ours behind what this round says.
    pub(crate) fn insert(&mut self, text: &str) {
        self.inserted += 1;
        let id = format!("msg_ringfence_{}", self.inserted);
        self.ours.push(match self.provider {
            Provider::OpenAiResponses => Raw::of(&json!({
                "id": id, "type": "message", "status": "completed", "role": "assistant",
                "content": [{"type": "output_text", "text": text, "annotations": []}],
            })),
            Provider::AnthropicMessages => Raw::of(&json!({"type": "text", "text": text})),
            Provider::OpenAiChat => Raw::string(text),
        });
    }

    /// Adds what a round said.
    pub(crate) fn add(&mut self, response: &Object) {
        self.usage = splice::sum(self.usage.take(), response.get("usage").cloned());
        self.id = self.id.take().or_else(|| response.get("id").cloned());
        match self.provider {
            Provider::OpenAiResponses => self.add_items(response, "output"),
            Provider::AnthropicMessages => self.add_items(response, "content"),
            Provider::OpenAiChat => {
                let message = chat_message(response).unwrap_or_default();
                self.content += &message.text("content").unwrap_or_default();
                self.reasoning += &message.text("reasoning_content").unwrap_or_default();
                for text in std::mem::take(&mut self.ours) {
                    self.content += &text.as_text().unwrap_or_default();
                }
            }
        }
    }

    fn add_items(&mut self, response: &Object, field: &str) {
        let items = response.elements(field).unwrap_or_default();
        let ours = std::mem::take(&mut self.ours);
        let is_call = |item: &Raw| {
            let kind = item.object().and_then(|item| item.text("type"));
            let said = ["message", "reasoning", "text", "thinking"];
            kind.is_some_and(|kind| !said.contains(&kind.as_str()))
        };
        let calls = items.iter().position(is_call).filter(|_| !ours.is_empty());
        let (before, calls) = items.split_at(calls.unwrap_or(items.len()));
        self.said.extend(before.iter().cloned());
        self.said.extend(ours);
        self.said.extend(calls.iter().cloned());
    }

    /// The answer, given the last round's. That has been added.
    pub(crate) fn finish(self, mut last: Object) -> String {
        match self.provider {
            Provider::OpenAiResponses => last.set("output", Raw::array(&self.said)),
            Provider::AnthropicMessages => last.set("content", Raw::array(&self.said)),
            Provider::OpenAiChat => {
                let mut message = chat_message(&last).unwrap_or_default();
                if !self.content.is_empty() {
                    message.set("content", Raw::string(&self.content));
                }
                if !self.reasoning.is_empty() {
                    message.set("reasoning_content", Raw::string(&self.reasoning));
                }
                let choice = last
                    .elements("choices")
                    .and_then(|all| all.first()?.object());
                let mut choice = choice.unwrap_or_default();
                choice.set("message", message.to_raw());
                last.set("choices", Raw::array([&choice.to_raw()]));
            }
        }
        let answer = last.with("usage", self.usage).with("id", self.id);
        answer.to_raw().text().to_owned()
    }
}

fn chat_message(response: &Object) -> Option<Object> {
    response
        .elements("choices")?
        .first()?
        .object()?
        .object("message")
}
