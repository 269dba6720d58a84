//! Blocks that come in pieces.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::error::ReadError;
use super::super::raw::{Grown, Object, Raw};
use super::super::reader::Assembly;
use super::super::turn::{CallInput, Turn, TurnEvent};

/// A message in the making.
#[derive(Debug, Default)]
pub(in super::super) struct Stream {
    message: Option<Object>,
    blocks: BTreeMap<u64, Block>,
    calls: usize,
    is_done: bool,
}

/// A block in the making.
#[derive(Debug)]
struct Block {
    fields: Object,
    /// Its texts that grow, by field.
    texts: Vec<(String, Grown)>,
    /// The JSON of its input.
    input: Grown,
    citations: Vec<Raw>,
    /// Which call of the turn it is.
    call: Option<usize>,
    is_whole: bool,
}

impl Assembly for Stream {
    fn take(&mut self, event: &Object, told: &mut Vec<TurnEvent>) -> Result<(), ReadError> {
        match event.text("type").unwrap_or_default().as_str() {
            "message_start" => self.message = event.object("message"),
            "content_block_start" => self.begin(event, told),
            "content_block_delta" => self.add(event, told),
            "content_block_stop" => {
                if let Some(block) = event
                    .number("index")
                    .and_then(|index| self.blocks.get_mut(&index))
                {
                    block.is_whole = true;
                    told.push(TurnEvent::PartDone);
                }
            }
            "message_delta" => self.amend(event),
            "message_stop" => {
                self.is_done = true;
                told.push(TurnEvent::Done);
            }
            // `ping`, and whatever is new.
            _ => {}
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn finish(self: Box<Self>) -> Result<Turn, ReadError> {
        let Some(mut message) = self.message else {
            return Err(ReadError::cut("`message_start` has not come"));
        };
        if let Some((place, _)) = self.blocks.iter().find(|(_, block)| !block.is_whole) {
            return Err(ReadError::cut(format!(
                "block {place} has begun and not ended"
            )));
        }
        if !self.is_done {
            return Err(ReadError::cut("`message_stop` has not come"));
        }
        let mut unreadable = BTreeMap::new();
        let mut raws = Vec::new();
        for block in self.blocks.into_values() {
            let (raw, input) = block.end();
            if let Some(input) = input {
                unreadable.insert(raws.len(), input);
            }
            raws.push(raw);
        }
        message.set("content", Raw::array(&raws));
        super::turn_with(message, &unreadable)
    }
}

impl Stream {
    fn begin(&mut self, event: &Object, told: &mut Vec<TurnEvent>) {
        let next = self
            .blocks
            .last_key_value()
            .map_or(0, |(last, _)| last.saturating_add(1));
        let fields = event.object("content_block").unwrap_or_default();
        let is_call = fields.text("type").as_deref() == Some("tool_use");
        let call = is_call.then_some(self.calls);
        if let Some(call) = call {
            self.calls += 1;
            told.push(TurnEvent::CallBegun {
                call,
                call_id: fields.text("id").unwrap_or_default(),
                name: fields.text("name").unwrap_or_default(),
            });
        }
        // A block may begin with some of its text.
        let begins = [
            fields.text("text").map(TurnEvent::Text),
            fields.text("thinking").map(TurnEvent::Thinking),
        ];
        told.extend(begins.into_iter().flatten().filter(|event| {
            !matches!(event, TurnEvent::Text(text) | TurnEvent::Thinking(text) if text.is_empty())
        }));
        let block = Block {
            fields,
            texts: Vec::new(),
            input: Grown::default(),
            citations: Vec::new(),
            call,
            is_whole: false,
        };
        self.blocks
            .insert(event.number("index").unwrap_or(next), block);
    }

    fn add(&mut self, event: &Object, told: &mut Vec<TurnEvent>) {
        let block = event
            .number("index")
            .and_then(|index| self.blocks.get_mut(&index));
        let (Some(block), Some(delta)) = (block, event.object("delta")) else {
            return;
        };
        for (name, piece) in delta.iter().filter(|(name, _)| *name != "type") {
            let text = piece.as_text().filter(|text| !text.is_empty());
            match (name, text) {
                ("text", Some(text)) => told.push(TurnEvent::Text(text)),
                ("thinking", Some(text)) => told.push(TurnEvent::Thinking(text)),
                ("partial_json", Some(piece)) => {
                    told.extend(block.call.map(|call| TurnEvent::CallInput { call, piece }));
                }
                _ => {}
            }
            block.add(name, piece);
        }
    }

    /// What is known of the message only at its end.
    fn amend(&mut self, event: &Object) {
        let message = self.message.get_or_insert_default();
        for (name, raw) in event.object("delta").unwrap_or_default().iter() {
            message.set(name, raw.clone());
        }
        for (name, raw) in event.iter() {
            match name {
                "type" | "delta" => {}
                "usage" => {
                    let mut usage = message.object("usage").unwrap_or_default();
                    for (name, raw) in raw.object().unwrap_or_default().iter() {
                        usage.set(name, raw.clone());
                    }
                    message.set("usage", usage.to_raw());
                }
                _ => message.set(name, raw.clone()),
            }
        }
    }
}

impl Block {
    fn add(&mut self, name: &str, piece: &Raw) {
        match name {
            "partial_json" => self.input.push(piece),
            "citation" => self.citations.push(piece.clone()),
            _ if !piece.text().starts_with('"') => self.fields.set(name, piece.clone()),
            _ => {
                let at = self.texts.iter().position(|(known, _)| known == name);
                let at = at.unwrap_or_else(|| {
                    let mut text = Grown::default();
                    if let Some(begun) = self.fields.get(name) {
                        text.push(begun);
                    }
                    self.texts.push((name.to_owned(), text));
                    self.texts.len() - 1
                });
                self.texts[at].1.push(piece);
            }
        }
    }

    /// The block, and its input if that is not JSON. The API takes only JSON back: then it is told what came, in an object.
    fn end(mut self) -> (Raw, Option<CallInput>) {
        for (name, text) in &self.texts {
            self.fields.set(name, text.raw());
        }
        if !self.citations.is_empty() {
            let mut all = self.fields.elements("citations").unwrap_or_default();
            all.append(&mut self.citations);
            self.fields.set("citations", Raw::array(&all));
        }
        let mut unreadable = None;
        if !self.input.is_empty() {
            let text = self.input.text();
            if let Ok(input) = Raw::parse(text.trim()) {
                self.fields.set("input", input);
            } else {
                self.fields
                    .set("input", Raw::of(&json!({ "INVALID_JSON": text })));
                unreadable = Some(super::super::call_input(&text));
            }
        }
        (self.fields.to_raw(), unreadable)
    }
}
