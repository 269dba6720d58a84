//! [`Value`] as JSON: what JSON lacks is an object tagged with `$`, in both directions.

mod print;
mod scan;

use serde_json::{Map, Value as Json, json};

use super::{Function, Value};

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
    /// A function that nobody has.
    #[error("`{{\"$\":\"function\"}}`: {0}")]
    Function(String),
}

/// What functions are in JSON, for those who can call each other's.
pub trait JsonFunctions {
    /// A function that goes out, as an object tagged `function`.
    fn write(&mut self, function: &Function) -> Json;
    /// The function that an object tagged `function` stands for, or why there is none.
    fn read(&mut self, tagged: &Map<String, Json>) -> Result<Value, String>;
}

/// Functions by their names alone, which nobody can call.
struct Named;

impl JsonFunctions for Named {
    fn write(&mut self, function: &Function) -> Json {
        match function {
            Function::Host(function) => json!({"$": "function", "name": function.name()}),
            Function::Script(_) => json!({"$": "function"}),
        }
    }

    fn read(&mut self, _: &Map<String, Json>) -> Result<Value, String> {
        Err("no function can be given here".to_owned())
    }
}

impl Value {
    /// This value in the `$` notation.
    pub fn to_json(&self) -> Json {
        self.to_json_with(&mut Named)
    }

    /// The same with functions.
    pub fn to_json_with(&self, functions: &mut dyn JsonFunctions) -> Json {
        print::print(self, functions)
    }

    /// Reads plain JSON and the `$` notation.
    pub fn from_json(json: &Json) -> Result<Self, JsonError> {
        Self::from_json_with(json, &mut Named)
    }

    /// The same with functions.
    pub fn from_json_with(
        json: &Json,
        functions: &mut dyn JsonFunctions,
    ) -> Result<Self, JsonError> {
        scan::scan(json, functions)
    }
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
            json!({"$": "function", "name": "f"}),
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
