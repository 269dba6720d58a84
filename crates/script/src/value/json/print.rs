//! A value printed as JSON: what is in it more than once gets a number.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json, json};

use crate::value::base64;
use crate::value::date::iso_from_millis;
use crate::value::{Identity, Value};

use super::JsonFunctions;

/// A value in the `$` notation.
pub(super) fn print(value: &Value, functions: &mut dyn JsonFunctions) -> Json {
    let mut uses = Uses::default();
    uses.count(value);
    Printer {
        shared: uses.again,
        numbers: HashMap::new(),
        functions,
    }
    .print(value)
}

#[derive(Default)]
struct Uses {
    once: HashSet<Identity>,
    again: HashSet<Identity>,
}

impl Uses {
    fn count(&mut self, value: &Value) {
        if let Some(identity) = value.container()
            && !self.once.insert(identity)
        {
            self.again.insert(identity);
            return;
        }
        match value {
            Value::Back(identity) => {
                self.again.insert(*identity);
            }
            Value::Object(entries) => entries.iter().for_each(|(_, value)| self.count(value)),
            Value::Array(items) | Value::Set(items) => {
                items.iter().for_each(|item| self.count(item));
            }
            Value::Map(entries) => entries.iter().for_each(|(key, value)| {
                self.count(key);
                self.count(value);
            }),
            Value::Error(error) => error.cause.iter().for_each(|cause| self.count(cause)),
            _ => {}
        }
    }
}

struct Printer<'f> {
    functions: &'f mut dyn JsonFunctions,
    shared: HashSet<Identity>,
    numbers: HashMap<Identity, u64>,
}

impl Printer<'_> {
    fn print(&mut self, value: &Value) -> Json {
        let identity = if let Value::Back(identity) = value {
            Some(*identity)
        } else {
            value.container()
        };
        let Some(identity) = identity.filter(|identity| self.shared.contains(identity)) else {
            return self.content(value);
        };
        if let Some(number) = self.numbers.get(&identity) {
            return json!({"$": "ref", "n": number});
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(identity, number);
        json!({"$": "id", "n": number, "v": self.content(value)})
    }

    fn content(&mut self, value: &Value) -> Json {
        match value {
            // A reference back only comes here when its part was taken out of the enclosing object.
            Value::Undefined | Value::Back(_) => json!({"$": "undefined"}),
            Value::Hole => json!({"$": "hole"}),
            Value::Null => Json::Null,
            Value::Bool(value) => json!(value),
            Value::Number(number) => number_to_json(*number),
            Value::BigInt(number) => json!({"$": "bigint", "v": number.as_str()}),
            Value::String(text) => json!(&**text),
            Value::Utf16(units) => json!(String::from_utf16_lossy(units)),
            Value::Date(time) => json!({"$": "Date", "v": iso_from_millis(*time)}),
            Value::RegExp { source, flags } => json!({"$": "RegExp", "v": [&**source, &**flags]}),
            Value::Object(entries) => self.object(entries),
            Value::Array(items) => items.iter().map(|item| self.print(item)).collect(),
            Value::Set(items) => {
                json!({"$": "Set", "v": items.iter().map(|item| self.print(item)).collect::<Json>()})
            }
            Value::Map(entries) => {
                let pairs = entries
                    .iter()
                    .map(|(key, value)| json!([self.print(key), self.print(value)]));
                json!({"$": "Map", "v": pairs.collect::<Json>()})
            }
            Value::Buffer(bytes) => json!({"$": "ArrayBuffer", "base64": base64::encode(bytes)}),
            Value::View(view) => {
                json!({"$": view.kind.name(), "base64": base64::encode(view.bytes())})
            }
            Value::Error(error) => {
                let mut json = json!({"$": "Error", "name": error.name, "message": error.message});
                if let Some(cause) = &error.cause {
                    json["cause"] = self.print(cause);
                }
                if let Some(errors) = &error.errors {
                    json["errors"] = self.print(errors);
                }
                json
            }
            Value::Function(function) => self.functions.write(function),
            Value::Promise(_) => json!({"$": "promise"}),
        }
    }

    fn object(&mut self, entries: &[(std::sync::Arc<str>, Value)]) -> Json {
        let map: Map<String, Json> = entries
            .iter()
            .map(|(key, value)| (key.to_string(), self.print(value)))
            .collect();
        if map.contains_key("$") {
            json!({"$": "object", "v": map})
        } else {
            Json::Object(map)
        }
    }
}

fn number_to_json(number: f64) -> Json {
    if number.is_nan() {
        return json!({"$": "number", "v": "NaN"});
    }
    if number.is_infinite() {
        return json!({"$": "number", "v": if number > 0.0 { "Infinity" } else { "-Infinity" }});
    }
    if number == 0.0 && number.is_sign_negative() {
        return json!({"$": "number", "v": "-0"});
    }
    // Whole numbers are written as such, not as `1.0`.
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
        return json!(number as i64);
    }
    json!(number)
}
