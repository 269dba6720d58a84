//! From JSON to a tool's arguments, with errors that say what to change.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::CallError;

/// Reads the arguments of a tool.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(
    tool: &str,
    arguments: Value,
) -> Result<T, CallError> {
    let bad = |message: String| CallError::BadArguments {
        tool: tool.to_owned(),
        message,
    };
    let Value::Object(fields) = &arguments else {
        return Err(bad(format!("expected an object, got {}", kind(&arguments))));
    };
    if let Some(known) = field_names(&schema::<T>())
        && let Some(field) = fields.keys().find(|field| !known.contains(field))
    {
        return Err(CallError::UnknownField {
            tool: tool.to_owned(),
            field: field.clone(),
            suggestion: nearest(field, known.iter().map(String::as_str)),
            known,
        });
    }
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        bad(if path == "." {
            inner.to_string()
        } else {
            format!("`{path}`: {inner}")
        })
    })
}

/// The JSON schema of a tool's arguments.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// The fields that an object may have; nothing where the schema does not list them all, as that of an enum or a map.
fn field_names(schema: &Value) -> Option<Vec<String>> {
    let open = ["$ref", "allOf", "anyOf", "oneOf"]
        .iter()
        .any(|word| schema.get(word).is_some());
    let others = schema.get("additionalProperties");
    if open || others.is_some_and(|others| *others != Value::Bool(false)) {
        return None;
    }
    Some(match schema.get("properties") {
        Some(Value::Object(properties)) => properties.keys().cloned().collect(),
        _ => Vec::new(),
    })
}

/// The known name that a wrong one probably meant.
pub(crate) fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    known
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name.to_owned())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
