//! A message that comes in pieces.

use std::collections::BTreeMap;

use super::super::error::ReadError;
use super::super::raw::{Object, Raw};
use super::super::reader::Assembly;
use super::super::turn::{Turn, TurnEvent};
use super::THOUGHTS;
use super::growing::{CALLS, Growing};

/// A response in the making.
#[derive(Debug, Default)]
pub(in super::super) struct Stream {
    /// The fields around the choices.
    response: Object,
    choices: BTreeMap<u64, Choice>,
    is_done: bool,
}

#[derive(Debug)]
struct Choice {
    fields: Object,
    message: Growing,
    logprobs: Option<Growing>,
    /// How many calls were told to have begun.
    begun: usize,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            fields: Object::default(),
            message: Growing::new(),
            logprobs: None,
            begun: 0,
        }
    }
}

impl Assembly for Stream {
    fn take(&mut self, event: &Object, told: &mut Vec<TurnEvent>) -> Result<(), ReadError> {
        for (name, raw) in event.iter() {
            if name == "choices" {
                for choice in raw.elements().unwrap_or_default() {
                    self.take_choice(&choice.object().unwrap_or_default(), told);
                }
            } else if self.response.get(name).is_none_or(Raw::is_null)
                || name == "usage" && !raw.is_null()
            {
                self.response.set(name, raw.clone());
            }
        }
        Ok(())
    }

    fn take_word(&mut self, word: &str, told: &mut Vec<TurnEvent>) {
        if word == "[DONE]" && self.is_whole() {
            self.is_done = true;
            told.push(TurnEvent::Done);
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn finish(mut self: Box<Self>) -> Result<Turn, ReadError> {
        if !self.is_whole() {
            return Err(ReadError::cut("no `finish_reason` has come"));
        }
        let choices: Vec<Raw> = self.choices.into_values().map(Choice::raw).collect();
        if self.response.get("object").is_some() {
            self.response.set("object", Raw::string("chat.completion"));
        }
        self.response.set("choices", Raw::array(&choices));
        super::turn(self.response)
    }
}

impl Stream {
    fn is_whole(&self) -> bool {
        let finished = |choice: &Choice| {
            choice
                .fields
                .get("finish_reason")
                .is_some_and(|raw| !raw.is_null())
        };
        !self.choices.is_empty() && self.choices.values().all(finished)
    }

    fn take_choice(&mut self, piece: &Object, told: &mut Vec<TurnEvent>) {
        let index = piece.number("index").unwrap_or_default();
        let choice = self.choices.entry(index).or_default();
        for (name, raw) in piece.iter() {
            match name {
                "delta" | "message" => {
                    if index == 0 {
                        choice.tell(&raw.object().unwrap_or_default(), told);
                    }
                    choice.message.add(raw);
                }
                "logprobs" if !raw.is_null() => {
                    choice.logprobs.get_or_insert_with(Growing::new).add(raw);
                }
                _ if raw.is_null() && choice.fields.get(name).is_some() => {}
                _ => choice.fields.set(name, raw.clone()),
            }
        }
    }
}

impl Choice {
    fn raw(mut self) -> Raw {
        let mut made = Object::default();
        made.set(
            "index",
            self.fields
                .remove("index")
                .unwrap_or_else(|| Raw::of(&0.into())),
        );
        made.set("message", self.message.raw(""));
        for (name, raw) in self.fields.iter() {
            made.set(name, raw.clone());
        }
        if let Some(logprobs) = self.logprobs {
            made.set("logprobs", logprobs.raw(""));
        }
        made.to_raw()
    }

    /// Tells what a piece adds, before it is added.
    fn tell(&mut self, delta: &Object, told: &mut Vec<TurnEvent>) {
        let thought = THOUGHTS.iter().find_map(|name| delta.text(name));
        told.extend(
            thought
                .filter(|piece| !piece.is_empty())
                .map(TurnEvent::Thinking),
        );
        let words = ["content", "refusal"]
            .iter()
            .filter_map(|name| delta.text(name));
        told.extend(words.filter(|piece| !piece.is_empty()).map(TurnEvent::Text));
        for raw in delta.elements("tool_calls").unwrap_or_default() {
            self.tell_call(&raw.object().unwrap_or_default(), told);
        }
    }

    fn tell_call(&mut self, piece: &Object, told: &mut Vec<TurnEvent>) {
        let kind = piece.text("type").filter(|kind| piece.get(kind).is_some());
        let inner = piece
            .object(kind.as_deref().unwrap_or("function"))
            .unwrap_or_default();
        let known = self
            .message
            .field(CALLS)
            .map_or(0, Growing::len)
            .max(self.begun);
        let place = piece
            .number("index")
            .and_then(|index| usize::try_from(index).ok());
        let goes_on = piece.text("id").is_none_or(|id| id.is_empty()) && known > 0;
        let call = place.unwrap_or(if goes_on { known - 1 } else { known });
        if call >= self.begun {
            self.begun = call.saturating_add(1);
            told.push(TurnEvent::CallBegun {
                call,
                call_id: piece.text("id").unwrap_or_default(),
                name: inner.text("name").unwrap_or_default(),
            });
        }
        let input = inner.text("arguments").or_else(|| inner.text("input"));
        if let Some(piece) = input.filter(|piece| !piece.is_empty()) {
            told.push(TurnEvent::CallInput { call, piece });
        }
    }
}
