//! OpenAI's Responses: a conversation is a list of items, and a model's turn is some of them.
//!
//! `stream`: a response that comes as events; `write`: what goes into a request.

mod stream;
mod write;

use super::error::{ApiError, ReadError};
use super::raw::{Object, Raw};
use super::turn::{CallForm, CallInput, CallOrder, Part, StopReason, StructuredCall, Turn, Usage};
use super::{Provider, call_input};

pub(super) use stream::Stream;
pub(super) use write::{feedback, fields, said};

/// The turn of a whole response.
pub(super) fn turn(response: Object) -> Result<Turn, ReadError> {
    let items = response
        .elements("output")
        .ok_or(ReadError::Foreign { field: "output" })?;
    let status = response
        .text("status")
        .unwrap_or_else(|| "completed".to_owned());
    match status.as_str() {
        "failed" | "cancelled" => return Err(ApiError::of_raw(&response.to_raw()).into()),
        "in_progress" | "queued" => {
            return Err(ReadError::cut(format!("its status is `{status}`")));
        }
        _ => {}
    }
    let parts: Vec<Part> = items.iter().flat_map(parts_of).collect();
    let one_by_one = response
        .get("parallel_tool_calls")
        .is_some_and(|raw| raw.text() == "false");
    Ok(Turn {
        provider: Provider::OpenAiResponses,
        id: response.text("id").unwrap_or_default(),
        model: response.text("model").unwrap_or_default(),
        stop: stop_reason(&response, &parts),
        usage: usage(&response),
        order: if one_by_one {
            CallOrder::OneByOne
        } else {
            CallOrder::SideBySide
        },
        parts,
        items,
        response,
    })
}

fn stop_reason(response: &Object, parts: &[Part]) -> StopReason {
    if response.text("status").as_deref() == Some("incomplete") {
        let details = response.object("incomplete_details").unwrap_or_default();
        return match details.text("reason").unwrap_or_default().as_str() {
            "max_output_tokens" => StopReason::OutputLimit,
            "content_filter" => StopReason::Refused,
            other => StopReason::Other(other.to_owned()),
        };
    }
    if parts.iter().any(|part| matches!(part, Part::Call(_))) {
        StopReason::Calls
    } else if parts.iter().any(|part| matches!(part, Part::Refusal(_))) {
        StopReason::Refused
    } else {
        StopReason::End
    }
}

fn usage(response: &Object) -> Usage {
    let usage = response.object("usage").unwrap_or_default();
    let detail = |of: &str, name: &str| usage.object(of).and_then(|details| details.number(name));
    Usage {
        input: usage.number("input_tokens").unwrap_or_default(),
        cached: detail("input_tokens_details", "cached_tokens").unwrap_or_default(),
        output: usage.number("output_tokens").unwrap_or_default(),
        reasoning: detail("output_tokens_details", "reasoning_tokens").unwrap_or_default(),
    }
}

fn parts_of(item: &Raw) -> Vec<Part> {
    let fields = item.object().unwrap_or_default();
    let kind = fields.text("type").unwrap_or_default();
    match kind.as_str() {
        "message" => message_parts(&fields),
        "reasoning" => match thought(&fields) {
            thought if thought.is_empty() => vec![other(kind, item)],
            thought => vec![Part::Thinking(thought)],
        },
        _ => match call_of(&fields, &kind) {
            Some(call) => vec![Part::Call(call)],
            None => vec![other(kind, item)],
        },
    }
}

fn other(kind: String, raw: &Raw) -> Part {
    Part::Other {
        kind,
        raw: raw.clone(),
    }
}

fn message_parts(fields: &Object) -> Vec<Part> {
    let content = fields.elements("content").unwrap_or_default();
    let parts = content.iter().map(|raw| {
        let part = raw.object().unwrap_or_default();
        let kind = part.text("type").unwrap_or_default();
        match (kind.as_str(), part.text("text"), part.text("refusal")) {
            ("output_text", Some(text), _) => Part::Text(text),
            ("refusal", _, Some(refusal)) => Part::Refusal(refusal),
            _ => other(kind, raw),
        }
    });
    parts.collect()
}

/// What is told of a thought: all of it, or a summary.
fn thought(fields: &Object) -> String {
    let texts = |name: &str| -> String {
        let parts = fields.elements(name).unwrap_or_default();
        let texts = parts.iter().filter_map(|part| part.object()?.text("text"));
        texts.collect::<Vec<_>>().join("\n\n")
    };
    match texts("content") {
        whole if whole.is_empty() => texts("summary"),
        whole => whole,
    }
}

/// The form of a call, and the field that says what it is called with.
fn form_of(kind: &str) -> Option<(CallForm, &'static str)> {
    Some(match kind {
        "function_call" => (CallForm::Function, "arguments"),
        "custom_tool_call" => (CallForm::Custom, "input"),
        "local_shell_call" => (CallForm::LocalShell, "action"),
        "shell_call" => (CallForm::Shell, "action"),
        "apply_patch_call" => (CallForm::ApplyPatch, "operation"),
        _ => return None,
    })
}

fn call_of(fields: &Object, kind: &str) -> Option<StructuredCall> {
    let (form, field) = form_of(kind)?;
    let raw = fields.get(field);
    let input = match form {
        CallForm::Custom => CallInput::Text(fields.text(field).unwrap_or_default()),
        CallForm::Function => call_input(&fields.text(field).unwrap_or_default()),
        _ => call_input(raw.map(Raw::text).unwrap_or_default()),
    };
    let is_whole = fields.text("status").as_deref() != Some("incomplete");
    let call_id = fields.text("call_id").filter(|id| !id.is_empty());
    Some(StructuredCall {
        call_id: call_id.or_else(|| fields.text("id")).unwrap_or_default(),
        form,
        name: fields
            .text("name")
            .unwrap_or_else(|| kind.trim_end_matches("_call").to_owned()),
        input: if is_whole {
            input
        } else {
            CallInput::Unreadable {
                text: raw.map(Raw::text).unwrap_or_default().to_owned(),
                why: "the call is not whole".to_owned(),
            }
        },
    })
}
