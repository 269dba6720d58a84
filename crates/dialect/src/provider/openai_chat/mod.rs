//! OpenAI's Chat Completions, and what other servers made of it: a conversation is a list of messages, and a model's turn is
//! one of them.
//!
//! `stream`: a message that comes in pieces; `growing`: JSON that is put together from them; `write`: what goes into a request.

mod growing;
mod stream;
mod write;

use super::error::ReadError;
use super::raw::{Object, Raw};
use super::turn::{CallForm, CallInput, CallOrder, Part, StopReason, StructuredCall, Turn, Usage};
use super::{Provider, call_input};

pub(super) use stream::Stream;
pub(super) use write::{feedback, fields, instructed, said};

/// Where servers put thoughts: there is no place for them in the API itself.
const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];

/// The turn of a whole response: its first choice.
pub(super) fn turn(response: Object) -> Result<Turn, ReadError> {
    let choices = response
        .elements("choices")
        .ok_or(ReadError::Foreign { field: "choices" })?;
    let choice = choices
        .first()
        .and_then(Raw::object)
        .ok_or(ReadError::Foreign { field: "choices" })?;
    let message = choice
        .get("message")
        .ok_or(ReadError::Foreign { field: "message" })?
        .clone();
    let parts = parts_of(&message.object().unwrap_or_default());
    Ok(Turn {
        provider: Provider::OpenAiChat,
        id: response.text("id").unwrap_or_default(),
        model: response.text("model").unwrap_or_default(),
        stop: stop_reason(&choice, &parts),
        usage: usage(&response),
        // It is not told; a model that was asked for one call at a time makes one.
        order: CallOrder::SideBySide,
        parts,
        items: vec![message],
        response,
    })
}

/// Servers say `stop` where there are calls, and `tool_calls` where there are none: the message counts.
fn stop_reason(choice: &Object, parts: &[Part]) -> StopReason {
    let has_calls = parts.iter().any(|part| matches!(part, Part::Call(_)));
    match choice.text("finish_reason").unwrap_or_default().as_str() {
        "length" => StopReason::OutputLimit,
        "content_filter" => StopReason::Refused,
        _ if has_calls => StopReason::Calls,
        "" | "stop" | "tool_calls" | "function_call" if is_refusal(parts) => StopReason::Refused,
        "" | "stop" | "tool_calls" | "function_call" => StopReason::End,
        other => StopReason::Other(other.to_owned()),
    }
}

fn is_refusal(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Refusal(_)))
}

fn usage(response: &Object) -> Usage {
    let usage = response.object("usage").unwrap_or_default();
    let detail = |of: &str, name: &str| usage.object(of).and_then(|details| details.number(name));
    Usage {
        input: usage.number("prompt_tokens").unwrap_or_default(),
        cached: detail("prompt_tokens_details", "cached_tokens").unwrap_or_default(),
        output: usage.number("completion_tokens").unwrap_or_default(),
        reasoning: detail("completion_tokens_details", "reasoning_tokens").unwrap_or_default(),
    }
}

/// A message has no order of its own: first thoughts, then words, then calls.
fn parts_of(message: &Object) -> Vec<Part> {
    let mut parts = Vec::new();
    let thought = THOUGHTS.iter().find_map(|name| message.text(name));
    parts.extend(
        thought
            .filter(|thought| !thought.is_empty())
            .map(Part::Thinking),
    );
    if let Some(text) = message.text("content") {
        parts.extend((!text.is_empty()).then_some(Part::Text(text)));
    }
    for raw in message.elements("content").unwrap_or_default() {
        parts.push(content_part(raw));
    }
    let refusal = message
        .text("refusal")
        .filter(|refusal| !refusal.is_empty());
    parts.extend(refusal.map(Part::Refusal));
    for raw in message.elements("tool_calls").unwrap_or_default() {
        parts.push(call_part(raw));
    }
    parts
}

/// Some servers write content in parts.
fn content_part(raw: Raw) -> Part {
    let fields = raw.object().unwrap_or_default();
    let kind = fields.text("type").unwrap_or_default();
    match (kind.as_str(), fields.text("text"), fields.text("refusal")) {
        ("text", Some(text), _) => Part::Text(text),
        ("refusal", _, Some(refusal)) => Part::Refusal(refusal),
        ("thinking", _, _) => {
            let parts = fields.elements("thinking").unwrap_or_default();
            let texts = parts.iter().filter_map(|part| part.object()?.text("text"));
            Part::Thinking(texts.collect())
        }
        _ => Part::Other { kind, raw },
    }
}

fn call_part(raw: Raw) -> Part {
    let fields = raw.object().unwrap_or_default();
    let call_id = fields.text("id").unwrap_or_default();
    let kind = fields.text("type").unwrap_or_else(|| "function".to_owned());
    let inner = fields.object(&kind);
    let (form, input) = match (kind.as_str(), &inner) {
        ("function", Some(function)) => (CallForm::Function, arguments(function)),
        ("custom", Some(custom)) => (
            CallForm::Custom,
            CallInput::Text(custom.text("input").unwrap_or_default()),
        ),
        _ => return Part::Other { kind, raw },
    };
    Part::Call(StructuredCall {
        call_id,
        form,
        name: inner
            .and_then(|inner| inner.text("name"))
            .unwrap_or_default(),
        input,
    })
}

/// Arguments are JSON in a text; some servers forget the text.
fn arguments(function: &Object) -> CallInput {
    match function.get("arguments") {
        None => call_input(""),
        Some(raw) => call_input(&raw.as_text().unwrap_or_else(|| raw.text().to_owned())),
    }
}
