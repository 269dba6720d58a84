//! A value read from JSON: plain, or in the `$` notation.

use std::collections::HashMap;

use serde_json::{Map, Value as Json};

use super::{JsonError, JsonFunctions};
use crate::value::base64;
use crate::value::date::millis_from_iso;
use crate::value::{BigInt, ErrorValue, Identity, Shared, Value, View, ViewKind};

/// Reads plain JSON and the `$` notation.
pub(super) fn scan(json: &Json, functions: &mut dyn JsonFunctions) -> Result<Value, JsonError> {
    let mut scanner = Scanner {
        known: HashMap::new(),
        functions,
    };
    scanner.scan(json, Identity::fresh())
}

struct Scanner<'f> {
    known: HashMap<u64, (Identity, Option<Value>)>,
    functions: &'f mut dyn JsonFunctions,
}

impl Scanner<'_> {
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
            "function" => self.functions.read(map).map_err(JsonError::Function)?,
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
        let mut with = |key| map.get(key).map(|value| self.fresh(value)).transpose();
        let (cause, errors) = (with("cause")?, with("errors")?);
        Ok(Value::Error(Shared::with_identity(
            identity,
            ErrorValue {
                name,
                message,
                cause,
                errors,
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
