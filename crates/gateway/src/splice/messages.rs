//! Anthropic's Messages: blocks are counted on, `message_delta` and `message_stop` wait for the last round.

use ringfence::dialect::provider::{Object, Raw, ServerEvent};
use serde_json::json;

use super::{Bill, Splice, Watch, fields, object, write_named};

/// Streams of Messages, joined.
#[derive(Default)]
pub(crate) struct Messages {
    is_later: bool,
    /// The client's number of this round's first block.
    offset: u64,
    /// How many blocks of this round have begun.
    blocks: u64,
    watch: Watch,
    /// Events of blocks that wait.
    held: Vec<Object>,
    delta: Option<Object>,
    stop: Option<Object>,
    bill: Bill,
}

impl Messages {
    fn write(&self, mut event: Object, out: &mut String) {
        if self.offset > 0
            && let Some(index) = event.number("index")
        {
            event.set("index", Raw::of(&json!(index + self.offset)));
        }
        write_named(&event, out);
    }

    /// Whether a block may have to wait for a script before it.
    fn waits(&self, event: &Object) -> bool {
        let kind = || event.object("content_block")?.text("type");
        let is_call = || kind().is_some_and(|kind| !matches!(kind.as_str(), "text" | "thinking"));
        !self.held.is_empty() || self.watch.seen && is_call()
    }

    fn release(&mut self, out: &mut String) {
        for event in std::mem::take(&mut self.held) {
            self.write(event, out);
        }
    }
}

impl Splice for Messages {
    fn take(&mut self, event: ServerEvent, out: &mut String) {
        let Some(data) = fields(&event) else {
            out.push_str(&event.to_text());
            return;
        };
        let kind = data.text("type").unwrap_or_default();
        match kind.as_str() {
            "message_start" if self.is_later => {}
            "message_delta" => {
                self.bill.report(data.get("usage"));
                self.delta = Some(data);
            }
            "message_stop" => self.stop = Some(data),
            "content_block_start" | "content_block_delta" | "content_block_stop" => {
                if kind == "content_block_start" {
                    self.blocks += 1;
                }
                let piece = || data.object("delta")?.text("text");
                if let Some(piece) = piece() {
                    self.watch.add(&piece);
                }
                if self.waits(&data) {
                    self.held.push(data);
                } else if self.offset == 0 {
                    out.push_str(&event.to_text());
                } else {
                    self.write(data, out);
                }
            }
            _ => out.push_str(&event.to_text()),
        }
    }

    fn insert(&mut self, text: &str, out: &mut String) {
        let starts = |event: &&Object| event.text("type").as_deref() == Some("content_block_start");
        let waiting = self.held.iter().filter(starts).count() as u64;
        let index = self.blocks - waiting;
        for event in [
            json!({"type": "content_block_start", "index": index,
                   "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": index,
                   "delta": {"type": "text_delta", "text": text}}),
            json!({"type": "content_block_stop", "index": index}),
        ] {
            self.write(object(&event), out);
        }
        self.offset += 1;
        self.release(out);
    }

    fn next_round(&mut self) {
        self.is_later = true;
        self.offset += self.blocks;
        self.blocks = 0;
        self.watch = Watch::default();
        self.delta = None;
        self.stop = None;
        self.bill.next_round();
    }

    fn finish(&mut self, out: &mut String) {
        self.release(out);
        if let Some(delta) = self.delta.take() {
            write_named(&delta.with("usage", self.bill.total()), out);
        }
        if let Some(stop) = self.stop.take() {
            write_named(&stop, out);
        }
    }

    fn fail(&mut self, message: &str, out: &mut String) {
        self.release(out);
        let error = json!({"type": "error", "error": {"type": "api_error", "message": message}});
        write_named(&object(&error), out);
    }
}
