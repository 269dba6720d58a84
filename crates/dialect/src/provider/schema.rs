//! Schemas in the dialects of the providers: plain, and strict.
//!
//! Strict means that the provider holds the model to the schema while it writes. It knows a part of JSON Schema for that, and
//! wants every field written: what may be left out becomes a field that may be `null`.

use serde_json::{Map, Value, json};

/// Formats that strict schemas may name.
const FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];
/// Words that strict schemas may not use and that can be left out: they narrow what the tool itself checks.
const LEFT_OUT: &[&str] = &[
    "default",
    "examples",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "writeOnly",
    "readOnly",
    "deprecated",
    "title",
    "$schema",
];
/// Words with which a schema cannot be made strict.
const IN_THE_WAY: &[&str] = &[
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "unevaluatedProperties",
    "propertyNames",
    "prefixItems",
];
/// How deep a schema may be nested.
const DEEPEST: usize = 10;

/// A schema that every provider takes: an object, without what says which dialect it is in.
pub(super) fn plain(schema: &Value) -> Value {
    let mut plain = match schema {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    plain.shift_remove("$schema");
    plain.shift_remove("title");
    plain.entry("type").or_insert_with(|| "object".into());
    plain.entry("properties").or_insert_with(|| json!({}));
    Value::Object(plain)
}

/// The strict schema, if there can be one.
pub(super) fn strict(schema: &Value) -> Option<Value> {
    let strict = stricter(&plain(schema), 0)?;
    (strict["type"] == "object").then_some(strict)
}

fn stricter(schema: &Value, depth: usize) -> Option<Value> {
    // `true` takes anything, which no strict schema does.
    let Value::Object(fields) = schema else {
        return None;
    };
    if depth > DEEPEST || IN_THE_WAY.iter().any(|word| fields.contains_key(*word)) {
        return None;
    }
    let mut strict = Map::new();
    for (word, value) in fields {
        match (word.as_str(), value) {
            ("properties" | "required" | "additionalProperties", _) => {}
            ("format", Value::String(format)) if !FORMATS.contains(&format.as_str()) => {}
            (word, _) if LEFT_OUT.contains(&word) => {}
            ("$defs" | "definitions", Value::Object(definitions)) => {
                let made = definitions.iter().map(|(name, schema)| {
                    stricter(schema, depth + 1).map(|schema| (name.clone(), schema))
                });
                strict.insert(word.clone(), Value::Object(made.collect::<Option<_>>()?));
            }
            ("anyOf" | "oneOf", Value::Array(options)) => {
                let made = options.iter().map(|option| stricter(option, depth + 1));
                strict.insert(
                    "anyOf".to_owned(),
                    Value::Array(made.collect::<Option<_>>()?),
                );
            }
            ("items", items) => {
                strict.insert(word.clone(), stricter(items, depth + 1)?);
            }
            ("const", value) => {
                strict.insert("enum".to_owned(), json!([value]));
            }
            _ => {
                strict.insert(word.clone(), value.clone());
            }
        }
    }
    if is_object(fields) {
        // An object with names that the schema does not know cannot be strict.
        if matches!(
            fields.get("additionalProperties"),
            Some(Value::Object(_) | Value::Bool(true))
        ) {
            return None;
        }
        object(fields, &mut strict, depth)?;
    }
    let says_something = ["type", "anyOf", "$ref", "enum"]
        .iter()
        .any(|word| strict.contains_key(*word));
    says_something.then_some(Value::Object(strict))
}

fn is_object(fields: &Map<String, Value>) -> bool {
    match fields.get("type") {
        Some(Value::String(word)) => word == "object",
        Some(Value::Array(words)) => words.iter().any(|word| word == "object"),
        _ => fields.contains_key("properties"),
    }
}

fn object(
    fields: &Map<String, Value>,
    strict: &mut Map<String, Value>,
    depth: usize,
) -> Option<()> {
    let none = Map::new();
    let properties = fields
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let mut made = Map::new();
    for (name, schema) in properties {
        let schema = stricter(schema, depth + 1)?;
        let schema = if is_required(fields, name) {
            schema
        } else {
            or_null(schema)
        };
        made.insert(name.clone(), schema);
    }
    strict.insert("required".to_owned(), made.keys().cloned().collect());
    strict.insert("properties".to_owned(), Value::Object(made));
    strict.insert("additionalProperties".to_owned(), false.into());
    Some(())
}

fn is_required(fields: &Map<String, Value>, name: &str) -> bool {
    let required = fields.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|known| known == name))
}

/// The same or `null`.
fn or_null(schema: Value) -> Value {
    if takes_null(&schema) {
        return schema;
    }
    let mut schema = schema;
    match schema.get_mut("type") {
        Some(Value::Array(words)) if schema_has_no_list(words) => words.push("null".into()),
        Some(word @ Value::String(_)) => *word = json!([word.clone(), "null"]),
        _ => return json!({ "anyOf": [schema, { "type": "null" }] }),
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
    schema
}

fn schema_has_no_list(words: &[Value]) -> bool {
    words.iter().all(|word| word != "null")
}

fn takes_null(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(word)) => word == "null",
        Some(Value::Array(words)) => words.iter().any(|word| word == "null"),
        _ => {
            let options = schema.get("anyOf").or_else(|| schema.get("oneOf"));
            let options = options.and_then(Value::as_array);
            options.is_some_and(|options| options.iter().any(takes_null))
        }
    }
}

/// Arguments without the `null`s that stand for what was left out.
pub(super) fn without_fillers(arguments: Value, schema: &Value, root: &Value) -> Value {
    let schema = resolved(schema, root);
    match arguments {
        Value::Object(fields) => {
            let none = Map::new();
            let known = schema
                .get("properties")
                .and_then(Value::as_object)
                .unwrap_or(&none);
            let loose = schema.as_object().unwrap_or(&none);
            let kept = fields.into_iter().filter_map(|(name, value)| {
                let Some(schema) = known.get(&name) else {
                    return Some((name, value));
                };
                let filler = value.is_null()
                    && !is_required(loose, &name)
                    && !takes_null(resolved(schema, root));
                (!filler).then(|| (name, without_fillers(value, schema, root)))
            });
            Value::Object(kept.collect())
        }
        Value::Array(elements) => match schema.get("items") {
            Some(items) => elements
                .into_iter()
                .map(|element| without_fillers(element, items, root))
                .collect(),
            None => Value::Array(elements),
        },
        other => other,
    }
}

/// A schema that is named elsewhere in the same document.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> &'s Value {
    let named = schema.get("$ref").and_then(Value::as_str);
    let named = named.and_then(|named| named.strip_prefix('#'));
    named.and_then(|path| root.pointer(path)).unwrap_or(schema)
}
