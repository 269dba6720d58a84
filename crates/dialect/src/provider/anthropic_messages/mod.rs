//! Anthropic's Messages: a conversation is a list of messages whose content is blocks, and a model's turn is one of them.
//!
//! `stream`: blocks that come in pieces; `write`: what goes into a request.

mod stream;
mod write;

use std::collections::BTreeMap;

use serde_json::json;

use super::Provider;
use super::error::ReadError;
use super::raw::{Object, Raw};
use super::turn::{CallForm, CallInput, CallOrder, Part, StopReason, StructuredCall, Turn, Usage};

pub(super) use stream::Stream;
pub(super) use write::{feedback, fields, said};

/// The turn of a whole response.
pub(super) fn turn(response: Object) -> Result<Turn, ReadError> {
    turn_with(response, &BTreeMap::new())
}

/// The turn of a response some of whose calls have input that is not JSON, by their place.
fn turn_with(response: Object, unreadable: &BTreeMap<usize, CallInput>) -> Result<Turn, ReadError> {
    let content = response
        .get("content")
        .ok_or(ReadError::Foreign { field: "content" })?;
    let blocks = content
        .elements()
        .ok_or(ReadError::Foreign { field: "content" })?;
    let parts = blocks
        .iter()
        .enumerate()
        .map(|(place, block)| part_of(block, unreadable.get(&place)));
    let message = Object::default()
        .with("role", Some(Raw::of(&json!("assistant"))))
        .with("content", Some(content.clone()));
    Ok(Turn {
        provider: Provider::AnthropicMessages,
        id: response.text("id").unwrap_or_default(),
        model: response.text("model").unwrap_or_default(),
        parts: parts.collect(),
        stop: stop_reason(&response),
        usage: usage(&response),
        order: CallOrder::SideBySide,
        // A message without content is none that could be sent back.
        items: if blocks.is_empty() {
            Vec::new()
        } else {
            vec![message.to_raw()]
        },
        response,
    })
}

fn stop_reason(response: &Object) -> StopReason {
    match response.text("stop_reason").unwrap_or_default().as_str() {
        "end_turn" => StopReason::End,
        "tool_use" => StopReason::Calls,
        "max_tokens" => StopReason::OutputLimit,
        "model_context_window_exceeded" => StopReason::ContextLimit,
        "stop_sequence" => StopReason::Sequence(response.text("stop_sequence").unwrap_or_default()),
        "pause_turn" => StopReason::Paused,
        "refusal" => StopReason::Refused,
        other => StopReason::Other(other.to_owned()),
    }
}

/// Input that was read from or written to a cache is counted apart.
fn usage(response: &Object) -> Usage {
    let usage = response.object("usage").unwrap_or_default();
    let of = |name: &str| usage.number(name).unwrap_or_default();
    let cached = of("cache_read_input_tokens");
    Usage {
        input: of("input_tokens")
            .saturating_add(cached)
            .saturating_add(of("cache_creation_input_tokens")),
        cached,
        output: of("output_tokens"),
        reasoning: 0,
    }
}

fn part_of(block: &Raw, unreadable: Option<&CallInput>) -> Part {
    let fields = block.object().unwrap_or_default();
    let kind = fields.text("type").unwrap_or_default();
    match (kind.as_str(), fields.text("text"), fields.text("thinking")) {
        ("text", Some(text), _) => Part::Text(text),
        ("thinking", _, Some(thought)) if !thought.is_empty() => Part::Thinking(thought),
        ("tool_use", _, _) => Part::Call(StructuredCall {
            call_id: fields.text("id").unwrap_or_default(),
            form: CallForm::Function,
            name: fields.text("name").unwrap_or_default(),
            input: match unreadable {
                Some(input) => input.clone(),
                None => super::call_input(fields.get("input").map(Raw::text).unwrap_or_default()),
            },
        }),
        _ => Part::Other {
            kind,
            raw: block.clone(),
        },
    }
}
