//! Calls in a provider's own forms, as calls of the tools that are here.

use ringfence_dialect::provider::{CallForm, CallInput, StructuredCall, ToolTable};
use serde_json::{Map, Value, json};

use super::editor::Edit;

/// What a call wants.
#[derive(Debug, PartialEq)]
pub(super) enum Wanted {
    /// A tool.
    Tool { name: String, arguments: Value },
    /// Lines for a shell, one after the other.
    Lines {
        commands: Vec<String>,
        timeout_ms: Option<u64>,
        max_output_length: Option<u64>,
    },
    /// An edit of a file.
    Edit(Edit),
    /// Nothing that would have to be done.
    Answer(String),
    /// Something that cannot be: the model is told why.
    Wrong(String),
}

/// What a call of one of these tools wants.
pub(super) fn wanted(call: &StructuredCall, tools: &ToolTable) -> Wanted {
    let name = call.name.as_str();
    let input = match &call.input {
        CallInput::Unreadable { text, why } => {
            let begins: String = text.chars().take(200).collect();
            return Wanted::Wrong(format!(
                "the arguments cannot be read: {why}. They begin with: {begins}"
            ));
        }
        CallInput::Text(text) => return with_text(call, text, tools),
        CallInput::Json(input) => input,
    };
    if call.form == CallForm::Function {
        return match (tools.name(name), tools.own_kind(name)) {
            (Some(tool), _) => Wanted::Tool {
                name: tool.to_owned(),
                arguments: tools.arguments(name, input.clone()),
            },
            (None, Some(kind)) if kind.starts_with("bash_") => bash(input),
            (None, Some(kind)) if kind.starts_with("text_editor_") => match Edit::read(input) {
                Ok(edit) => Wanted::Edit(edit),
                Err(why) => Wanted::Wrong(why),
            },
            _ => no_such_tool(name),
        };
    }
    if tools.own_kind(name).is_none() {
        return no_such_tool(name);
    }
    let made = match call.form {
        CallForm::LocalShell => local_shell(input),
        CallForm::Shell => lines(input),
        CallForm::ApplyPatch => patch(input),
        CallForm::Function | CallForm::Custom => None,
    };
    made.unwrap_or_else(|| Wanted::Wrong(format!("`{name}` cannot be called with {input}")))
}

fn no_such_tool(name: &str) -> Wanted {
    Wanted::Wrong(format!("there is no tool `{name}` here"))
}

/// A tool that is called with a text takes it as the one argument that it must have.
fn with_text(call: &StructuredCall, text: &str, tools: &ToolTable) -> Wanted {
    let field = match call.name.as_str() {
        "apply_patch" => "patch",
        "run_script" | "run_code" => "source",
        "bash" | "shell_command" => "command",
        name => return no_such_tool(name),
    };
    let is_offered = tools.own_kind(&call.name).is_some() || tools.name(&call.name).is_some();
    if !is_offered {
        return no_such_tool(&call.name);
    }
    Wanted::Tool {
        name: call.name.clone(),
        arguments: json!({ field: text }),
    }
}

fn bash(input: &Value) -> Wanted {
    match (input["command"].as_str(), input["restart"].as_bool()) {
        (Some(command), _) => Wanted::Tool {
            name: "bash".to_owned(),
            arguments: json!({ "command": command }),
        },
        (None, Some(true)) => Wanted::Answer(
            "every command has a shell of its own: there is nothing to restart".to_owned(),
        ),
        _ => Wanted::Wrong("`bash` takes a `command`, or `restart`".to_owned()),
    }
}

fn local_shell(action: &Value) -> Option<Wanted> {
    let command = action["command"].as_array()?.clone();
    let none = Map::new();
    let variables = action["env"].as_object().unwrap_or(&none);
    let mut whole: Vec<Value> = Vec::new();
    if !variables.is_empty() {
        whole.push("env".into());
        let set = variables
            .iter()
            .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()));
        whole.extend(set.map(Value::from));
    }
    whole.extend(command);
    let mut arguments = json!({ "command": whole });
    for (field, theirs) in [
        ("workdir", "working_directory"),
        ("timeout_ms", "timeout_ms"),
    ] {
        if let Some(value) = action.get(theirs).filter(|value| !value.is_null()) {
            arguments[field] = value.clone();
        }
    }
    Some(Wanted::Tool {
        name: "shell".to_owned(),
        arguments,
    })
}

fn lines(action: &Value) -> Option<Wanted> {
    let commands = action["commands"].as_array()?;
    let commands: Option<Vec<String>> = commands
        .iter()
        .map(|line| line.as_str().map(str::to_owned))
        .collect();
    Some(Wanted::Lines {
        commands: commands?,
        timeout_ms: action["timeout_ms"].as_u64(),
        max_output_length: action["max_output_length"].as_u64(),
    })
}

fn patch(operation: &Value) -> Option<Wanted> {
    let path = operation["path"]
        .as_str()
        .filter(|path| !path.contains('\n'))?;
    let diff = operation["diff"].as_str().unwrap_or_default();
    let diff = diff.strip_suffix('\n').unwrap_or(diff);
    let body = match operation["type"].as_str()? {
        "create_file" => format!("*** Add File: {path}\n{diff}"),
        "update_file" => format!("*** Update File: {path}\n{diff}"),
        "delete_file" => format!("*** Delete File: {path}"),
        _ => return None,
    };
    Some(Wanted::Tool {
        name: "apply_patch".to_owned(),
        arguments: json!({ "patch": format!("*** Begin Patch\n{body}\n*** End Patch") }),
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use ringfence_dialect::provider::{Provider, Raw, ToolDefinition};

    use super::*;

    fn tools() -> ToolTable {
        let ours = ["file_search", "mcp.a.b"].map(|name| ToolDefinition {
            name: name.to_owned(),
            description: String::new(),
            schema: json!({}),
            strict: false,
        });
        let own = [
            json!({ "type": "bash_20250124", "name": "bash" }),
            json!({ "type": "text_editor_20250728", "name": "str_replace_based_edit_tool" }),
            json!({ "type": "local_shell" }),
            json!({ "type": "shell" }),
            json!({ "type": "apply_patch" }),
        ];
        ToolTable::new(Provider::OpenAiResponses, ours, own.iter().map(Raw::of))
    }

    #[test]
    fn calls_in_their_forms_are_calls_of_our_tools() {
        let table = [
            (CallForm::Function, "file_search", json!({ "pattern": "x" })),
            (CallForm::Function, "rm", json!({})),
            (CallForm::Function, "bash", json!({ "command": "ls" })),
            (CallForm::Function, "bash", json!({ "restart": true })),
            (CallForm::Function, "bash", json!({})),
            (
                CallForm::LocalShell,
                "local_shell",
                json!({ "type": "exec", "command": ["ls"], "env": { "A": "b" }, "timeout_ms": 5, "working_directory": null }),
            ),
            (CallForm::LocalShell, "local_shell", json!({})),
            (
                CallForm::Shell,
                "shell",
                json!({ "commands": ["a", "b"], "timeout_ms": 9, "max_output_length": 3 }),
            ),
            (
                CallForm::ApplyPatch,
                "apply_patch",
                json!({ "type": "update_file", "path": "a", "diff": "@@\n-a\n+b\n" }),
            ),
            (
                CallForm::ApplyPatch,
                "apply_patch",
                json!({ "type": "delete_file", "path": "a\n*** Delete File: b" }),
            ),
        ];
        let tools = tools();
        let mut seen = Vec::new();
        for (form, name, input) in table {
            let call = StructuredCall {
                call_id: "c".to_owned(),
                form,
                name: name.to_owned(),
                input: CallInput::Json(input),
            };
            seen.push(format!("{:?}\n", wanted(&call, &tools)));
        }
        expect![[r#"
            Tool { name: "file_search", arguments: Object {"pattern": String("x")} }
            Wrong("there is no tool `rm` here")
            Tool { name: "bash", arguments: Object {"command": String("ls")} }
            Answer("every command has a shell of its own: there is nothing to restart")
            Wrong("`bash` takes a `command`, or `restart`")
            Tool { name: "shell", arguments: Object {"command": Array [String("env"), String("A=b"), String("ls")], "timeout_ms": Number(5)} }
            Wrong("`local_shell` cannot be called with {}")
            Lines { commands: ["a", "b"], timeout_ms: Some(9), max_output_length: Some(3) }
            Tool { name: "apply_patch", arguments: Object {"patch": String("*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** End Patch")} }
            Wrong("`apply_patch` cannot be called with {\"type\":\"delete_file\",\"path\":\"a\\n*** Delete File: b\"}")
        "#]]
        .assert_eq(&seen.concat());
    }
}
