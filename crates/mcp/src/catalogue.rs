//! The tools as a client is told of them: titles, schemas and hints.

use std::sync::Arc;

use ringfence::Engine;
use ringfence::policy::permissions::Network;
use ringfence::tools::RegisteredTool;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::profile::Profile;

/// The field that a reply stands in which is no object: the protocol wants objects.
const WRAPPED: &str = "result";

/// What a tool does, as far as a client may want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Changes nothing.
    Reads,
    /// Computes, and reaches nothing.
    Computes,
    /// Ends what runs.
    Stops,
    /// May change whatever the fence lets it.
    Acts,
}

/// Titles of the tools that there are, and what they do.
const KNOWN: &[(&str, &str, Effect)] = &[
    ("shell", "Run a program", Effect::Acts),
    ("shell_command", "Run a shell command", Effect::Acts),
    ("exec_command", "Start an interactive program", Effect::Acts),
    ("write_stdin", "Type to a program", Effect::Acts),
    ("bash", "Run a bash command", Effect::Acts),
    ("bash_task_output", "Read a background task", Effect::Reads),
    ("bash_task_stop", "End a background task", Effect::Stops),
    ("bash_task_list", "List what is running", Effect::Reads),
    ("apply_patch", "Change files by a patch", Effect::Acts),
    ("file_search", "Find files", Effect::Reads),
    ("run_code", "Run code by itself", Effect::Computes),
    ("run_script", "Run a script that calls tools", Effect::Acts),
    ("http", "Send an HTTP request", Effect::Acts),
];

/// The tools of an engine that a profile has.
pub(crate) fn tools(engine: &Engine, profile: Profile) -> Vec<Tool> {
    let seen = engine
        .tools()
        .iter()
        .filter(|tool| profile.has(tool.name()));
    seen.map(|tool| described(engine, tool)).collect()
}

fn described(engine: &Engine, tool: &RegisteredTool) -> Tool {
    let known = KNOWN.iter().find(|(name, ..)| *name == tool.name());
    let (title, effect) = known.map_or((tool.name(), Effect::Acts), |(_, title, effect)| {
        (*title, *effect)
    });
    let mut described = Tool::new(
        tool.name().to_owned(),
        tool.description().to_owned(),
        Arc::new(object(tool.schema())),
    );
    described.title = Some(title.to_owned());
    described.output_schema = Some(Arc::new(object(output_schema(tool.output_schema()))));
    described.annotations = Some(hints(engine, tool.name(), title, effect));
    described
}

fn hints(engine: &Engine, tool: &str, title: &str, effect: Effect) -> ToolAnnotations {
    let network = &engine.sandbox().network;
    let reaches = effect == Effect::Acts && (tool == "http" || *network != Network::Off);
    let changes = matches!(effect, Effect::Acts | Effect::Stops);
    ToolAnnotations::with_title(title)
        .read_only(!changes)
        .destructive(changes)
        .idempotent(!changes)
        .open_world(reaches)
}

/// A schema of a reply as the protocol wants it: of an object.
fn output_schema(schema: Value) -> Value {
    if is_of_objects(&schema) {
        return schema;
    }
    let mut inner = schema;
    let definitions = inner.as_object_mut().and_then(|inner| {
        inner.remove("$schema");
        inner.remove("$defs")
    });
    let mut outer =
        json!({"type": "object", "properties": {WRAPPED: inner}, "required": [WRAPPED]});
    if let Some(definitions) = definitions {
        outer["$defs"] = definitions;
    }
    outer
}

/// A reply as its schema here has it.
pub(crate) fn structured(tool: &RegisteredTool, reply: Value) -> Value {
    if is_of_objects(&tool.output_schema()) {
        reply
    } else {
        json!({ WRAPPED: reply })
    }
}

fn is_of_objects(schema: &Value) -> bool {
    schema["type"] == "object"
}

/// A schema as any validator takes it: widths of Rust's integers are no formats elsewhere, and some clients complain of each.
fn object(mut schema: Value) -> JsonObject {
    drop_widths(&mut schema);
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

fn drop_widths(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let width =
                |format: &Value| format.as_str().is_some_and(|name| name.starts_with("uint"));
            if fields.get("format").is_some_and(width) {
                fields.remove("format");
            }
            fields.values_mut().for_each(drop_widths);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_widths),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_of_integers_are_no_formats() {
        let schema = json!({"properties": {
            "format": {"type": "string", "format": "date"},
            "size": {"type": ["integer", "null"], "format": "uint64", "minimum": 0},
            "many": {"items": [{"type": "integer", "format": "uint"}]},
        }});
        let expected = json!({"properties": {
            "format": {"type": "string", "format": "date"},
            "size": {"type": ["integer", "null"], "minimum": 0},
            "many": {"items": [{"type": "integer"}]},
        }});
        assert_eq!(Value::Object(object(schema)), expected);
    }
}
