//! From a JSON schema to a TypeScript type.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::interfaces::Interfaces;

/// Deeper than this a type is `unknown`; schemas may refer to themselves.
const DEEPEST: usize = 8;

/// Writes the type of a part of a schema, all of it. `indent` is how far its lines are from the margin.
pub(super) fn type_of(part: &Value, root: &Value, indent: usize) -> String {
    type_with(part, root, &Interfaces::default(), None, indent)
}

/// Writes the type of a part of a schema, with the names of types that have one, but for the one that is being declared.
pub(super) fn type_with(
    part: &Value,
    root: &Value,
    names: &Interfaces<'_>,
    declared: Option<&str>,
    indent: usize,
) -> String {
    let types = Types { root, names };
    match part.get("title").and_then(Value::as_str) {
        Some(title) if names.has(title) && declared.is_none() => title.to_owned(),
        _ => types.of(part, indent, 0),
    }
}

/// A comment on what follows it, on lines of its own; nothing for an empty text.
pub(super) fn comment(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    // Whatever would end the comment does not.
    let text = text.replace("*/", "*\u{200b}/");
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{margin}/** {line} */\n"),
        lines => {
            let mut comment = format!("{margin}/**\n");
            for line in lines {
                let _ = writeln!(comment, "{margin} * {line}");
            }
            comment + &margin + " */\n"
        }
    }
}

/// A name of a property, in quotes if it has to be.
pub(super) fn property(name: &str) -> String {
    if is_identifier(name) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

pub(super) fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_' || c == '$';
    letters.next().is_some_and(starts) && letters.all(|c| starts(c) || c.is_ascii_digit())
}

/// A JSON string is a TypeScript string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

struct Types<'s> {
    root: &'s Value,
    names: &'s Interfaces<'s>,
}

impl Types<'_> {
    fn of(&self, schema: &Value, indent: usize, depth: usize) -> String {
        let Some(schema) = schema.as_object().filter(|_| depth < DEEPEST) else {
            return "unknown".to_owned();
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = reference.strip_prefix("#/$defs/").unwrap_or_default();
            if self.names.has(name) {
                return name.to_owned();
            }
            return match self.resolve(reference) {
                Some(schema) => self.of(schema, indent, depth + 1),
                None => "unknown".to_owned(),
            };
        }
        if let Some(value) = schema.get("const") {
            return literal(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return union(values.iter().map(literal));
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(word).and_then(Value::as_array) {
                return union(
                    choices
                        .iter()
                        .map(|choice| self.of(choice, indent, depth + 1)),
                );
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let parts: Vec<_> = parts
                .iter()
                .map(|part| format!("({})", self.of(part, indent, depth + 1)))
                .collect();
            return parts.join(" & ");
        }
        match schema.get("type") {
            Some(Value::String(name)) => self.named(name, schema, indent, depth),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                union(names.map(|name| self.named(name, schema, indent, depth)))
            }
            _ if schema.contains_key("properties") => self.object(schema, indent, depth),
            _ => "unknown".to_owned(),
        }
    }

    fn resolve(&self, reference: &str) -> Option<&Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    fn named(
        &self,
        name: &str,
        schema: &Map<String, Value>,
        indent: usize,
        depth: usize,
    ) -> String {
        match name {
            "string" | "boolean" | "null" => name.to_owned(),
            "number" | "integer" => "number".to_owned(),
            "array" => self.array(schema, indent, depth),
            "object" => self.object(schema, indent, depth),
            _ => "unknown".to_owned(),
        }
    }

    fn array(&self, schema: &Map<String, Value>, indent: usize, depth: usize) -> String {
        if let Some(items) = schema.get("prefixItems").and_then(Value::as_array) {
            let items: Vec<_> = items
                .iter()
                .map(|item| self.of(item, indent, depth + 1))
                .collect();
            return format!("[{}]", items.join(", "));
        }
        match schema.get("items") {
            Some(items) => {
                let item = self.of(items, indent, depth + 1);
                if item.chars().all(char::is_alphanumeric) {
                    format!("{item}[]")
                } else {
                    format!("Array<{item}>")
                }
            }
            None => "unknown[]".to_owned(),
        }
    }

    fn object(&self, schema: &Map<String, Value>, indent: usize, depth: usize) -> String {
        let properties = schema.get("properties").and_then(Value::as_object);
        let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
            let value = match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => return "Record<string, never>".to_owned(),
                Some(values) => self.of(values, indent, depth + 1),
                None => "unknown".to_owned(),
            };
            return format!("Record<string, {value}>");
        };
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            required.is_some_and(|required| required.iter().any(|word| word.as_str() == Some(name)))
        };
        let mut text = "{\n".to_owned();
        for (name, schema) in properties {
            let description = schema.get("description").and_then(Value::as_str);
            text += &comment(description.unwrap_or_default(), indent + 2);
            let mut of = self.of(schema, indent + 2, depth + 1);
            let mark = if is_required(name) {
                ""
            } else {
                // What may be left out need not be null as well.
                of = of.strip_suffix(" | null").unwrap_or(&of).to_owned();
                "?"
            };
            let _ = writeln!(
                text,
                "{:width$}{}{mark}: {of};",
                "",
                property(name),
                width = indent + 2
            );
        }
        text + &" ".repeat(indent) + "}"
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => "unknown".to_owned(),
        plain => plain.to_string(),
    }
}

fn union(types: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for one in types {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.is_empty() {
        return "never".to_owned();
    }
    all.join(" | ")
}
