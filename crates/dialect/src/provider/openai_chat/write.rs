//! What goes into a request.

use serde_json::{Value, json};

use super::super::feedback::{CallOutput, CallResult, Content, Feedback, script_text};
use super::super::history::RequestOptions;
use super::super::raw::{Object, Raw};
use super::super::tool_table::ToolTable;

/// Something that the user says.
pub(in super::super) fn said(text: &str) -> Raw {
    Raw::of(&json!({ "role": "user", "content": text }))
}

/// What the model is told before everything else.
pub(in super::super) fn instructed(text: &str) -> Raw {
    Raw::of(&json!({ "role": "system", "content": text }))
}

/// The fields of a request.
pub(in super::super) fn fields(options: &RequestOptions, tools: &ToolTable) -> Object {
    let defined = tools.definitions();
    let most = options.max_output_tokens.map(|most| Raw::of(&most.into()));
    Object::default()
        .with("model", Some(Raw::string(&options.model)))
        .with("max_completion_tokens", most)
        .with("tools", (!defined.is_empty()).then(|| Raw::array(defined)))
        .with("stream", options.stream.then(|| Raw::of(&true.into())))
        .with(
            "stream_options",
            options
                .stream
                .then(|| Raw::of(&json!({ "include_usage": true }))),
        )
}

/// What the model is told after its turn. Messages of tools have no images: those follow in one of the user's.
pub(in super::super) fn feedback(feedback: &[Feedback]) -> Vec<Raw> {
    let mut items = Vec::new();
    let mut words = Vec::new();
    for told in feedback {
        match told {
            Feedback::Result(result) => {
                items.push(tool_message(result));
                words.extend(images(result));
            }
            Feedback::Script(output) => words.push(text_part(&script_text(output))),
            Feedback::Note(note) => words.push(text_part(note)),
        }
    }
    if !words.is_empty() {
        items.push(Raw::of(&json!({ "role": "user", "content": words })));
    }
    items
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn tool_message(result: &CallResult) -> Raw {
    let text = result.output.text();
    let text = if images(result).is_empty() {
        text
    } else {
        format!("{text}\n[what it shows is in the next message]")
    };
    Raw::of(&json!({ "role": "tool", "tool_call_id": result.call_id, "content": text }))
}

fn images(result: &CallResult) -> Vec<Value> {
    let CallOutput::Content(content) = &result.output else {
        return Vec::new();
    };
    let images = content.iter().filter_map(|part| match part {
        Content::Text(_) => None,
        Content::Image { media_type, base64 } => Some(json!({
            "type": "image_url", "image_url": { "url": format!("data:{media_type};base64,{base64}") },
        })),
    });
    images.collect()
}
