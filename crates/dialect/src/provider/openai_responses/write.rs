//! What goes into a request.

use serde_json::{Value, json};

use super::super::feedback::{CallOutput, CallResult, Content, Feedback, ShellOutput, script_text};
use super::super::history::RequestOptions;
use super::super::raw::{Object, Raw};
use super::super::tool_table::ToolTable;
use super::super::turn::CallForm;

/// Something that the user says.
pub(in super::super) fn said(text: &str) -> Raw {
    user(&[json!({ "type": "input_text", "text": text })])
}

fn user(content: &[Value]) -> Raw {
    Raw::of(&json!({ "type": "message", "role": "user", "content": content }))
}

/// The fields of a request. Nothing is kept at the provider: the history is all there is, and thoughts come along encrypted.
pub(in super::super) fn fields(options: &RequestOptions, tools: &ToolTable) -> Object {
    let defined = tools.definitions();
    Object::default()
        .with("model", Some(Raw::string(&options.model)))
        .with(
            "instructions",
            options.instructions.as_deref().map(Raw::string),
        )
        .with(
            "max_output_tokens",
            options.max_output_tokens.map(|most| Raw::of(&most.into())),
        )
        .with("tools", (!defined.is_empty()).then(|| Raw::array(defined)))
        .with("store", Some(Raw::of(&false.into())))
        .with(
            "include",
            Some(Raw::of(&json!(["reasoning.encrypted_content"]))),
        )
        .with("stream", options.stream.then(|| Raw::of(&true.into())))
}

/// What the model is told after its turn.
pub(in super::super) fn feedback(feedback: &[Feedback]) -> Vec<Raw> {
    let mut items = Vec::new();
    let mut words = Vec::new();
    for told in feedback {
        match told {
            Feedback::Result(result) => items.push(Raw::of(&output_item(result))),
            Feedback::Script(output) => words.push(script_text(output)),
            Feedback::Note(note) => words.push(note.clone()),
        }
    }
    let words: Vec<Value> = words
        .iter()
        .map(|text| json!({ "type": "input_text", "text": text }))
        .collect();
    if !words.is_empty() {
        items.push(user(&words));
    }
    items
}

fn output_item(result: &CallResult) -> Value {
    let id = &result.call_id;
    let status = if result.is_error {
        "failed"
    } else {
        "completed"
    };
    match result.form {
        CallForm::Function => {
            json!({ "type": "function_call_output", "call_id": id, "output": output(&result.output) })
        }
        CallForm::Custom => {
            json!({ "type": "custom_tool_call_output", "call_id": id, "output": output(&result.output) })
        }
        CallForm::LocalShell => {
            json!({ "type": "local_shell_call_output", "id": id, "output": result.output.text() })
        }
        CallForm::Shell => shell_item(result),
        CallForm::ApplyPatch => json!({
            "type": "apply_patch_call_output", "call_id": id, "status": status, "output": result.output.text(),
        }),
    }
}

/// A text, or parts where there are images.
fn output(output: &CallOutput) -> Value {
    let CallOutput::Content(content) = output else {
        return output.text().into();
    };
    if content.iter().all(|part| matches!(part, Content::Text(_))) {
        return output.text().into();
    }
    let parts = content.iter().map(|part| match part {
        Content::Text(text) => json!({ "type": "input_text", "text": text }),
        Content::Image { media_type, base64 } => json!({
            "type": "input_image", "image_url": format!("data:{media_type};base64,{base64}"),
        }),
    });
    parts.collect()
}

fn shell_item(result: &CallResult) -> Value {
    let (outputs, most) = match &result.output {
        CallOutput::Shell {
            outputs,
            max_output_length,
        } => (outputs.clone(), *max_output_length),
        // A call that came to nothing: the form has no other place for why.
        words @ CallOutput::Content(_) => {
            let output = ShellOutput {
                stdout: String::new(),
                stderr: words.text(),
                exit_code: Some(1),
            };
            (vec![output], None)
        }
    };
    let outputs = outputs.iter().map(|output| {
        let outcome = match output.exit_code {
            Some(code) => json!({ "type": "exit", "exit_code": code }),
            None => json!({ "type": "timeout" }),
        };
        json!({ "stdout": output.stdout, "stderr": output.stderr, "outcome": outcome })
    });
    let mut item = json!({
        "type": "shell_call_output", "call_id": result.call_id, "output": outputs.collect::<Value>(),
    });
    if let Some(most) = most {
        item["max_output_length"] = most.into();
    }
    item
}
