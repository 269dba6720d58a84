//! The words of Chat Completions. Thoughts are in `reasoning_content`, as compatible servers have them.

use serde_json::{Value, json};

use super::{Answer, Block, Event, Said, pieces};

pub(super) fn whole(said: &Said, answer: &Answer) -> Value {
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    let mut text = String::new();
    let mut thought = String::new();
    let mut calls = Vec::new();
    for block in &said.blocks {
        match block {
            Block::Thinking { text, .. } => thought.push_str(text),
            Block::Text(piece) => text.push_str(piece),
            Block::Call { id, call } => calls.push(json!({
                "id": id, "type": "function",
                "function": {"name": call.name, "arguments": call.text()},
            })),
            Block::Raw(value) => calls.push(value.clone()),
        }
    }
    if !text.is_empty() {
        message["content"] = json!(text);
    }
    if !thought.is_empty() {
        message["reasoning_content"] = json!(thought);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({
        "index": 0, "message": message, "logprobs": null, "finish_reason": finish(said, answer),
    });
    envelope(said, "chat.completion", &json!([choice]), &usage())
}

fn finish(said: &Said, answer: &Answer) -> String {
    let usual = if said.has_calls() {
        "tool_calls"
    } else {
        "stop"
    };
    answer.stop.clone().unwrap_or_else(|| usual.to_owned())
}

fn usage() -> Value {
    json!({
        "prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 5},
    })
}

fn envelope(said: &Said, object: &str, choices: &Value, usage: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", said.number), "object": object, "created": 1_763_000_000,
        "model": said.model, "system_fingerprint": "fp_fake", "choices": choices, "usage": usage,
    })
}

pub(super) fn events(said: &Said, answer: &Answer, request: &Value) -> Vec<Event> {
    let mut chunks = vec![json!({"role": "assistant", "content": "", "refusal": null})];
    let mut calls = 0;
    for block in &said.blocks {
        match block {
            Block::Thinking { text, .. } => chunks.extend(
                pieces(text, answer.piece)
                    .into_iter()
                    .map(|piece| json!({"reasoning_content": piece})),
            ),
            Block::Text(text) => chunks.extend(
                pieces(text, answer.piece)
                    .into_iter()
                    .map(|piece| json!({"content": piece})),
            ),
            Block::Call { id, call } => {
                chunks.push(json!({"tool_calls": [{
                    "index": calls, "id": id, "type": "function",
                    "function": {"name": call.name, "arguments": ""},
                }]}));
                chunks.extend(pieces(&call.text(), answer.piece).into_iter().map(|piece| {
                    json!({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]})
                }));
                calls += 1;
            }
            Block::Raw(value) => {
                let mut value = value.clone();
                value["index"] = json!(calls);
                chunks.push(json!({"tool_calls": [value]}));
                calls += 1;
            }
        }
    }
    let chunk = |delta: &Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        Event::plain(
            envelope(
                said,
                "chat.completion.chunk",
                &json!([choice]),
                &Value::Null,
            )
            .to_string(),
        )
    };
    let mut events: Vec<Event> = chunks
        .iter()
        .map(|delta| chunk(delta, Value::Null))
        .collect();
    events.push(chunk(&json!({}), json!(finish(said, answer))));
    if request["stream_options"]["include_usage"] == true {
        let last = envelope(said, "chat.completion.chunk", &json!([]), &usage());
        events.push(Event::plain(last.to_string()));
    }
    events.push(Event::plain("[DONE]".to_owned()));
    events
}
