//! The words of `OpenAI`'s Responses.

use serde_json::{Value, json};

use super::{Answer, Block, Event, Said, pieces};

pub(super) fn whole(said: &Said, answer: &Answer) -> Value {
    let output: Vec<Value> = (0..said.blocks.len()).map(|at| item(said, at)).collect();
    let status = answer.stop.as_deref().unwrap_or("completed");
    response(said, status, &json!(output))
}

fn response(said: &Said, status: &str, output: &Value) -> Value {
    let incomplete = json!({"reason": "max_output_tokens"});
    json!({
        "id": format!("resp_{}", said.number),
        "object": "response",
        "created_at": 1_763_000_000,
        "status": status,
        "error": null,
        "incomplete_details": if status == "incomplete" { incomplete } else { Value::Null },
        "instructions": null,
        "metadata": {},
        "model": said.model,
        "output": output,
        "parallel_tool_calls": true,
        "tool_choice": "auto",
        "tools": [],
        "usage": if status == "in_progress" { Value::Null } else { json!({
            "input_tokens": 10, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
            "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 5},
            "total_tokens": 30
        }) },
    })
}

fn item(said: &Said, at: usize) -> Value {
    let number = said.number;
    match &said.blocks[at] {
        Block::Thinking { text, signature } => json!({
            "type": "reasoning", "id": format!("rs_{number}_{at}"),
            "summary": [{"type": "summary_text", "text": text}],
            "encrypted_content": signature,
        }),
        Block::Text(text) => json!({
            "type": "message", "id": format!("msg_{number}_{at}"), "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Block::Call { id, call } => json!({
            "type": "function_call", "id": format!("fc_{number}_{at}"), "call_id": id,
            "name": call.name, "arguments": call.text(), "status": "completed",
        }),
        Block::Raw(value) => value.clone(),
    }
}

/// Events, each with the number that it has in the stream.
#[derive(Default)]
struct Stream(Vec<Event>);

impl Stream {
    fn add(&mut self, kind: &str, mut fields: Value) {
        fields["type"] = json!(kind);
        fields["sequence_number"] = json!(self.0.len());
        self.0.push(Event::named(&fields));
    }
}

pub(super) fn events(said: &Said, answer: &Answer) -> Vec<Event> {
    let mut stream = Stream::default();
    let begun = response(said, "in_progress", &json!([]));
    stream.add("response.created", json!({"response": begun}));
    stream.add("response.in_progress", json!({"response": begun}));
    for at in 0..said.blocks.len() {
        block(&mut stream, said, at, answer.piece);
    }
    let whole = whole(said, answer);
    let kind = format!("response.{}", whole["status"].as_str().unwrap_or_default());
    stream.add(&kind, json!({"response": whole}));
    stream.0
}

fn block(stream: &mut Stream, said: &Said, at: usize, most: Option<usize>) {
    let done = item(said, at);
    let id = done["id"].clone();
    let place = |mut fields: Value| {
        fields["item_id"] = id.clone();
        fields["output_index"] = json!(at);
        fields
    };
    let mut begun = done.clone();
    match &said.blocks[at] {
        Block::Thinking { text, .. } => {
            begun["summary"] = json!([]);
            stream.add(
                "response.output_item.added",
                json!({"output_index": at, "item": begun}),
            );
            let part = |text: &str| json!({"summary_index": 0, "part": {"type": "summary_text", "text": text}});
            stream.add("response.reasoning_summary_part.added", place(part("")));
            for piece in pieces(text, most) {
                let delta = place(json!({"summary_index": 0, "delta": piece}));
                stream.add("response.reasoning_summary_text.delta", delta);
            }
            let whole = place(json!({"summary_index": 0, "text": text}));
            stream.add("response.reasoning_summary_text.done", whole);
            stream.add("response.reasoning_summary_part.done", place(part(text)));
        }
        Block::Text(text) => {
            begun["content"] = json!([]);
            begun["status"] = json!("in_progress");
            stream.add(
                "response.output_item.added",
                json!({"output_index": at, "item": begun}),
            );
            let part = |text: &str| json!({"content_index": 0, "part": {"type": "output_text", "text": text, "annotations": []}});
            stream.add("response.content_part.added", place(part("")));
            for piece in pieces(text, most) {
                let delta = place(json!({"content_index": 0, "delta": piece, "logprobs": []}));
                stream.add("response.output_text.delta", delta);
            }
            let whole = place(json!({"content_index": 0, "text": text, "logprobs": []}));
            stream.add("response.output_text.done", whole);
            stream.add("response.content_part.done", place(part(text)));
        }
        Block::Call { call, .. } => {
            begun["arguments"] = json!("");
            begun["status"] = json!("in_progress");
            stream.add(
                "response.output_item.added",
                json!({"output_index": at, "item": begun}),
            );
            for piece in pieces(&call.text(), most) {
                let delta = place(json!({"delta": piece}));
                stream.add("response.function_call_arguments.delta", delta);
            }
            let whole = place(json!({"name": call.name, "arguments": call.text()}));
            stream.add("response.function_call_arguments.done", whole);
        }
        Block::Raw(_) => {
            stream.add(
                "response.output_item.added",
                json!({"output_index": at, "item": begun}),
            );
        }
    }
    stream.add(
        "response.output_item.done",
        json!({"output_index": at, "item": done}),
    );
}
