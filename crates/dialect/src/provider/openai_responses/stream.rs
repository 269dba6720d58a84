//! A response that comes as events. Each item comes whole at its end; what comes before it is for whoever watches.

use std::collections::{BTreeMap, BTreeSet};

use super::super::error::{ApiError, ReadError};
use super::super::raw::{Object, Raw};
use super::super::reader::Assembly;
use super::super::turn::{Part, Turn, TurnEvent};
use super::{form_of, parts_of};

/// A response in the making.
#[derive(Debug, Default)]
pub(in super::super) struct Stream {
    /// Items that are whole, by their place.
    items: BTreeMap<u64, Raw>,
    /// Items that have begun.
    begun: BTreeSet<u64>,
    /// Items of which pieces were told.
    told: BTreeSet<u64>,
    /// Which call of the turn an item is.
    calls: BTreeMap<u64, usize>,
    response: Option<Object>,
}

impl Assembly for Stream {
    fn take(&mut self, event: &Object, told: &mut Vec<TurnEvent>) -> Result<(), ReadError> {
        let kind = event.text("type").unwrap_or_default();
        match kind.as_str() {
            "response.output_item.added" => self.begin(event, told),
            "response.output_item.done" => self.end(event, told),
            "response.completed" | "response.incomplete" => {
                let response = event.object("response");
                self.response = Some(response.ok_or(ReadError::Foreign { field: "response" })?);
                told.push(TurnEvent::Done);
            }
            "response.failed" | "response.cancelled" => {
                let response = event.get("response").cloned().unwrap_or_else(Raw::null);
                return Err(ApiError::of_raw(&response).into());
            }
            _ => {
                if let Some(delta) = kind.strip_suffix(".delta") {
                    self.piece(delta, event, told);
                }
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.response.is_some()
    }

    fn finish(mut self: Box<Self>) -> Result<Turn, ReadError> {
        let Some(mut response) = self.response else {
            return Err(ReadError::cut("`response.completed` has not come"));
        };
        // Some servers send items as they end, some all of them at the end, some both.
        let at_the_end = response.elements("output").unwrap_or_default();
        for (place, item) in (0_u64..).zip(at_the_end) {
            self.items.entry(place).or_insert(item);
        }
        if let Some(place) = self
            .begun
            .iter()
            .find(|place| !self.items.contains_key(place))
        {
            return Err(ReadError::cut(format!(
                "item {place} has begun and not ended"
            )));
        }
        response.set("output", Raw::array(self.items.values()));
        super::turn(response)
    }
}

impl Stream {
    fn place(&self, event: &Object) -> u64 {
        let next = || {
            self.items
                .last_key_value()
                .map_or(0, |(last, _)| last.saturating_add(1))
        };
        event.number("output_index").unwrap_or_else(next)
    }

    fn begin(&mut self, event: &Object, told: &mut Vec<TurnEvent>) {
        let place = self.place(event);
        self.begun.insert(place);
        if let Some(item) = event.get("item") {
            self.tell_call(place, item, told);
        }
    }

    /// Tells that a call has begun, once.
    fn tell_call(&mut self, place: u64, item: &Raw, told: &mut Vec<TurnEvent>) {
        let fields = item.object().unwrap_or_default();
        let kind = fields.text("type").unwrap_or_default();
        if form_of(&kind).is_none() || self.calls.contains_key(&place) {
            return;
        }
        let call = self.calls.len();
        self.calls.insert(place, call);
        told.push(TurnEvent::CallBegun {
            call,
            call_id: fields.text("call_id").unwrap_or_default(),
            name: fields
                .text("name")
                .unwrap_or_else(|| kind.trim_end_matches("_call").to_owned()),
        });
    }

    fn piece(&mut self, kind: &str, event: &Object, told: &mut Vec<TurnEvent>) {
        let place = self.place(event);
        let Some(piece) = event.text("delta") else {
            return;
        };
        let told_piece = match (kind, self.calls.get(&place)) {
            ("response.output_text" | "response.refusal", _) => TurnEvent::Text(piece),
            ("response.reasoning_text" | "response.reasoning_summary_text", _) => {
                TurnEvent::Thinking(piece)
            }
            (_, Some(call)) => TurnEvent::CallInput { call: *call, piece },
            _ => return,
        };
        self.told.insert(place);
        told.push(told_piece);
    }

    fn end(&mut self, event: &Object, told: &mut Vec<TurnEvent>) {
        let place = self.place(event);
        let Some(item) = event.get("item") else {
            return;
        };
        self.tell_call(place, item, told);
        if !self.told.contains(&place) {
            told.extend(parts_of(item).into_iter().filter_map(|part| match part {
                Part::Text(text) | Part::Refusal(text) => Some(TurnEvent::Text(text)),
                Part::Thinking(text) => Some(TurnEvent::Thinking(text)),
                Part::Call(_) | Part::Other { .. } => None,
            }));
        }
        self.items.insert(place, item.clone());
        told.push(TurnEvent::PartDone);
    }
}
