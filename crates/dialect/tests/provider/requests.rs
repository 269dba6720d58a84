//! Requests in the form of each API.

use expect_test::expect;
use ringfence_dialect::provider::{
    History, Object, Provider, Raw, Request, RequestOptions, ToolDefinition, ToolTable,
};
use serde_json::json;

fn body(provider: Provider) -> String {
    let mut history = History::new(provider);
    history.say("Hello");
    let tool = ToolDefinition {
        name: "look".to_owned(),
        description: "Looks.".to_owned(),
        schema: json!({ "type": "object", "properties": {} }),
        strict: false,
    };
    let own =
        (provider != Provider::OpenAiChat).then(|| Raw::of(&json!({ "type": "own_20250124" })));
    let options = RequestOptions {
        model: "m".to_owned(),
        instructions: Some("Be brief.".to_owned()),
        max_output_tokens: Some(100),
        stream: true,
        extra: Object::default().with("x_new", Some(Raw::parse("1.0").unwrap())),
    };
    history
        .request(&options, &ToolTable::new(provider, [tool], own))
        .body()
}

#[test]
fn requests_have_the_form_of_their_api() {
    expect![[r#"{"model":"m","instructions":"Be brief.","max_output_tokens":100,"tools":[{"type":"function","name":"look","description":"Looks.","parameters":{"type":"object","properties":{}},"strict":false},{"type":"own_20250124"}],"store":false,"include":["reasoning.encrypted_content"],"stream":true,"x_new":1.0,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}]}"#]]
        .assert_eq(&body(Provider::OpenAiResponses));
    expect![[r#"{"model":"m","max_completion_tokens":100,"tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object","properties":{}}}}],"stream":true,"stream_options":{"include_usage":true},"x_new":1.0,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}]}"#]]
        .assert_eq(&body(Provider::OpenAiChat));
    expect![[r#"{"model":"m","max_tokens":100,"system":"Be brief.","tools":[{"name":"look","description":"Looks.","input_schema":{"type":"object","properties":{}}},{"type":"own_20250124"}],"stream":true,"x_new":1.0,"messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}]}"#]]
        .assert_eq(&body(Provider::AnthropicMessages));
}

#[test]
fn requests_of_others_are_taken_apart_and_put_together() {
    let table = [
        (
            Provider::OpenAiResponses,
            r#"{"model":"m","input":"Hello","x":1e2}"#,
            1,
        ),
        (
            Provider::OpenAiResponses,
            r#"{"input":[{"role":"user","content":"a"},{"type":"x_new","y":1.0}],"stream":false}"#,
            2,
        ),
        (
            Provider::AnthropicMessages,
            r#"{"model":"m","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"a"}],"stream":true}"#,
            1,
        ),
    ];
    for (provider, text, items) in table {
        let mut request = Request::read(provider, text.as_bytes()).unwrap();
        assert_eq!(request.history.items().len(), items, "{text}");
        assert_eq!(request.is_streamed(), text.contains("\"stream\":true"));
        request.history.say("and more");
        let body = request.body();
        for kept in [
            r#""x":1e2"#,
            r#""y":1.0"#,
            r#""cache_control":{"type":"ephemeral"}"#,
        ] {
            assert_eq!(body.contains(kept), text.contains(kept), "{body}");
        }
        assert!(body.contains("and more"));
    }
    for (provider, text) in [
        (Provider::OpenAiChat, "{}"),
        (Provider::OpenAiChat, r#"{"messages":"x"}"#),
        (Provider::OpenAiResponses, "[]"),
    ] {
        assert!(Request::read(provider, text.as_bytes()).is_err(), "{text}");
    }
}
