//! Tools in the form of each provider, within its limits.

use expect_test::expect;
use ringfence_dialect::provider::{Provider, ToolDefinition, ToolTable};
use serde_json::{Value, json};

fn tool(name: &str, schema: Value, strict: bool) -> ToolDefinition {
    ToolDefinition {
        name: name.to_owned(),
        description: "x".repeat(2_000),
        schema,
        strict,
    }
}

#[test]
fn names_fit_and_no_two_tools_share_one() {
    let long = "mcp.server.".to_owned() + &"tool".repeat(30);
    let names = [
        "bash",
        "mcp.a.b",
        "mcp_a_b",
        "mcp.a_b",
        "mcp a b",
        "é",
        "",
        "_",
        &long,
        &(long.clone() + "2"),
    ];
    for provider in Provider::ALL {
        let tools = names.iter().map(|name| tool(name, json!({}), false));
        let table = ToolTable::new(provider, tools, []);
        let mut seen = std::collections::HashSet::new();
        for (definition, name) in table.definitions().iter().zip(names) {
            let definition = definition.value().unwrap();
            let inner = definition.get("function").unwrap_or(&definition);
            let on_wire = inner["name"].as_str().unwrap();
            assert!((1..=64).contains(&on_wire.len()), "{on_wire}");
            assert!(
                on_wire
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)),
                "{on_wire}"
            );
            assert!(seen.insert(on_wire.to_owned()), "{on_wire}");
            assert_eq!(table.name(on_wire), Some(name));
            let description = inner["description"].as_str().unwrap().len();
            assert_eq!(
                description,
                if provider == Provider::AnthropicMessages {
                    2_000
                } else {
                    1_024
                }
            );
        }
        assert_eq!(table.name("rm"), None);
    }
}

fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Arguments",
        "type": "object",
        "properties": {
            "command": { "type": "string", "minLength": 1, "title": "c" },
            "timeout": { "type": ["integer", "null"], "format": "uint64", "minimum": 0 },
            "mode": { "enum": ["a", "b"], "type": "string", "default": "a" },
            "edits": { "type": "array", "items": { "$ref": "#/$defs/Edit" } },
        },
        "required": ["command", "edits"],
        "$defs": { "Edit": { "type": "object", "properties": { "at": { "type": "integer" }, "to": { "const": "x" } }, "required": ["to"] } },
    })
}

#[test]
fn a_strict_schema_wants_everything_and_takes_null() {
    let table = ToolTable::new(Provider::OpenAiResponses, [tool("t", schema(), true)], []);
    let definition = table.definitions()[0].value().unwrap();
    assert_eq!(definition["strict"], true);
    expect![[r##"{"type":"object","$defs":{"Edit":{"type":"object","required":["at","to"],"properties":{"at":{"type":["integer","null"]},"to":{"enum":["x"]}},"additionalProperties":false}},"required":["command","timeout","mode","edits"],"properties":{"command":{"type":"string"},"timeout":{"type":["integer","null"],"minimum":0},"mode":{"enum":["a","b",null],"type":["string","null"]},"edits":{"type":"array","items":{"$ref":"#/$defs/Edit"}}},"additionalProperties":false}"##]]
    .assert_eq(&definition["parameters"].to_string());
    let written = json!({ "command": "ls", "timeout": null, "mode": null, "edits": [{ "at": null, "to": "x" }] });
    expect![[r#"{"command":"ls","timeout":null,"edits":[{"to":"x"}]}"#]]
        .assert_eq(&table.arguments("t", written.clone()).to_string());
    let loose = ToolTable::new(Provider::OpenAiResponses, [tool("t", schema(), false)], []);
    assert_eq!(loose.arguments("t", written.clone()), written);
}

#[test]
fn what_cannot_be_strict_is_not() {
    for schema in [
        json!({ "type": "object", "properties": { "a": { "type": "object", "additionalProperties": { "type": "string" } } } }),
        json!({ "type": "object", "properties": { "a": true } }),
        json!({ "type": "object", "properties": { "a": {} } }),
        json!({ "type": "object", "properties": { "a": { "allOf": [] } } }),
    ] {
        for provider in Provider::ALL {
            let table = ToolTable::new(provider, [tool("t", schema.clone(), true)], []);
            let definition = table.definitions()[0].value().unwrap();
            let inner = definition.get("function").unwrap_or(&definition);
            assert_ne!(inner.get("strict"), Some(&json!(true)), "{schema}");
        }
    }
}
