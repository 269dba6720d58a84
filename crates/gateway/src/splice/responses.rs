//! `OpenAI`'s Responses: items and events are counted on, and the last event has all output of all rounds.

use ringfence::dialect::provider::{Object, Raw, ServerEvent};
use serde_json::json;

use super::{Bill, Splice, Watch, fields, object, write_named};

/// Streams of Responses, joined.
#[derive(Default)]
pub(crate) struct Responses {
    is_later: bool,
    /// The client's number of the next event.
    sequence: u64,
    /// The client's number of this round's first item.
    offset: u64,
    items: u64,
    inserted: u64,
    watch: Watch,
    held: Vec<Object>,
    last: Option<Object>,
    /// The items of all rounds, and ours.
    output: Vec<Raw>,
    /// Those of ours that stand before this round's calls.
    before_calls: Vec<Raw>,
    bill: Bill,
    /// The id that the client knows this answer by.
    id: Option<Raw>,
}

impl Responses {
    fn write(&mut self, mut event: Object, out: &mut String) {
        if self.offset > 0
            && let Some(index) = event.number("output_index")
        {
            event.set("output_index", Raw::of(&json!(index + self.offset)));
        }
        if event.get("sequence_number").is_some() {
            event.set("sequence_number", Raw::of(&json!(self.sequence)));
        }
        self.sequence += 1;
        write_named(&event, out);
    }

    fn waits(&self, event: &Object) -> bool {
        let kind = || event.object("item")?.text("type");
        let is_call =
            || kind().is_some_and(|kind| !matches!(kind.as_str(), "message" | "reasoning"));
        !self.held.is_empty() || self.watch.seen && is_call()
    }

    fn release(&mut self, out: &mut String) {
        for event in std::mem::take(&mut self.held) {
            self.write(event, out);
        }
    }

    /// Adds a round's items, with ours before the first call.
    fn collect(&mut self) {
        let response = self.last.as_ref().and_then(|last| last.object("response"));
        let items = response.and_then(|response| response.elements("output"));
        let ours = std::mem::take(&mut self.before_calls);
        let items = items.unwrap_or_default();
        let is_call = |item: &Raw| {
            let kind = item.object().and_then(|item| item.text("type"));
            kind.is_some_and(|kind| !matches!(kind.as_str(), "message" | "reasoning"))
        };
        let calls = items.iter().position(is_call).filter(|_| !ours.is_empty());
        let (before, calls) = items.split_at(calls.unwrap_or(items.len()));
        self.output.extend(before.iter().cloned());
        self.output.extend(ours);
        self.output.extend(calls.iter().cloned());
    }
}

impl Splice for Responses {
    fn take(&mut self, event: ServerEvent, out: &mut String) {
        let Some(data) = fields(&event) else {
            out.push_str(&event.to_text());
            return;
        };
        let kind = data.text("type").unwrap_or_default();
        if self.id.is_none() {
            let response = data.object("response");
            self.id = response.and_then(|response| response.get("id").cloned());
        }
        match kind.as_str() {
            "response.created" | "response.in_progress" | "response.queued" if self.is_later => {}
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = data.object("response").unwrap_or_default();
                self.bill.report(response.get("usage"));
                self.last = Some(data);
            }
            _ => {
                if kind == "response.output_item.added" {
                    self.items += 1;
                }
                if kind == "response.output_text.delta"
                    && let Some(piece) = data.text("delta")
                {
                    self.watch.add(&piece);
                }
                if self.waits(&data) {
                    self.held.push(data);
                } else if self.is_later || self.offset > 0 {
                    self.write(data, out);
                } else {
                    self.sequence += 1;
                    out.push_str(&event.to_text());
                }
            }
        }
    }

    fn insert(&mut self, text: &str, out: &mut String) {
        let starts =
            |event: &&Object| event.text("type").as_deref() == Some("response.output_item.added");
        let index = self.items - self.held.iter().filter(starts).count() as u64;
        self.inserted += 1;
        let id = format!("msg_ringfence_{}", self.inserted);
        let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
        let item = |status: &str, content| {
            json!({"id": id, "type": "message", "status": status, "role": "assistant",
                   "content": content})
        };
        let done = item("completed", json!([part(text)]));
        for mut event in [
            json!({"type": "response.output_item.added", "item": item("in_progress", json!([]))}),
            json!({"type": "response.content_part.added", "item_id": id, "content_index": 0,
                   "part": part("")}),
            json!({"type": "response.output_text.delta", "item_id": id, "content_index": 0,
                   "delta": text, "logprobs": []}),
            json!({"type": "response.output_text.done", "item_id": id, "content_index": 0,
                   "text": text, "logprobs": []}),
            json!({"type": "response.content_part.done", "item_id": id, "content_index": 0,
                   "part": part(text)}),
            json!({"type": "response.output_item.done", "item": done}),
        ] {
            event["output_index"] = json!(index);
            event["sequence_number"] = json!(0);
            self.write(object(&event), out);
        }
        self.before_calls.push(Raw::of(&done));
        self.offset += 1;
        self.release(out);
    }

    fn next_round(&mut self) {
        self.collect();
        self.is_later = true;
        self.offset += self.items;
        self.items = 0;
        self.watch = Watch::default();
        self.last = None;
        self.bill.next_round();
    }

    fn finish(&mut self, out: &mut String) {
        self.release(out);
        let is_joined = self.is_later || self.inserted > 0;
        self.collect();
        let Some(mut last) = self.last.take() else {
            return;
        };
        if is_joined {
            let mut response = last.object("response").unwrap_or_default();
            response.set("output", Raw::array(&self.output));
            let response = response
                .with("usage", self.bill.total())
                .with("id", self.id.take());
            last.set("response", response.to_raw());
        }
        self.write(last, out);
    }

    fn fail(&mut self, message: &str, out: &mut String) {
        self.release(out);
        let error = json!({"type": "error", "code": "server_error", "message": message,
                           "param": null, "sequence_number": 0});
        self.write(object(&error), out);
    }
}
