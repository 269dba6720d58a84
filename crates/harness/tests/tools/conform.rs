//! Whether a value is what a JSON schema says: as much of the language as the schemas of tools use.

use serde_json::{Map, Value};

/// What is wrong with a value, if anything is.
pub(crate) fn problem(schema: &Value, value: &Value) -> Option<String> {
    Check { root: schema }.of(schema, value, "reply")
}

struct Check<'s> {
    root: &'s Value,
}

impl Check<'_> {
    fn of(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        let Value::Object(words) = schema else {
            return (*schema != Value::Bool(true)).then(|| format!("{at}: nothing fits"));
        };
        if let Some(reference) = words.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(reference.trim_start_matches('#'));
            return self.of(target.unwrap(), value, at);
        }
        for word in ["anyOf", "oneOf"] {
            if let Some(choices) = words.get(word).and_then(Value::as_array) {
                let mut tried = choices.iter().map(|choice| self.of(choice, value, at));
                return (!tried.any(|problem| problem.is_none()))
                    .then(|| format!("{at}: {value} is none of the choices"));
            }
        }
        let types = match words.get("type") {
            Some(Value::Array(types)) => types.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        if !types.is_empty() && !types.iter().any(|name| is_a(name, value)) {
            return Some(format!("{at}: {value} is no {types:?}"));
        }
        if words.get("const").is_some_and(|only| only != value) {
            return Some(format!("{at}: {value} is another constant"));
        }
        let listed = words.get("enum").and_then(Value::as_array);
        if listed.is_some_and(|listed| !listed.contains(value)) {
            return Some(format!("{at}: {value} is not listed"));
        }
        match value {
            Value::Object(fields) => self.object(words, fields, at),
            Value::Array(items) => {
                let schema = words.get("items")?;
                let mut items = items.iter();
                items.find_map(|item| self.of(schema, item, &format!("{at}[]")))
            }
            _ => None,
        }
    }

    fn object(
        &self,
        words: &Map<String, Value>,
        fields: &Map<String, Value>,
        at: &str,
    ) -> Option<String> {
        let required = words.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.find(|name| !fields.contains_key(*name)) {
            return Some(format!("{at}: `{missing}` is missing"));
        }
        let known = words.get("properties").and_then(Value::as_object);
        fields.iter().find_map(|(name, value)| {
            let at = format!("{at}.{name}");
            match (
                known.and_then(|known| known.get(name)),
                words.get("additionalProperties"),
            ) {
                (Some(schema), _) | (None, Some(schema)) => self.of(schema, value, &at),
                // Stricter than the language: a field that the schema does not tell of is a mistake here.
                (None, None) => Some(format!("{at}: the schema does not tell of it")),
            }
        })
    }
}

fn is_a(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("a type `{other}`"),
    }
}
