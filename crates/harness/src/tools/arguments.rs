//! From JSON to a tool's arguments, with errors that say what to change.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::shape;
use crate::error::CallError;

/// Reads the arguments of a tool.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(
    tool: &str,
    arguments: Value,
) -> Result<T, CallError> {
    let schema = schema::<T>();
    check_fields(tool, &schema, &arguments)?;
    // Some fields take more than their schema says: it only explains what cannot be read.
    let given = arguments.clone();
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let read = || {
            let path = error.path().to_string();
            match (path.as_str(), error.inner()) {
                (".", inner) => inner.to_string(),
                (path, inner) => format!("`{path}`: {inner}"),
            }
        };
        bad(tool, shape::misfit(&schema, &given).unwrap_or_else(read))
    })
}

/// Whether arguments, as far as a script's text shows them, have the shape that a tool's schema asks for.
pub(crate) fn check(tool: &str, schema: &Value, arguments: &Value) -> Result<(), CallError> {
    if shape::is_unknown(arguments) {
        return Ok(());
    }
    let mut shown = arguments.clone();
    if let Value::Object(fields) = &mut shown {
        fields.remove(shape::UNKNOWN);
    }
    check_fields(tool, schema, &shown)?;
    match shape::misfit(schema, arguments) {
        Some(message) => Err(bad(tool, message)),
        None => Ok(()),
    }
}

/// Whether arguments are an object with fields that the tool knows.
fn check_fields(tool: &str, schema: &Value, arguments: &Value) -> Result<(), CallError> {
    let Value::Object(fields) = arguments else {
        let got = shape::kind(arguments);
        return Err(bad(tool, format!("expected an object, got {got}")));
    };
    let is_known = |field: &str, known: &[String]| known.iter().any(|name| name == field);
    if let Some(known) = field_names(schema)
        && let Some(field) = fields.keys().find(|field| !is_known(field, &known))
    {
        return Err(CallError::UnknownField {
            tool: tool.to_owned(),
            field: field.clone(),
            suggestion: nearest(field, known.iter().map(String::as_str)),
            known,
        });
    }
    Ok(())
}

fn bad(tool: &str, message: String) -> CallError {
    CallError::BadArguments {
        tool: tool.to_owned(),
        message,
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, serde::Deserialize, JsonSchema)]
    struct Greeting {
        #[allow(dead_code, reason = "it is there to be asked for")]
        name: String,
    }

    #[test]
    fn what_a_text_does_not_show_passes_a_check_and_no_call() {
        let schema = schema::<Greeting>();
        // The arguments, and whether a check and a call take them.
        for (arguments, checked, called) in [
            (json!({ "name": "a" }), true, true),
            (json!(shape::UNKNOWN), true, false),
            (json!({ shape::UNKNOWN: true }), true, false),
            (json!({ "name": "a", shape::UNKNOWN: true }), true, false),
            (json!({ "name": "a", "nam": "b" }), false, false),
            (json!("a"), false, false),
        ] {
            assert_eq!(
                check("greet", &schema, &arguments).is_ok(),
                checked,
                "{arguments}"
            );
            let read = read::<Greeting>("greet", arguments.clone());
            assert_eq!(read.is_ok(), called, "{arguments}");
        }
    }
}
