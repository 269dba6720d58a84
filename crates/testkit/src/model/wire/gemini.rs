//! The words of Gemini's `generateContent`. Ids of calls and a stream's end are left to the connection, as there.

use serde_json::{Value, json};

use super::{Answer, Block, Event, Said, pieces};

pub(super) fn whole(said: &Said, answer: &Answer) -> Value {
    let parts: Vec<Value> = said.blocks.iter().map(part).collect();
    content(said, &parts, Some(stop(answer)))
}

pub(super) fn events(said: &Said, answer: &Answer) -> Vec<Event> {
    let mut parts = Vec::new();
    for block in &said.blocks {
        match block {
            Block::Text(text) => {
                let cut = pieces(text, answer.piece).into_iter();
                parts.extend(cut.map(|piece| json!({"text": piece})));
            }
            _ => parts.push(part(block)),
        }
    }
    let last = parts.len().saturating_sub(1);
    let all = parts.iter().enumerate().map(|(at, part)| {
        let stop = (at == last).then(|| stop(answer));
        content(said, std::slice::from_ref(part), stop)
    });
    all.map(|data| Event::plain(data.to_string())).collect()
}

fn content(said: &Said, parts: &[Value], stop: Option<&str>) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": stop}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 20, "totalTokenCount": 30},
        "modelVersion": said.model, "responseId": format!("response-{}", said.number),
    })
}

fn part(block: &Block) -> Value {
    match block {
        Block::Thinking { text, signature } => {
            json!({"text": text, "thought": true, "thoughtSignature": signature})
        }
        Block::Text(text) => json!({"text": text}),
        Block::Call { call, .. } => {
            json!({"functionCall": {"name": call.name, "args": call.arguments}})
        }
        Block::Raw(value) => value.clone(),
    }
}

/// The same word whether it wants calls or not.
fn stop(answer: &Answer) -> &str {
    answer.stop.as_deref().unwrap_or("STOP")
}
