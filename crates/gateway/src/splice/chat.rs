//! Chat Completions: chunks go on under the first id; the reason for the end, the usage and `[DONE]` wait for the
//! last round.

use ringfence::dialect::provider::{Object, Raw, ServerEvent};
use serde_json::{Value, json};

use super::{Bill, Splice, Watch, fields, object, write_data};

/// Streams of Chat Completions, joined.
#[derive(Default)]
pub(crate) struct Chat {
    is_later: bool,
    /// The first chunk without its choices: all others look like it.
    envelope: Option<Object>,
    watch: Watch,
    held: Vec<Object>,
    end: Option<Object>,
    /// The chunk with the usage, where it was asked for.
    last: Option<Object>,
    bill: Bill,
    is_done: bool,
}

impl Chat {
    fn write(&self, mut chunk: Object, out: &mut String) {
        if self.is_later
            && let Some(first) = &self.envelope
        {
            for name in ["id", "created"] {
                if let Some(value) = first.get(name) {
                    chunk.set(name, value.clone());
                }
            }
        }
        write_data(&chunk, out);
    }

    /// A chunk with a delta of ours.
    fn chunk(&self, delta: &Value) -> Object {
        let choice = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": null}]);
        let mut chunk = self.envelope.clone().unwrap_or_default();
        chunk.set("choices", Raw::of(&choice));
        chunk
    }

    fn release(&mut self, out: &mut String) {
        for chunk in std::mem::take(&mut self.held) {
            self.write(chunk, out);
        }
    }

    /// A chunk's only choice.
    fn choice(chunk: &Object) -> Option<Object> {
        chunk.elements("choices")?.first()?.object()
    }
}

impl Splice for Chat {
    fn take(&mut self, event: ServerEvent, out: &mut String) {
        if event.data.trim() == "[DONE]" {
            self.is_done = true;
            return;
        }
        let Some(data) = fields(&event).filter(|data| data.get("choices").is_some()) else {
            out.push_str(&event.to_text());
            return;
        };
        if self.envelope.is_none() {
            let mut envelope = data.clone();
            envelope.remove("usage");
            self.envelope = Some(envelope);
        }
        self.bill.report(data.get("usage"));
        let Some(mut choice) = Self::choice(&data) else {
            self.last = Some(data);
            return;
        };
        let mut delta = choice.object("delta").unwrap_or_default();
        if let Some(piece) = delta.text("content") {
            self.watch.add(&piece);
        }
        let ends = choice
            .get("finish_reason")
            .is_some_and(|reason| !reason.is_null());
        let has_call = delta
            .get("tool_calls")
            .is_some_and(|calls| !calls.is_null());
        if !ends && !has_call && self.held.is_empty() && !self.is_later {
            out.push_str(&event.to_text());
            return;
        }
        // Readers put the pieces of a field together, and a role is a field.
        let had_role = self.is_later && delta.remove("role").is_some();
        let says_nothing = delta
            .iter()
            .all(|(_, value)| matches!(value.text(), "null" | "\"\""));
        if ends {
            self.end = Some(data.clone().with("choices", {
                let mut last = choice.clone();
                last.set("delta", Raw::of(&json!({})));
                Some(Raw::array([&last.to_raw()]))
            }));
            choice.set("finish_reason", Raw::null());
        }
        if says_nothing && (ends || had_role) {
            return;
        }
        choice.set("delta", delta.to_raw());
        let mut chunk = data;
        chunk.set("choices", Raw::array([&choice.to_raw()]));
        if !self.held.is_empty() || has_call && self.watch.seen {
            self.held.push(chunk);
        } else {
            self.write(chunk, out);
        }
    }

    fn insert(&mut self, text: &str, out: &mut String) {
        let chunk = self.chunk(&json!({"content": text}));
        self.write(chunk, out);
        self.release(out);
    }

    fn next_round(&mut self) {
        self.is_later = true;
        self.watch = Watch::default();
        self.end = None;
        self.last = None;
        self.is_done = false;
        self.bill.next_round();
    }

    fn finish(&mut self, out: &mut String) {
        self.release(out);
        if let Some(mut end) = self.end.take() {
            if end.get("usage").is_some_and(|usage| !usage.is_null()) {
                end = end.with("usage", self.bill.total());
            }
            self.write(end, out);
        }
        if let Some(last) = self.last.take() {
            self.write(last.with("usage", self.bill.total()), out);
        }
        if self.is_done {
            out.push_str("data: [DONE]\n\n");
        }
    }

    fn fail(&mut self, message: &str, out: &mut String) {
        self.release(out);
        let error = json!({"error": {"message": message, "type": "server_error", "code": null}});
        write_data(&object(&error), out);
    }
}
