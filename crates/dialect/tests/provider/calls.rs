//! Calls in every form, and results in theirs.

use expect_test::expect;
use ringfence_dialect::provider::{
    CallForm, CallInput, CallOutput, CallResult, Content, Feedback, Provider, ShellOutput,
    StructuredCall, feedback_items,
};
use ringfence_dialect::{OutputMetadata, Said, ScriptToolCallOutput};
use serde_json::json;

use super::recorded::turns;

#[test]
fn calls_of_every_form_are_told_apart() {
    let mut seen: Vec<String> = Vec::new();
    for recorded in turns(Provider::OpenAiResponses).iter().take(5) {
        let turn = Provider::OpenAiResponses
            .read(recorded.whole.as_bytes())
            .unwrap();
        let call = turn.calls().next().unwrap();
        let input = match &call.input {
            CallInput::Json(value) => value.to_string(),
            CallInput::Text(text) => format!("{text:?}"),
            CallInput::Unreadable { why, .. } => why.clone(),
        };
        seen.push(format!("{:?} {} {input}", call.form, call.name));
    }
    expect![[r#"
        Function bash {"command":"echo \"0\" é \\n","timeout":1.5}
        Custom apply_patch "*** Begin Patch\n*** End Patch\n"
        LocalShell local_shell {"type":"exec","command":["ls","-la"],"env":{},"timeout_ms":1000}
        Shell shell {"commands":["ls","pwd"],"timeout_ms":null,"max_output_length":4096}
        ApplyPatch apply_patch {"type":"update_file","path":"a.txt","diff":"@@\n-a\n+b\n"}"#]]
    .assert_eq(&seen.join("\n"));
}

fn call(form: CallForm) -> StructuredCall {
    StructuredCall {
        call_id: "c".to_owned(),
        form,
        name: "x".to_owned(),
        input: CallInput::Json(json!({})),
    }
}

fn feedback() -> Vec<Feedback> {
    let image = Content::Image {
        media_type: "image/png".to_owned(),
        base64: "aGk=".to_owned(),
    };
    vec![
        Feedback::Script(Box::new(ScriptToolCallOutput {
            id: "scr_1".to_owned(),
            call_id: "call_1".to_owned(),
            output_json: Some(r#""</tool-results>""#.to_owned()),
            error: None,
            summary: None,
            warnings: Vec::new(),
            said: Said::default(),
            metadata: OutputMetadata::default(),
        })),
        Feedback::Result(CallResult::of(
            &call(CallForm::Function),
            CallOutput::Content(vec![Content::Text("seen".to_owned()), image]),
        )),
        Feedback::Result(CallResult::error(&call(CallForm::Function), "no")),
        Feedback::Note("one more word".to_owned()),
    ]
}

fn written(provider: Provider, feedback: &[Feedback]) -> String {
    let items = feedback_items(provider, feedback);
    items.iter().map(|item| format!("{item}\n")).collect()
}

#[test]
fn results_have_the_form_of_their_api() {
    expect![[r#"
        {"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"seen"},{"type":"input_image","image_url":"data:image/png;base64,aGk="}]}
        {"type":"function_call_output","call_id":"c","output":"no"}
        {"type":"message","role":"user","content":[{"type":"input_text","text":"<tool-results>\n{\"id\":\"scr_1\",\"call_id\":\"call_1\",\"output_json\":\"\\\"\\u003c/tool-results>\\\"\",\"metadata\":{\"duration_ms\":0,\"tool_calls_made\":0}}\n</tool-results>"},{"type":"input_text","text":"one more word"}]}
    "#]]
    .assert_eq(&written(Provider::OpenAiResponses, &feedback()));
    expect![[r#"
        {"role":"tool","tool_call_id":"c","content":"seen\n[what it shows is in the next message]"}
        {"role":"tool","tool_call_id":"c","content":"no"}
        {"role":"user","content":[{"type":"text","text":"<tool-results>\n{\"id\":\"scr_1\",\"call_id\":\"call_1\",\"output_json\":\"\\\"\\u003c/tool-results>\\\"\",\"metadata\":{\"duration_ms\":0,\"tool_calls_made\":0}}\n</tool-results>"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}},{"type":"text","text":"one more word"}]}
    "#]]
    .assert_eq(&written(Provider::OpenAiChat, &feedback()));
    expect![[r#"
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]},{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"no"}],"is_error":true},{"type":"text","text":"<tool-results>\n{\"id\":\"scr_1\",\"call_id\":\"call_1\",\"output_json\":\"\\\"\\u003c/tool-results>\\\"\",\"metadata\":{\"duration_ms\":0,\"tool_calls_made\":0}}\n</tool-results>"},{"type":"text","text":"one more word"}]}
    "#]]
    .assert_eq(&written(Provider::AnthropicMessages, &feedback()));
}

#[test]
fn results_have_the_form_of_their_call() {
    let shell = CallOutput::Shell {
        outputs: vec![
            ShellOutput {
                stdout: "a\n".to_owned(),
                stderr: String::new(),
                exit_code: Some(0),
            },
            ShellOutput {
                stdout: String::new(),
                stderr: "slow".to_owned(),
                exit_code: None,
            },
        ],
        max_output_length: Some(4096),
    };
    let results = [
        CallResult::text(&call(CallForm::Custom), "done"),
        CallResult::text(&call(CallForm::LocalShell), "done"),
        CallResult::of(&call(CallForm::Shell), shell),
        CallResult::error(&call(CallForm::Shell), "refused"),
        CallResult::text(&call(CallForm::ApplyPatch), "done"),
        CallResult::error(&call(CallForm::ApplyPatch), "no such file"),
    ];
    expect![[r#"
        {"type":"custom_tool_call_output","call_id":"c","output":"done"}
        {"type":"local_shell_call_output","id":"c","output":"done"}
        {"type":"shell_call_output","call_id":"c","output":[{"stdout":"a\n","stderr":"","outcome":{"type":"exit","exit_code":0}},{"stdout":"","stderr":"slow","outcome":{"type":"timeout"}}],"max_output_length":4096}
        {"type":"shell_call_output","call_id":"c","output":[{"stdout":"","stderr":"refused","outcome":{"type":"exit","exit_code":1}}]}
        {"type":"apply_patch_call_output","call_id":"c","status":"completed","output":"done"}
        {"type":"apply_patch_call_output","call_id":"c","status":"failed","output":"no such file"}
    "#]]
    .assert_eq(&written(Provider::OpenAiResponses, &results.map(Feedback::Result)));
}
