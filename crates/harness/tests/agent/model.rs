//! A model that says what it was told to, by any of the three APIs.

use std::sync::Mutex;

use futures_util::stream;
use ringfence::agent::{ModelAnswer, ModelClient, ModelRequest, SendError};
use ringfence::dialect::provider::{Provider, Request};
use serde_json::{Value, json};

/// What a model says in a turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Says {
    pub(crate) thought: &'static str,
    pub(crate) text: &'static str,
    /// Id, tool, and arguments as the model writes them.
    pub(crate) calls: Vec<(&'static str, &'static str, String)>,
    /// Items or blocks of its API, as they are.
    pub(crate) raw: Vec<Value>,
    /// How the answer goes wrong.
    pub(crate) mishap: Mishap,
}

/// How an answer goes wrong, once.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Mishap {
    #[default]
    None,
    /// The connection breaks in the middle of it.
    Breaks,
    /// It never comes.
    Hangs,
}

/// How answers come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Comes {
    Whole,
    /// In pieces of so many bytes.
    Streamed(usize),
}

/// A model with a script of turns. Which one is next it sees from the history, as real ones do.
pub(crate) struct Model {
    provider: Provider,
    comes: Comes,
    turns: Vec<Says>,
    pub(crate) parallel: bool,
    /// The bodies of the requests.
    pub(crate) asked: Mutex<Vec<String>>,
    /// Turns whose mishap has happened.
    mishaps: Mutex<Vec<usize>>,
}

impl Model {
    pub(crate) fn new(provider: Provider, comes: Comes, turns: Vec<Says>) -> Self {
        Self {
            provider,
            comes,
            turns,
            parallel: true,
            asked: Mutex::default(),
            mishaps: Mutex::default(),
        }
    }

    pub(crate) fn bodies(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn body(&self, number: usize, says: &Says) -> Value {
        let usage = 100 + number;
        match self.provider {
            Provider::OpenAiResponses => json!({
                "id": format!("resp_{number}"), "status": "completed", "model": "m", "output": response_items(says),
                "parallel_tool_calls": self.parallel, "usage": { "input_tokens": usage, "output_tokens": 10 },
            }),
            Provider::OpenAiChat => json!({
                "id": format!("chatcmpl-{number}"), "model": "m",
                "choices": [{ "index": 0, "message": chat_message(says), "finish_reason": "stop" }],
                "usage": { "prompt_tokens": usage, "completion_tokens": 10 },
            }),
            Provider::AnthropicMessages => json!({
                "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "m", "content": blocks(says),
                "stop_reason": if says.calls.is_empty() { "end_turn" } else { "tool_use" },
                "usage": { "input_tokens": usage, "output_tokens": 10 },
            }),
        }
    }
}

impl ModelClient for Model {
    async fn send(&self, request: ModelRequest) -> Result<ModelAnswer, SendError> {
        let asked = Request::read(self.provider, request.body.as_bytes()).unwrap();
        self.asked.lock().unwrap().push(request.body);
        let is_answer = |item: &&ringfence::dialect::provider::Raw| {
            item.text().contains(r#""role":"assistant""#)
        };
        let number = asked.history.items().iter().filter(is_answer).count();
        let says = self.turns.get(number).cloned().unwrap_or(Says {
            text: "I have nothing more to say.",
            ..Says::default()
        });
        let body = self.body(number, &says);
        let first = !self.mishaps.lock().unwrap().contains(&number);
        let mishap = if first { says.mishap } else { Mishap::None };
        self.mishaps.lock().unwrap().push(number);
        if mishap == Mishap::Hangs {
            std::future::pending::<()>().await;
        }
        let size = match self.comes {
            Comes::Whole if mishap == Mishap::None => {
                return Ok(ModelAnswer::Whole(body.to_string().into_bytes()));
            }
            Comes::Whole => 10,
            Comes::Streamed(size) => size,
        };
        let events = events(self.provider, &body);
        let mut pieces: Vec<Result<Vec<u8>, SendError>> = events
            .as_bytes()
            .chunks(size)
            .map(|piece| Ok(piece.to_vec()))
            .collect();
        if mishap == Mishap::Breaks {
            pieces.truncate(pieces.len() * 2 / 3);
            pieces.push(Err(SendError::Broken {
                why: "reset by peer".to_owned(),
            }));
        }
        Ok(ModelAnswer::Stream(Box::pin(stream::iter(pieces))))
    }
}

fn response_items(says: &Says) -> Vec<Value> {
    let mut items = Vec::new();
    if !says.thought.is_empty() {
        items.push(json!({ "type": "reasoning", "id": "rs", "summary": [{ "type": "summary_text", "text": says.thought }], "encrypted_content": "secret==" }));
    }
    items.push(json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": says.text }] }));
    for (id, name, arguments) in &says.calls {
        items.push(
            json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }),
        );
    }
    items.extend(says.raw.iter().cloned());
    items
}

fn chat_message(says: &Says) -> Value {
    let mut message = json!({ "role": "assistant", "content": says.text });
    if !says.thought.is_empty() {
        message["reasoning_content"] = says.thought.into();
    }
    let calls = says.calls.iter().map(|(id, name, arguments)| {
        json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
    });
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn blocks(says: &Says) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !says.thought.is_empty() {
        blocks.push(json!({ "type": "thinking", "thinking": says.thought, "signature": "sig==" }));
    }
    if !says.text.is_empty() {
        blocks.push(json!({ "type": "text", "text": says.text }));
    }
    for (id, name, arguments) in &says.calls {
        let input: Value =
            serde_json::from_str(arguments).unwrap_or_else(|_| arguments.as_str().into());
        blocks.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
    }
    blocks.extend(says.raw.iter().cloned());
    blocks
}

/// An answer as events.
fn events(provider: Provider, body: &Value) -> String {
    let mut text = String::new();
    let mut tell = |event: &Value| {
        text += &format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        );
    };
    match provider {
        Provider::OpenAiResponses => {
            for (place, item) in body["output"].as_array().unwrap().iter().enumerate() {
                tell(
                    &json!({ "type": "response.output_item.done", "output_index": place, "item": item }),
                );
            }
            tell(&json!({ "type": "response.completed", "response": body }));
        }
        Provider::AnthropicMessages => {
            let mut start = body.clone();
            start["content"] = json!([]);
            tell(&json!({ "type": "message_start", "message": start }));
            for (place, block) in body["content"].as_array().unwrap().iter().enumerate() {
                let mut begun = block.clone();
                let input = begun.get_mut("input").map(Value::take);
                tell(
                    &json!({ "type": "content_block_start", "index": place, "content_block": begun }),
                );
                if let Some(input) = input {
                    let json = input
                        .as_str()
                        .map_or_else(|| input.to_string(), str::to_owned);
                    tell(
                        &json!({ "type": "content_block_delta", "index": place, "delta": { "type": "input_json_delta", "partial_json": json } }),
                    );
                }
                tell(&json!({ "type": "content_block_stop", "index": place }));
            }
            tell(
                &json!({ "type": "message_delta", "delta": { "stop_reason": body["stop_reason"] }, "usage": body["usage"] }),
            );
            tell(&json!({ "type": "message_stop" }));
        }
        Provider::OpenAiChat => {
            let mut chunk = body.clone();
            let mut delta = chunk["choices"][0]["message"].take();
            for (place, call) in delta["tool_calls"]
                .as_array_mut()
                .into_iter()
                .flatten()
                .enumerate()
            {
                call["index"] = place.into();
            }
            chunk["choices"][0] = json!({ "index": 0, "delta": delta, "finish_reason": null });
            text += &format!("data: {chunk}\n\n");
            chunk["choices"][0] = json!({ "index": 0, "delta": {}, "finish_reason": "stop" });
            text += &format!("data: {chunk}\n\ndata: [DONE]\n\n");
        }
    }
    text
}
