//! From what a script threw to the fields of an error: name, message, and a stack with the positions of the
//! source as it was written.

use super::callee;
use super::quickjs::{Kind, Text, Val, Visibility};
use super::run_state::RunState;
use super::stack;
use crate::protocol::{Fault, Place};

/// Text beyond this is cut: an error is a message, not a channel.
const LONGEST_TEXT: usize = 16 << 10;
/// Errors inside an error that are told.
const MOST_INNER: u32 = 5;
/// Causes of causes that are told.
const MOST_CAUSES: usize = 3;

/// Describes a thrown value. Properties that are not plain strings are left out.
pub(crate) fn describe(thrown: &Val, run: &RunState) -> Fault {
    if thrown.kind() != Kind::Object || !thrown.is_error() {
        let message = uncaught(thrown);
        let place = run.rejections.place_of(thrown);
        let stack = place.as_ref().map(|Place { file, line, column }| {
            format!("Uncaught {message}\n    at {file}:{line}:{column}")
        });
        return Fault {
            name: "Error".to_owned(),
            message,
            stack: stack.map(|stack| cut(stack, LONGEST_TEXT)),
            ..Fault::default()
        }
        .at(place.as_ref());
    }
    let name = field(thrown, c"name").unwrap_or_else(|| "Error".to_owned());
    let frames = stack::of_error(thrown, run);
    let top = frames.first().map(|frame| &frame.place);
    let message = message_of(thrown, run, top);
    let mut text = stack::text(&name, &message, &frames);
    causes(thrown, run, &mut text);
    Fault {
        name,
        message,
        stack: Some(text),
        ..Fault::default()
    }
    .at(top)
    .cut_to(LONGEST_TEXT)
}

/// What an error says, with what the engine leaves out.
fn message_of(error: &Val, run: &RunState, top: Option<&Place>) -> String {
    let message = field(error, c"message").unwrap_or_default();
    if let Some(better) = top.and_then(|top| callee::explain(&message, top, &run.graph.borrow())) {
        return better;
    }
    let Some(inner) = inner_errors(error) else {
        return message;
    };
    let message = match message.as_str() {
        "" => "all promises were rejected",
        message => message,
    };
    format!("{message} ({inner})")
}

/// Gives an error of the engine's that a script has caught the message that it would have outside.
pub(crate) fn complete(caught: &Val, run: &RunState) {
    if caught.kind() != Kind::Object || !caught.is_error() {
        return;
    }
    // A message that is not the engine's own stays as it is; the property is looked at, never called.
    let Some(message) = caught
        .own_string("message")
        .filter(|text| callee::is_terse(text))
    else {
        return;
    };
    let frames = stack::of_error(caught, run);
    let Some(place) = frames.first().map(|frame| &frame.place) else {
        return;
    };
    let known = run.callees.borrow().get(place).cloned();
    let better = known.unwrap_or_else(|| {
        let found = callee::explain(&message, place, &run.graph.borrow());
        run.callees
            .borrow_mut()
            .insert(place.clone(), found.clone());
        found
    });
    if let Some(better) = better
        && let Ok(text) = run.realm.string(&better)
    {
        // A frozen error keeps what it has.
        let _ = caught.define(c"message", text, Visibility::Hidden);
    }
}

/// The errors that an `AggregateError` is made of.
fn inner_errors(error: &Val) -> Option<String> {
    if !error.has_own("errors").ok()? {
        return None;
    }
    let errors = error.get(c"errors").ok()?;
    let count = errors.length().ok().filter(|count| *count > 0)?;
    let told = u32::try_from(count).unwrap_or(u32::MAX).min(MOST_INNER);
    let mut texts: Vec<String> = (0..told)
        .filter_map(|at| errors.get_index(at).ok())
        .map(|inner| short(&inner))
        .collect();
    if count > u64::from(told) {
        texts.push(format!("{} more", count - u64::from(told)));
    }
    Some(texts.join("; "))
}

/// The causes of an error, as its stack goes on.
fn causes(error: &Val, run: &RunState, text: &mut String) {
    let mut at = error.clone();
    for _ in 0..MOST_CAUSES {
        let cause = match at.has_own("cause") {
            Ok(true) => at.get(c"cause"),
            _ => return,
        };
        let Ok(cause) = cause else { return };
        text.push_str("\nCaused by: ");
        if cause.kind() != Kind::Object || !cause.is_error() {
            text.push_str(&uncaught(&cause));
            return;
        }
        text.push_str(&stack::shown(&cause, run));
        at = cause;
    }
}

/// Name and message of a value that was thrown.
fn short(thrown: &Val) -> String {
    if thrown.kind() == Kind::Object && thrown.is_error() {
        let name = field(thrown, c"name").unwrap_or_else(|| "Error".to_owned());
        return stack::header(&name, &field(thrown, c"message").unwrap_or_default());
    }
    uncaught(thrown)
}

fn field(value: &Val, key: &std::ffi::CStr) -> Option<String> {
    value.get(key).ok().and_then(|text| text.string())
}

/// The message for a thrown value that is no error.
fn uncaught(thrown: &Val) -> String {
    let text = match thrown.kind() {
        Kind::Object => {
            let message = field(thrown, c"message");
            message
                .or_else(|| json_text(thrown))
                .unwrap_or_else(|| "[object]".to_owned())
        }
        Kind::Symbol => "Symbol()".to_owned(),
        _ => match thrown.text() {
            Ok(Text::Utf8(text)) => text,
            Ok(Text::Utf16(units)) => String::from_utf16_lossy(&units),
            Err(_) => "[unprintable]".to_owned(),
        },
    };
    cut(text, LONGEST_TEXT)
}

fn json_text(value: &Val) -> Option<String> {
    let json = value.realm().global().get(c"JSON").ok()?;
    json.get(c"stringify")
        .ok()?
        .call(&json, std::slice::from_ref(value))
        .ok()?
        .string()
}

fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}

impl Fault {
    /// The fault at a place.
    pub(crate) fn at(self, place: Option<&Place>) -> Self {
        Self {
            filename: place.map(|place| place.file.clone()),
            line: place.map(|place| place.line.into()),
            column: place.map(|place| place.column.into()),
            ..self
        }
    }

    /// The fault with no text longer than this.
    pub(crate) fn cut_to(self, most: usize) -> Self {
        Self {
            name: cut(self.name, most),
            message: cut(self.message, most),
            stack: self.stack.map(|stack| cut(stack, most)),
            ..self
        }
    }
}
