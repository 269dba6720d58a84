//! The beginning of a value as text, for what is too large to cross.

use std::fmt::Write as _;

use super::clone_out::{self, Functions};
use super::quickjs::{Kind, Text, Val};
use super::run_state::RunState;
use crate::protocol::Oversize;
use crate::value::Limits;

/// Letters of a preview.
const LENGTH: usize = 2 << 10;
/// Levels that are looked into.
const DEEPEST: usize = 6;
/// Bytes that are counted at most.
const MOST_COUNTED: usize = 256 << 20;

/// What is told of a value that is too large to cross.
pub(crate) fn oversize(value: &Val, run: &RunState) -> Oversize {
    // Looking at it takes memory that is not the script's.
    let meter = run.realm.meter();
    let limit = meter.limit();
    meter.set_limit(usize::MAX);
    let told = look(value, run);
    meter.set_limit(limit);
    told
}

fn look(value: &Val, run: &RunState) -> Oversize {
    let limits = Limits {
        bytes: MOST_COUNTED,
        held: usize::MAX,
        ..run.limits
    };
    let counted = clone_out::size_of(value, &run.primordials, limits, Functions::Describe);
    Oversize {
        bytes: counted.unwrap_or(MOST_COUNTED) as u64,
        preview: of(value, LENGTH),
    }
}

/// The beginning of a value in about so many letters.
pub(crate) fn of(value: &Val, length: usize) -> String {
    let mut text = String::new();
    put(value, length, 0, &mut text);
    text
}

fn put(value: &Val, length: usize, depth: usize, text: &mut String) {
    match value.kind() {
        Kind::Undefined => text.push_str("undefined"),
        Kind::Null => text.push_str("null"),
        Kind::Bool(value) => text.push_str(if value { "true" } else { "false" }),
        Kind::Number(_) | Kind::BigInt => text.push_str(&lossy(value)),
        Kind::Symbol => text.push_str("Symbol()"),
        Kind::String => quoted(&lossy(value), length, text),
        Kind::Object if value.typed_array_kind().is_some() => text.push_str("[typed array]"),
        Kind::Object if value.class_id() == super::class::ARRAY => {
            array(value, length, depth, text);
        }
        Kind::Object if value.is_function() => text.push_str("[Function]"),
        Kind::Object if value.is_proxy() => text.push_str("[Proxy]"),
        Kind::Object if depth >= DEEPEST => text.push('…'),
        Kind::Object => object(value, length, depth, text),
    }
}

fn quoted(whole: &str, length: usize, text: &mut String) {
    let room = length.saturating_sub(text.len());
    let end = whole.floor_char_boundary(room.min(whole.len()));
    text.push_str(&serde_json::Value::from(&whole[..end]).to_string());
    if end < whole.len() {
        text.push('…');
    }
}

fn array(value: &Val, length: usize, depth: usize, text: &mut String) {
    let count = value.length().unwrap_or(0);
    text.push('[');
    for at in 0..u32::try_from(count).unwrap_or(u32::MAX) {
        if at > 0 {
            text.push(',');
        }
        if text.len() >= length {
            let _ = write!(text, "… {} more", count - u64::from(at));
            break;
        }
        match value.get_index(at) {
            Ok(item) => put(&item, length, depth + 1, text),
            Err(_) => text.push('…'),
        }
    }
    text.push(']');
}

fn object(value: &Val, length: usize, depth: usize, text: &mut String) {
    text.push('{');
    if let Ok(keys) = value.keys() {
        for at in 0..keys.len() {
            if at > 0 {
                text.push(',');
            }
            if text.len() >= length {
                let _ = write!(text, "… {} more", keys.len() - at);
                break;
            }
            if let Some(key) = keys.key(at).ok().and_then(|key| key.string()) {
                quoted(&key, length, text);
                text.push(':');
            }
            match keys.value(value, at) {
                Ok(item) => put(&item, length, depth + 1, text),
                Err(_) => text.push('…'),
            }
        }
    }
    text.push('}');
}

fn lossy(value: &Val) -> String {
    match value.text() {
        Ok(Text::Utf8(text)) => text,
        Ok(Text::Utf16(units)) => String::from_utf16_lossy(&units),
        Err(_) => String::new(),
    }
}
