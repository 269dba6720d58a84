//! The words of Anthropic's Messages.

use serde_json::{Value, json};

use super::{Answer, Block, Event, Said, pieces};

pub(super) fn whole(said: &Said, answer: &Answer) -> Value {
    let content: Vec<Value> = said.blocks.iter().map(block).collect();
    message(said, &json!(content), &json!(stop(said, answer)), 20)
}

fn message(said: &Said, content: &Value, stop: &Value, output_tokens: u64) -> Value {
    json!({
        "id": format!("msg_{}", said.number), "type": "message", "role": "assistant",
        "model": said.model, "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 0,
                  "cache_read_input_tokens": 4, "output_tokens": output_tokens},
    })
}

fn stop(said: &Said, answer: &Answer) -> String {
    let usual = if said.has_calls() {
        "tool_use"
    } else {
        "end_turn"
    };
    answer.stop.clone().unwrap_or_else(|| usual.to_owned())
}

fn block(block: &Block) -> Value {
    match block {
        Block::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Block::Text(text) => json!({"type": "text", "text": text}),
        // A whole answer cannot hold what is not JSON.
        Block::Call { id, call } => {
            json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments})
        }
        Block::Raw(value) => value.clone(),
    }
}

pub(super) fn events(said: &Said, answer: &Answer) -> Vec<Event> {
    let begun = message(said, &json!([]), &Value::Null, 1);
    let mut all = vec![json!({"type": "message_start", "message": begun})];
    for (index, part) in said.blocks.iter().enumerate() {
        let mut begun = block(part);
        let (field, kind, text) = match part {
            Block::Thinking { text, .. } => ("thinking", "thinking_delta", text.clone()),
            Block::Text(text) => ("text", "text_delta", text.clone()),
            Block::Call { call, .. } => ("input", "input_json_delta", call.text()),
            Block::Raw(_) => ("", "", String::new()),
        };
        if let Block::Call { .. } = part {
            begun["input"] = json!({});
        } else if !field.is_empty() {
            begun[field] = json!("");
        }
        if begun.get("signature").is_some() && matches!(part, Block::Thinking { .. }) {
            begun["signature"] = json!("");
        }
        all.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        let named = if kind == "input_json_delta" {
            "partial_json"
        } else {
            field
        };
        if !kind.is_empty() {
            all.extend(pieces(&text, answer.piece).into_iter().map(|piece| {
                let delta = json!({"type": kind, named: piece});
                json!({"type": "content_block_delta", "index": index, "delta": delta})
            }));
        }
        if let Block::Thinking { signature, .. } = part {
            let delta = json!({"type": "signature_delta", "signature": signature});
            all.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        all.push(json!({"type": "content_block_stop", "index": index}));
    }
    all.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop(said, answer), "stop_sequence": null},
        "usage": {"output_tokens": 20},
    }));
    all.push(json!({"type": "message_stop"}));
    all.iter().map(Event::named).collect()
}
