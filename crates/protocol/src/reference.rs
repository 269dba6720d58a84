//! The protocol as a part of its documentation, from the same types.

use std::fmt::Write as _;

use serde_json::Value;

use crate::description::{METHODS, Method, NOTIFICATIONS, OF_THE_CLIENT};
use crate::wire::FaultKind;

/// The reference of all methods, notifications and errors, in Markdown.
pub fn reference() -> String {
    let mut text = String::new();
    section(&mut text, "Requests of the client", METHODS);
    section(&mut text, "Requests of the session", OF_THE_CLIENT);
    section(&mut text, "Notifications of the session", NOTIFICATIONS);
    text.push_str("### Errors\n\n| code | name | meaning |\n|---|---|---|\n");
    for kind in FaultKind::ALL {
        let _ = writeln!(
            text,
            "| {} | `{}` | {} |",
            kind.number(),
            kind.name(),
            kind.meaning()
        );
    }
    text
}

fn section(text: &mut String, title: &str, methods: &[Method]) {
    let _ = writeln!(text, "### {title}\n");
    for method in methods {
        let _ = writeln!(text, "**`{}`**: {}\n", method.name, method.summary);
        let params = (method.params)();
        if let Some(result) = method.result {
            fields(text, "params", &params);
            fields(text, "result", &result());
        } else {
            fields(text, "params", &params);
        }
    }
}

/// A table of an object's fields; the fields of objects in it are below them.
fn fields(text: &mut String, title: &str, schema: &Value) {
    let mut rows = Vec::new();
    collect(&mut rows, "", schema, schema);
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(text, "| {title} | type | |\n|---|---|---|");
    for (name, kind, about) in rows {
        let _ = writeln!(text, "| `{name}` | {kind} | {about} |");
    }
    text.push('\n');
}

type Row = (String, String, String);

fn collect(rows: &mut Vec<Row>, prefix: &str, schema: &Value, root: &Value) {
    let schema = resolved(schema, root);
    for alternative in alternatives(schema) {
        variant(rows, prefix, resolved(alternative, root), root);
    }
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    for (name, property) in properties {
        if property.get("const").is_some() {
            continue;
        }
        let path = format!("{prefix}{name}");
        let required = schema["required"]
            .as_array()
            .is_some_and(|all| all.contains(&Value::from(name.as_str())));
        let mut kind = kind_of(property, root);
        if !required {
            kind.push('?');
        }
        rows.push((path.clone(), kind, about(property)));
        if rows.len() < 200 {
            let inner = item_of(resolved(property, root), root);
            collect(rows, &format!("{path}."), inner, root);
        }
    }
}

/// One of several forms of an object, with the word that tells it from others.
fn variant(rows: &mut Vec<Row>, prefix: &str, schema: &Value, root: &Value) {
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    let tag = properties.iter().find_map(|(name, property)| {
        let word = property["const"].as_str()?;
        Some(format!("{prefix}{name}: \"{word}\""))
    });
    let Some(tag) = tag else { return };
    rows.push((tag, "object".to_owned(), about(schema)));
    collect(rows, &format!("{prefix}… "), schema, root);
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["oneOf", "anyOf"].map(|key| schema[key].as_array());
    lists.into_iter().flatten().flatten()
}

fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str();
    let name = name.and_then(|path| path.strip_prefix("#/$defs/"));
    name.map_or(schema, |name| &root["$defs"][name])
}

/// What an optional value, a list or a map holds.
fn item_of<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    if schema["items"].is_object() {
        return resolved(&schema["items"], root);
    }
    let some = schema["anyOf"].as_array().and_then(|all| all.first());
    some.map_or(schema, |some| resolved(some, root))
}

fn kind_of(property: &Value, root: &Value) -> String {
    let schema = resolved(property, root);
    let words: Vec<String> = alternatives(schema)
        .filter_map(|one| one["const"].as_str())
        .chain(
            schema["enum"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str),
        )
        .map(|word| format!("`{word}`"))
        .collect();
    if !words.is_empty() {
        return words.join(", ");
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" && schema["items"].is_object() => {
            format!("array of {}", kind_of(&schema["items"], root))
        }
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            let kinds = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|kind| *kind != "null");
            let kinds: Vec<&str> = kinds.collect();
            match kinds.as_slice() {
                ["array"] => format!("array of {}", kind_of(&schema["items"], root)),
                kinds => kinds.join(", "),
            }
        }
        _ if schema["anyOf"].is_array() => kind_of(item_of(schema, root), root),
        _ if schema["oneOf"].is_array() => "object".to_owned(),
        _ => "any".to_owned(),
    }
}

fn about(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    text.replace('\n', " ").replace('|', "\\|")
}
