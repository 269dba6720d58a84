//! Whether a value has the shape that a JSON schema asks for, and what is wrong in the words of JSON.
//!
//! Keywords that are not known here are not checked: whoever reads the value has the last word.

use serde_json::{Map, Value};

/// What stands for a value that is not known, in arguments that were read from the text of a script.
#[cfg(feature = "scripts")]
pub(crate) use ringfence_script::UNKNOWN;
/// Nothing does where there are no scripts.
#[cfg(not(feature = "scripts"))]
pub(crate) const UNKNOWN: &str = "\u{0}";

/// Levels of a schema that are followed.
const DEEPEST: usize = 16;

/// What is wrong with a value; nothing if it fits.
pub(crate) fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let shape = Shape { root: schema };
    shape.misfit(schema, value, "", 0)
}

struct Shape<'s> {
    root: &'s Value,
}

impl<'s> Shape<'s> {
    fn resolve(&self, mut schema: &'s Value) -> &'s Value {
        for _ in 0..DEEPEST {
            let Some(path) = schema.get("$ref").and_then(Value::as_str) else {
                break;
            };
            let found = path
                .strip_prefix('#')
                .and_then(|path| self.root.pointer(path));
            match found {
                Some(found) => schema = found,
                None => break,
            }
        }
        schema
    }

    fn misfit(&self, schema: &'s Value, value: &Value, path: &str, depth: usize) -> Option<String> {
        let schema = self.resolve(schema);
        let is_deep = depth > DEEPEST;
        if is_unknown(value) || is_deep || !schema.is_object() {
            return None;
        }
        let wrong = || Some(told(path, &self.expected(schema, 0), value));
        if let Some(choices) = choices(schema) {
            let fits = |choice: &&'s Value| self.misfit(choice, value, path, depth + 1).is_none();
            return if choices.iter().any(|choice| fits(&choice)) {
                None
            } else {
                self.nearest(choices, value, path, depth).or_else(wrong)
            };
        }
        if let Some(allowed) = literals(schema) {
            return if allowed.contains(&value) {
                None
            } else {
                wrong()
            };
        }
        let types = types(schema);
        if !types.is_empty() && !types.iter().any(|name| is_a(name, value)) {
            return wrong();
        }
        let least = schema.get("minimum").and_then(Value::as_f64);
        if let (Some(least), Some(given)) = (least, value.as_f64())
            && given < least
        {
            return Some(format!(
                "{}expected at least {least}, got {given}",
                at(path)
            ));
        }
        match value {
            Value::Array(items) => self.in_array(schema, items, path, depth),
            Value::Object(fields) => self.in_object(schema, fields, path, depth),
            _ => None,
        }
    }

    /// What is wrong inside the one choice that is of the value's kind.
    fn nearest(
        &self,
        choices: &'s [Value],
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Option<String> {
        let mut alike = choices.iter().filter(|choice| {
            let names = types(self.resolve(choice));
            (value.is_array() || value.is_object()) && names.iter().any(|name| is_a(name, value))
        });
        let (only, other) = (alike.next()?, alike.next());
        if other.is_some() {
            return None;
        }
        self.misfit(only, value, path, depth + 1)
    }

    fn in_array(
        &self,
        schema: &'s Value,
        items: &[Value],
        path: &str,
        depth: usize,
    ) -> Option<String> {
        let of = schema.get("items")?;
        let mut each = items.iter().enumerate();
        each.find_map(|(at, item)| self.misfit(of, item, &format!("{path}[{at}]"), depth + 1))
    }

    fn in_object(
        &self,
        schema: &'s Value,
        fields: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) -> Option<String> {
        let below = |name: &str| match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in fields.iter().filter(|(name, _)| *name != UNKNOWN) {
            let of = known.and_then(|known| known.get(name)).or(others);
            let wrong = match of {
                Some(Value::Bool(false)) => {
                    let known: Vec<&str> = known
                        .into_iter()
                        .flat_map(Map::keys)
                        .map(String::as_str)
                        .collect();
                    Some(format!(
                        "there is no field `{}` (there are: {})",
                        below(name),
                        known.join(", ")
                    ))
                }
                Some(of) => self.misfit(of, value, &below(name), depth + 1),
                None => None,
            };
            if wrong.is_some() {
                return wrong;
            }
        }
        if fields.contains_key(UNKNOWN) {
            // More fields come from somewhere.
            return None;
        }
        let required = schema.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        let missing = required.find(|name| !fields.contains_key(*name))?;
        let what = known.and_then(|known| known.get(missing));
        let what = what.map(|schema| self.expected(self.resolve(schema), 0));
        let what = what.unwrap_or_else(|| "a value".to_owned());
        Some(format!("missing field `{}`: {what}", below(missing)))
    }

    /// What a schema asks for, in words.
    fn expected(&self, schema: &'s Value, depth: usize) -> String {
        let schema = self.resolve(schema);
        if depth > DEEPEST {
            return "a value".to_owned();
        }
        if let Some(choices) = choices(schema) {
            let given = choices
                .iter()
                .filter(|choice| types(self.resolve(choice)) != ["null"]);
            return any_of(given.map(|choice| self.expected(choice, depth + 1)));
        }
        if let Some(allowed) = literals(schema) {
            return any_of(allowed.into_iter().map(Value::to_string));
        }
        let words = types(schema).into_iter().filter(|name| *name != "null");
        any_of(words.map(|name| match (name, schema.get("items")) {
            ("array", Some(items)) => {
                let names = types(self.resolve(items));
                match names.as_slice() {
                    ["string"] => "an array of strings".to_owned(),
                    ["integer" | "number"] => "an array of numbers".to_owned(),
                    ["object"] => "an array of objects".to_owned(),
                    _ => "an array".to_owned(),
                }
            }
            ("array", None) => "an array".to_owned(),
            ("object", _) => "an object".to_owned(),
            ("integer", _) => "a whole number".to_owned(),
            ("boolean", _) => "a boolean".to_owned(),
            (other, _) => format!("a {other}"),
        }))
    }
}

fn any_of(words: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for word in words {
        if word != "null" && !all.contains(&word) {
            all.push(word);
        }
    }
    if all.is_empty() {
        return "a value".to_owned();
    }
    all.join(" or ")
}

fn choices(schema: &Value) -> Option<&[Value]> {
    let found = ["anyOf", "oneOf"].iter().find_map(|word| schema.get(word));
    found?.as_array().map(Vec::as_slice)
}

fn literals(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(Value::Array(all))) => Some(all.iter().collect()),
        _ => None,
    }
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_a(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_whole),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn is_whole(number: f64) -> bool {
    number.fract() == 0.0
}

/// Whether a value is not known at all.
pub(crate) fn is_unknown(value: &Value) -> bool {
    value.as_str() == Some(UNKNOWN)
}

/// Whether something in a value is not known.
pub(crate) fn has_unknown(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_unknown),
        Value::Object(fields) => fields.contains_key(UNKNOWN) || fields.values().any(has_unknown),
        other => is_unknown(other),
    }
}

fn at(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!("`{path}`: "),
    }
}

fn told(path: &str, expected: &str, value: &Value) -> String {
    let got = match value {
        Value::String(text) if expected.starts_with('"') => format!("{text:?}"),
        Value::Number(number) if expected == "a whole number" => number.to_string(),
        other => kind(other).to_owned(),
    };
    format!("{}expected {expected}, got {got}", at(path))
}

/// The kind of a value, in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_said_in_the_words_of_json() {
        let schema = json!({
            "type": "object",
            "required": ["command"],
            "properties": {
                "command": { "type": "array", "items": { "type": "string" } },
                "env": { "type": ["object", "null"], "additionalProperties": { "type": "string" } },
                "timeoutMs": { "type": ["integer", "null"], "minimum": 0 },
                "how": { "anyOf": [{ "$ref": "#/$defs/How" }, { "type": "null" }] },
                "kind": { "oneOf": [{ "const": "a" }, { "const": "b" }] },
                "wait": { "type": "boolean" },
                "until": { "anyOf": [{ "type": "object", "required": ["line"], "properties": { "line": { "type": "string" } } }, { "type": "string" }] },
            },
            "$defs": { "How": { "enum": ["fast", "slow"] } },
        });
        let fields = |more: Value| {
            let mut value = json!({ "command": ["ls"] });
            let more = more.as_object().unwrap().clone();
            value.as_object_mut().unwrap().extend(more);
            value
        };
        for (value, expected) in [
            (
                json!({ "command": "ls" }),
                "`command`: expected an array of strings, got a string",
            ),
            (
                json!({ "command": ["ls", 1] }),
                "`command[1]`: expected a string, got a number",
            ),
            (
                json!({ "command": null }),
                "`command`: expected an array of strings, got null",
            ),
            (json!({}), "missing field `command`: an array of strings"),
            (json!([]), "expected an object, got an array"),
            (
                fields(json!({ "env": { "A": 1 } })),
                "`env.A`: expected a string, got a number",
            ),
            (
                fields(json!({ "timeoutMs": "5s" })),
                "`timeoutMs`: expected a whole number, got a string",
            ),
            (
                fields(json!({ "timeoutMs": 1.5 })),
                "`timeoutMs`: expected a whole number, got 1.5",
            ),
            (
                fields(json!({ "timeoutMs": -1 })),
                "`timeoutMs`: expected at least 0, got -1",
            ),
            (
                fields(json!({ "how": "often" })),
                "`how`: expected \"fast\" or \"slow\", got \"often\"",
            ),
            (
                fields(json!({ "kind": "c" })),
                "`kind`: expected \"a\" or \"b\", got \"c\"",
            ),
            (
                fields(json!({ "wait": 1 })),
                "`wait`: expected a boolean, got a number",
            ),
            (
                fields(json!({ "until": {} })),
                "missing field `until.line`: a string",
            ),
            (
                fields(json!({ "until": 1 })),
                "`until`: expected an object or a string, got a number",
            ),
        ] {
            assert_eq!(
                misfit(&schema, &value).as_deref(),
                Some(expected),
                "{value}"
            );
        }
        for value in [
            fields(
                json!({ "env": null, "timeoutMs": 5.0, "how": null, "kind": "b", "until": "x" }),
            ),
            fields(json!({ "unheardOf": 1 })),
            json!({ "command": UNKNOWN }),
            json!({ "command": ["ls", UNKNOWN] }),
            json!({ UNKNOWN: true, "wait": true }),
        ] {
            assert_eq!(misfit(&schema, &value), None, "{value}");
        }
        assert!(has_unknown(&json!({ "command": ["ls", UNKNOWN] })));
    }
}
