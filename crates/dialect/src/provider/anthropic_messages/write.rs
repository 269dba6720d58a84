//! What goes into a request.

use serde_json::{Value, json};

use super::super::feedback::{CallOutput, CallResult, Content, Feedback, script_text};
use super::super::history::RequestOptions;
use super::super::raw::{Object, Raw};
use super::super::tool_table::ToolTable;

/// The API wants to be told how much may be written.
const MAX_TOKENS: u64 = 16_384;

/// Something that the user says.
pub(in super::super) fn said(text: &str) -> Raw {
    user(&[text_block(text)])
}

fn user(content: &[Value]) -> Raw {
    Raw::of(&json!({ "role": "user", "content": content }))
}

fn text_block(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// The fields of a request.
pub(in super::super) fn fields(options: &RequestOptions, tools: &ToolTable) -> Object {
    let defined = tools.definitions();
    let most = options.max_output_tokens.unwrap_or(MAX_TOKENS);
    Object::default()
        .with("model", Some(Raw::string(&options.model)))
        .with("max_tokens", Some(Raw::of(&most.into())))
        .with("system", options.instructions.as_deref().map(Raw::string))
        .with("tools", (!defined.is_empty()).then(|| Raw::array(defined)))
        .with("stream", options.stream.then(|| Raw::of(&true.into())))
}

/// What the model is told after its turn: one message, the results first.
pub(in super::super) fn feedback(feedback: &[Feedback]) -> Vec<Raw> {
    let mut content = Vec::new();
    let mut words = Vec::new();
    for told in feedback {
        match told {
            Feedback::Result(result) => content.push(tool_result(result)),
            Feedback::Script(output) => words.push(text_block(&script_text(output))),
            // An empty text is refused.
            Feedback::Note(note) if note.is_empty() => {}
            Feedback::Note(note) => words.push(text_block(note)),
        }
    }
    content.append(&mut words);
    if content.is_empty() {
        return Vec::new();
    }
    vec![user(&content)]
}

fn tool_result(result: &CallResult) -> Value {
    let content: Vec<Value> = match &result.output {
        CallOutput::Content(content) => content.iter().filter_map(block).collect(),
        shell @ CallOutput::Shell { .. } => vec![text_block(&shell.text())],
    };
    let mut made = json!({ "type": "tool_result", "tool_use_id": result.call_id });
    if !content.is_empty() {
        made["content"] = content.into();
    }
    if result.is_error {
        made["is_error"] = true.into();
    }
    made
}

fn block(content: &Content) -> Option<Value> {
    match content {
        Content::Text(text) if text.is_empty() => None,
        Content::Text(text) => Some(text_block(text)),
        Content::Image { media_type, base64 } => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": media_type, "data": base64 },
        })),
    }
}
