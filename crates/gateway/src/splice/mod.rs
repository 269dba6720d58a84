//! The events of several answers as those of one.
//!
//! Each round with the provider is a stream with a beginning and an end of its own. The client gets the first
//! beginning, everything in between with its places counted on, and one end. What a script came to is a text of
//! ours between two rounds.
//!
//! Structured calls are the client's, and have to be the last that it sees of an answer: where a script was written
//! before them, they wait until it has run.

mod chat;
mod messages;
mod responses;

use ringfence::dialect::provider::{Object, Provider, Raw, ServerEvent};
use serde_json::Value;

pub(crate) use chat::Chat;
pub(crate) use messages::Messages;
pub(crate) use responses::Responses;

/// The streams of one answer, joined.
pub(crate) trait Splice: Send {
    /// Takes in an event of the provider's; gives what the client gets by it.
    fn take(&mut self, event: ServerEvent, out: &mut String);

    /// Ends a round: a text of ours, and what waited for it.
    fn insert(&mut self, text: &str, out: &mut String);

    /// Lets go what waits, and ends the answer.
    fn finish(&mut self, out: &mut String);

    /// Makes ready for another round.
    fn next_round(&mut self);

    /// Ends the answer with an error.
    fn fail(&mut self, message: &str, out: &mut String);
}

/// A new one.
pub(crate) fn of(provider: Provider) -> Box<dyn Splice> {
    match provider {
        Provider::OpenAiResponses => Box::new(Responses::default()),
        Provider::OpenAiChat => Box::new(Chat::default()),
        Provider::AnthropicMessages => Box::new(Messages::default()),
    }
}

/// What is in every mark of a script.
const MARK: &str = "tool-calls";

/// Whether there may be a script in a text that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    end: String,
    seen: bool,
}

impl Watch {
    fn add(&mut self, piece: &str) {
        if self.seen {
            return;
        }
        self.end.push_str(piece);
        self.seen = self.end.contains(MARK);
        let keep = self.end.len().saturating_sub(MARK.len());
        let keep = (0..=keep).rev().find(|at| self.end.is_char_boundary(*at));
        self.end.drain(..keep.unwrap_or(0));
    }
}

/// The fields of an event's data, if it is an object.
fn fields(event: &ServerEvent) -> Option<Object> {
    serde_json::from_str(&event.data).ok()
}

/// Writes an event whose name is its type.
fn write_named(fields: &Object, out: &mut String) {
    let name = fields.text("type").unwrap_or_default();
    out.push_str("event: ");
    out.push_str(&name);
    out.push('\n');
    write_data(fields, out);
}

fn write_data(fields: &Object, out: &mut String) {
    out.push_str("data: ");
    out.push_str(fields.to_raw().text());
    out.push_str("\n\n");
}

/// An object of a value.
fn object(value: &Value) -> Object {
    Raw::of(value).object().unwrap_or_default()
}

/// What all rounds used together. A provider reports what a round used so far, and may do that often.
#[derive(Debug, Default)]
pub(crate) struct Bill {
    before: Option<Raw>,
    now: Option<Raw>,
}

impl Bill {
    fn report(&mut self, usage: Option<&Raw>) {
        if let Some(usage) = usage.filter(|usage| !usage.is_null()) {
            self.now = Some(usage.clone());
        }
    }

    fn next_round(&mut self) {
        self.before = self.total();
        self.now = None;
    }

    fn total(&self) -> Option<Raw> {
        sum(self.before.clone(), self.now.clone())
    }
}

/// Two reports of what was used, number by number.
pub(crate) fn sum(one: Option<Raw>, other: Option<Raw>) -> Option<Raw> {
    match (one.as_ref().and_then(Raw::value), other) {
        (Some(mut total), Some(more)) => {
            if let Some(more) = more.value() {
                add(&mut total, &more);
            }
            Some(Raw::of(&total))
        }
        (None, Some(more)) if !more.is_null() => Some(more),
        (_, _) => one,
    }
}

fn add(total: &mut Value, more: &Value) {
    match (total, more) {
        (Value::Object(total), Value::Object(more)) => {
            for (name, value) in more {
                add(total.entry(name).or_insert(Value::Null), value);
            }
        }
        (total @ Value::Number(_), Value::Number(more)) => {
            let both = total.as_u64().zip(more.as_u64());
            *total = both.map_or_else(|| more.clone().into(), |(one, two)| (one + two).into());
        }
        (total @ Value::Null, more) => *total = more.clone(),
        (_, _) => {}
    }
}
