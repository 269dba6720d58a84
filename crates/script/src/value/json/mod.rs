//! [`Value`] as JSON: what JSON lacks is an object tagged with `$`, in both directions.

mod print;
mod scan;

use serde_json::Value as Json;

use super::Value;

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
        print::print(self)
    }

    /// Reads plain JSON and the `$` notation.
    pub fn from_json(json: &Json) -> Result<Self, JsonError> {
        scan::scan(json)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
