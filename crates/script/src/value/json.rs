//! [`Value`] as JSON: what JSON lacks is an object tagged with `$`, in both directions.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value as Json, json};

use super::base64;
use super::date::{iso_from_millis, millis_from_iso};
use super::{BigInt, ErrorValue, Function, Identity, Shared, Value, View, ViewKind};

/// Why a JSON text is not a value in the `$` notation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The tag after `$` is none of ours.
    #[error(
        "`{{\"$\": \"{0}\"}}` is not a known tag; write a plain object that has a key `$` as {{\"$\":\"object\",\"v\":{{…}}}}"
    )]
    UnknownTag(String),
    /// The tag is known, but what stands beside it is not what it needs.
    #[error("the object tagged `{0}` does not have the fields that this tag needs")]
    Malformed(&'static str),
    /// A `ref` without an `id` before it.
    #[error("`{{\"$\":\"ref\",\"n\":{0}}}` refers to an `id` that is not there")]
    DanglingReference(u64),
}

impl Value {
    /// This value in the `$` notation.
    pub fn to_json(&self) -> Json {
        let mut uses = Uses::default();
        uses.count(self);
        Printer {
            shared: uses.again,
            numbers: HashMap::new(),
        }
        .print(self)
    }

    /// Reads plain JSON and the `$` notation.
    pub fn from_json(json: &Json) -> Result<Self, JsonError> {
        Scanner::default().scan(json, Identity::fresh())
    }
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

struct Printer {
    shared: HashSet<Identity>,
    numbers: HashMap<Identity, u64>,
}

impl Printer {
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
                json
            }
            Value::Function(Function::Host(function)) => {
                json!({"$": "function", "name": function.name()})
            }
            Value::Function(Function::Script(_)) => json!({"$": "function"}),
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

#[derive(Default)]
struct Scanner {
    known: HashMap<u64, (Identity, Option<Value>)>,
}

impl Scanner {
    fn scan(&mut self, json: &Json, identity: Identity) -> Result<Value, JsonError> {
        Ok(match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Value::from(text.as_str()),
            Json::Array(items) => Value::Array(Shared::with_identity(identity, self.items(items)?)),
            Json::Object(map) => match map.get("$") {
                Some(Json::String(tag)) => self.tagged(tag, map, identity)?,
                Some(_) => return Err(JsonError::Malformed("$")),
                None => self.object(map, identity)?,
            },
        })
    }

    fn fresh(&mut self, json: &Json) -> Result<Value, JsonError> {
        self.scan(json, Identity::fresh())
    }

    fn items(&mut self, items: &[Json]) -> Result<Vec<Value>, JsonError> {
        items.iter().map(|item| self.fresh(item)).collect()
    }

    fn object(&mut self, map: &Map<String, Json>, identity: Identity) -> Result<Value, JsonError> {
        let entries: Result<Vec<_>, _> = map
            .iter()
            .map(|(key, value)| Ok((key.as_str().into(), self.fresh(value)?)))
            .collect();
        Ok(Value::Object(Shared::with_identity(identity, entries?)))
    }

    fn tagged(
        &mut self,
        tag: &str,
        map: &Map<String, Json>,
        identity: Identity,
    ) -> Result<Value, JsonError> {
        let v = map.get("v");
        let text = v.and_then(Json::as_str);
        let list = v.and_then(Json::as_array);
        Ok(match tag {
            "undefined" => Value::Undefined,
            "hole" => Value::Hole,
            "number" => Value::Number(match text {
                Some("NaN") => f64::NAN,
                Some("Infinity") => f64::INFINITY,
                Some("-Infinity") => f64::NEG_INFINITY,
                Some("-0") => -0.0,
                _ => return Err(JsonError::Malformed("number")),
            }),
            "bigint" => {
                let number = text
                    .and_then(BigInt::parse)
                    .ok_or(JsonError::Malformed("bigint"))?;
                Value::BigInt(number)
            }
            "Date" => {
                let time = match v {
                    Some(Json::Null) => Some(f64::NAN),
                    _ => text.and_then(millis_from_iso),
                };
                Value::Date(time.ok_or(JsonError::Malformed("Date"))?)
            }
            "RegExp" => match list.map(Vec::as_slice) {
                Some([Json::String(source), Json::String(flags)]) => Value::RegExp {
                    source: source.as_str().into(),
                    flags: flags.as_str().into(),
                },
                _ => return Err(JsonError::Malformed("RegExp")),
            },
            "Map" => self.map(list.ok_or(JsonError::Malformed("Map"))?, identity)?,
            "Set" => {
                let items = self.items(list.ok_or(JsonError::Malformed("Set"))?)?;
                Value::Set(Shared::with_identity(identity, items))
            }
            "Error" => self.error(map, identity)?,
            "object" => {
                let map = v
                    .and_then(Json::as_object)
                    .ok_or(JsonError::Malformed("object"))?;
                self.object(map, identity)?
            }
            "id" => self.named(map)?,
            "ref" => self.reference(map)?,
            kind => binary(kind, map, identity)?,
        })
    }

    fn map(&mut self, pairs: &[Json], identity: Identity) -> Result<Value, JsonError> {
        let entries: Result<Vec<_>, _> = pairs
            .iter()
            .map(|pair| match pair.as_array().map(Vec::as_slice) {
                Some([key, value]) => Ok((self.fresh(key)?, self.fresh(value)?)),
                _ => Err(JsonError::Malformed("Map")),
            })
            .collect();
        Ok(Value::Map(Shared::with_identity(identity, entries?)))
    }

    fn error(&mut self, map: &Map<String, Json>, identity: Identity) -> Result<Value, JsonError> {
        let field = |name: &str| map.get(name).and_then(Json::as_str).map(str::to_owned);
        let name = field("name").unwrap_or_else(|| "Error".to_owned());
        let message = field("message").ok_or(JsonError::Malformed("Error"))?;
        let cause = map
            .get("cause")
            .map(|cause| self.fresh(cause))
            .transpose()?;
        Ok(Value::Error(Shared::with_identity(
            identity,
            ErrorValue {
                name,
                message,
                cause,
            },
        )))
    }

    fn named(&mut self, map: &Map<String, Json>) -> Result<Value, JsonError> {
        let number = map
            .get("n")
            .and_then(Json::as_u64)
            .ok_or(JsonError::Malformed("id"))?;
        let content = map.get("v").ok_or(JsonError::Malformed("id"))?;
        let identity = Identity::fresh();
        self.known.insert(number, (identity, None));
        let value = self.scan(content, identity)?;
        self.known.insert(number, (identity, Some(value.clone())));
        Ok(value)
    }

    fn reference(&mut self, map: &Map<String, Json>) -> Result<Value, JsonError> {
        let number = map
            .get("n")
            .and_then(Json::as_u64)
            .ok_or(JsonError::Malformed("ref"))?;
        let (identity, value) = self
            .known
            .get(&number)
            .ok_or(JsonError::DanglingReference(number))?;
        Ok(value.clone().unwrap_or(Value::Back(*identity)))
    }
}

fn binary(tag: &str, map: &Map<String, Json>, identity: Identity) -> Result<Value, JsonError> {
    let bytes = map
        .get("base64")
        .and_then(Json::as_str)
        .and_then(base64::decode);
    if tag == "ArrayBuffer" {
        let bytes = bytes.ok_or(JsonError::Malformed("ArrayBuffer"))?;
        return Ok(Value::Buffer(Shared::with_identity(identity, bytes)));
    }
    let kind = ViewKind::ALL.into_iter().find(|kind| kind.name() == tag);
    let kind = kind.ok_or_else(|| JsonError::UnknownTag(tag.to_owned()))?;
    let bytes = bytes
        .filter(|bytes| bytes.len().is_multiple_of(kind.element()))
        .ok_or(JsonError::Malformed(kind.name()))?;
    let length = bytes.len();
    let view = View {
        kind,
        buffer: Shared::new(bytes),
        offset: 0,
        length,
    };
    Ok(Value::View(Shared::with_identity(identity, view)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dollar_notation_reads_back_what_it_writes() {
        for json in [
            json!(null),
            json!([1, 2.5, "x", true]),
            json!({"$": "undefined"}),
            json!([{"$": "hole"}, 1]),
            json!({"$": "number", "v": "NaN"}),
            json!({"$": "number", "v": "-Infinity"}),
            json!({"$": "number", "v": "-0"}),
            json!({"$": "bigint", "v": "-123456789012345678901234567890"}),
            json!({"$": "Date", "v": "2026-01-01T00:00:00.000Z"}),
            json!({"$": "Date", "v": "-000044-03-15T12:34:56.789Z"}),
            json!({"$": "Date", "v": "+275760-09-13T00:00:00.000Z"}),
            json!({"$": "Date", "v": null}),
            json!({"$": "Map", "v": [[1, {"a": 2}], [{"$": "undefined"}, null]]}),
            json!({"$": "Set", "v": [1, "1"]}),
            json!({"$": "Uint8Array", "base64": "AQID"}),
            json!({"$": "Float64Array", "base64": "AAAAAAAA8D8="}),
            json!({"$": "ArrayBuffer", "base64": ""}),
            json!({"$": "DataView", "base64": "/w=="}),
            json!({"$": "RegExp", "v": ["a+", "gi"]}),
            json!({"$": "Error", "name": "TypeError", "message": "no", "cause": 1}),
            json!({"$": "object", "v": {"$": 1, "b": 2}}),
            json!({"$": "id", "n": 1, "v": {"self": {"$": "ref", "n": 1}}}),
            json!([{"$": "id", "n": 1, "v": {"a": 1}}, {"$": "ref", "n": 1}]),
        ] {
            let value = Value::from_json(&json).unwrap();
            assert_eq!(value.to_json(), json);
        }
    }

    #[test]
    fn malformed_tags_are_errors() {
        for json in [
            json!({"$": "nope"}),
            json!({"$": 1}),
            json!({"$": "number", "v": "1"}),
            json!({"$": "bigint", "v": "1n"}),
            json!({"$": "Map", "v": [[1]]}),
            json!({"$": "ref", "n": 7}),
            json!({"$": "Float64Array", "base64": "AQID"}),
            json!({"$": "Date", "v": "yesterday"}),
            json!({"$": "Date", "v": "2026-13-01T00:00:00.000Z"}),
        ] {
            assert!(Value::from_json(&json).is_err(), "{json}");
        }
    }
}
