//! Answers that are wrong, odd or no answers: each is a clear outcome.

use ringfence_dialect::provider::{
    ApiError, ApiErrorKind, CallInput, Part, Provider, ReadError, StopReason, Turn,
};

use Provider::{AnthropicMessages, OpenAiChat, OpenAiResponses};

fn streamed(provider: Provider, events: &[&str]) -> Result<Turn, ReadError> {
    let mut reader = provider.reader();
    for event in events {
        reader.feed(format!("data: {event}\n\n").as_bytes())?;
    }
    reader.finish()
}

fn unreadable(turn: &Turn) -> Vec<(&str, bool)> {
    let calls = turn.calls();
    calls
        .map(|call| {
            (
                call.call_id.as_str(),
                matches!(call.input, CallInput::Unreadable { .. }),
            )
        })
        .collect()
}

#[test]
fn arguments_that_are_no_json_are_a_call_that_cannot_be_read() {
    let broken = r#"{\"command\": \"ls"#;
    let whole = [
        (
            OpenAiResponses,
            format!(
                r#"{{"output":[{{"type":"function_call","call_id":"a","name":"bash","arguments":"{broken}"}},{{"type":"function_call","call_id":"b","name":"bash","arguments":""}},{{"type":"function_call","call_id":"c","status":"incomplete","name":"bash","arguments":"{{}}"}}]}}"#
            ),
            vec![("a", true), ("b", false), ("c", true)],
        ),
        (
            OpenAiChat,
            format!(
                r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"a","function":{{"name":"bash","arguments":"{broken}"}}}},{{"id":"b","function":{{"name":"bash","arguments":{{"command":"ls"}}}}}}]}}}}]}}"#
            ),
            vec![("a", true), ("b", false)],
        ),
    ];
    for (provider, body, expected) in whole {
        let turn = provider.read(body.as_bytes()).unwrap();
        assert_eq!(unreadable(&turn), expected, "{provider:?}");
        assert_eq!(turn.stop, StopReason::Calls);
    }
    let turn = streamed(AnthropicMessages, &[
        r#"{"type":"message_start","message":{"id":"m","content":[]}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"bash","input":{}}}"#,
        &format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{broken}"}}}}"#),
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#,
        r#"{"type":"message_stop"}"#,
    ]).unwrap();
    assert_eq!(unreadable(&turn), [("a", true)]);
    assert_eq!(turn.stop, StopReason::OutputLimit);
    // The API takes only objects back; what came is in one.
    assert!(
        turn.items[0]
            .text()
            .contains(r#""input":{"INVALID_JSON":"{\"command\": \"ls"}"#),
        "{:?}",
        turn.items
    );
}

#[test]
fn a_call_id_that_is_repeated_stays_repeated() {
    let table = [
        (
            OpenAiResponses,
            r#"{"output":[{"type":"function_call","call_id":"a","name":"x","arguments":"{}"},{"type":"function_call","call_id":"a","name":"x","arguments":"{}"}]}"#,
        ),
        (
            OpenAiChat,
            r#"{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}},{"id":"a","function":{"name":"x","arguments":"{}"}}]}}]}"#,
        ),
        (
            AnthropicMessages,
            r#"{"content":[{"type":"tool_use","id":"a","name":"x","input":{}},{"type":"tool_use","id":"a","name":"x","input":{}}]}"#,
        ),
    ];
    for (provider, body) in table {
        let turn = provider.read(body.as_bytes()).unwrap();
        let ids: Vec<&str> = turn.calls().map(|call| call.call_id.as_str()).collect();
        assert_eq!(ids, ["a", "a"], "{provider:?}");
    }
}

#[test]
fn errors_in_streams_are_errors_of_the_api() {
    let begun = r#"{"type":"message_start","message":{"content":[]}}"#;
    let table: [(Provider, &[&str], ApiErrorKind); 7] = [
        (
            AnthropicMessages,
            &[
                begun,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ],
            ApiErrorKind::Overloaded,
        ),
        (
            AnthropicMessages,
            &[
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            ],
            ApiErrorKind::ContextTooLong,
        ),
        (
            OpenAiResponses,
            &[
                r#"{"type":"error","code":"rate_limit_exceeded","message":"slow","param":null,"sequence_number":1}"#,
            ],
            ApiErrorKind::RateLimited,
        ),
        (
            OpenAiResponses,
            &[
                r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"},"output":[]}}"#,
            ],
            ApiErrorKind::Server,
        ),
        (
            OpenAiResponses,
            &[
                r#"{"type":"response.failed","response":{"error":{"code":"insufficient_quota","message":"x"}}}"#,
            ],
            ApiErrorKind::QuotaUsedUp,
        ),
        (
            OpenAiChat,
            &[r#"{"error":{"message":"x","type":"server_error","code":null}}"#],
            ApiErrorKind::Server,
        ),
        (
            OpenAiChat,
            &[
                r#"{"choices":[{"index":0,"delta":{"content":"a"}}]}"#,
                r#"{"error":"the engine died"}"#,
            ],
            ApiErrorKind::Other,
        ),
    ];
    for (provider, events, kind) in table {
        match streamed(provider, events) {
            Err(ReadError::Api(error)) => {
                assert_eq!(error.kind, kind, "{events:?}");
                assert!(error.raw.is_some());
            }
            other => panic!("{events:?}: {other:?}"),
        }
    }
}

#[test]
fn bodies_of_errors_are_read_whatever_they_are() {
    use ApiErrorKind as Kind;
    let table = [
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            Kind::ContextTooLong,
        ),
        (
            401,
            r#"{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
            Kind::Authentication,
        ),
        (
            403,
            r#"{"type":"error","error":{"type":"permission_error","message":"no"}}"#,
            Kind::Permission,
        ),
        (
            404,
            r#"{"error":{"message":"model not found","type":"not_found_error"}}"#,
            Kind::NotFound,
        ),
        (
            429,
            r#"{"error":{"message":"slow down","type":"tokens","code":"rate_limit_exceeded"}}"#,
            Kind::RateLimited,
        ),
        (
            429,
            r#"{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            Kind::QuotaUsedUp,
        ),
        (500, "<html>Internal Server Error</html>", Kind::Server),
        (502, "", Kind::Server),
        (503, r#"{"detail":"loading"}"#, Kind::Overloaded),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#,
            Kind::Overloaded,
        ),
        (418, r#"{"error":"teapot"}"#, Kind::Other),
    ];
    for (status, body, kind) in table {
        let error = ApiError::read(status, body.as_bytes());
        assert_eq!(error.kind, kind, "{status} {body}");
        assert!(!error.message.is_empty());
        assert!(error.to_string().contains(&status.to_string()));
    }
}

#[test]
fn what_is_no_answer_says_so() {
    for (provider, body, code) in [
        (OpenAiResponses, "{}", "answer_of_another_api"),
        (
            OpenAiResponses,
            r#"{"status":"queued","output":[]}"#,
            "answer_cut_off",
        ),
        (OpenAiChat, r#"{"choices":[]}"#, "answer_of_another_api"),
        (
            AnthropicMessages,
            r#"{"content":"x"}"#,
            "answer_of_another_api",
        ),
        (AnthropicMessages, "<html>", "answer_not_json"),
        (
            AnthropicMessages,
            r#"{"type":"error","error":{"type":"api_error","message":"x"}}"#,
            "api_server_error",
        ),
    ] {
        assert_eq!(
            provider.read(body.as_bytes()).unwrap_err().code(),
            code,
            "{provider:?} {body}"
        );
    }
    let not_json = streamed(OpenAiChat, &[r#"{"choices":"#]);
    assert_eq!(not_json.unwrap_err().code(), "answer_not_json");
    for provider in Provider::ALL {
        assert_eq!(
            streamed(provider, &[]).unwrap_err().code(),
            "answer_cut_off"
        );
    }
}

/// The smallest streams that clients in the field accept.
#[test]
fn the_smallest_streams_are_turns() {
    let table: [(Provider, &[&str]); 5] = [
        (
            OpenAiResponses,
            &[
                r#"{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}}"#,
                r#"{"type":"response.completed","response":{"id":"r"}}"#,
            ],
        ),
        (
            OpenAiResponses,
            &[
                r#"{"type":"response.completed","response":{"id":"r","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}}"#,
            ],
        ),
        (
            OpenAiChat,
            &[
                r#"{"choices":[{"delta":{"content":"hi"}}]}"#,
                r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ],
        ),
        (
            OpenAiChat,
            &[r#"{"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}"#],
        ),
        (
            AnthropicMessages,
            &[
                r#"{"type":"message_start","message":{"content":[]}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#,
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        ),
    ];
    for (provider, events) in table {
        let turn = streamed(provider, events).unwrap();
        assert_eq!(turn.parts, [Part::Text("hi".to_owned())], "{events:?}");
        assert_eq!(turn.stop, StopReason::End);
    }
}

#[test]
fn servers_that_speak_chat_in_their_own_way_are_understood() {
    // Ids and names with every piece; no place; content in parts; calls in a turn that says `stop`.
    let repeated = streamed(OpenAiChat, &[
        r#"{"choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"bash","arguments":"{\"c"}}]}}]}"#,
        r#"{"choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"bash","arguments":"\":1}"}}]},"finish_reason":"stop"}]}"#,
    ]).unwrap();
    let placeless = streamed(OpenAiChat, &[
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{\"c\":1}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"bash","arguments":"{\"c\":"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"2}"}}]},"finish_reason":"tool_calls"}]}"#,
    ]).unwrap();
    for (turn, expected) in [
        (&repeated, vec![("a", 1)]),
        (&placeless, vec![("a", 1), ("b", 2)]),
    ] {
        let calls = turn.calls().map(|call| match &call.input {
            CallInput::Json(input) => (call.call_id.as_str(), input["c"].as_i64().unwrap()),
            other => panic!("{other:?}"),
        });
        assert_eq!(calls.collect::<Vec<_>>(), expected);
        assert!(turn.calls().all(|call| call.name == "bash"));
        assert_eq!(turn.stop, StopReason::Calls);
    }
    let parts = OpenAiChat.read(br#"{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hi"},{"type":"hologram"}]}}]}"#).unwrap();
    assert_eq!(
        parts.parts[..2],
        [Part::Thinking("hm".to_owned()), Part::Text("hi".to_owned())]
    );
    assert!(matches!(&parts.parts[2], Part::Other { kind, .. } if kind == "hologram"));
}

/// Numbers that no honest server sends.
#[test]
fn places_and_counts_beyond_all_bounds_are_taken() {
    let most = u64::MAX;
    let table: [(Provider, Vec<String>); 3] = [
        (
            OpenAiResponses,
            vec![
                format!(
                    r#"{{"type":"response.output_item.done","output_index":{most},"item":{{"type":"message","content":[]}}}}"#
                ),
                r#"{"type":"response.output_item.done","item":{"type":"message","content":[]}}"#
                    .to_owned(),
                format!(
                    r#"{{"type":"response.completed","response":{{"usage":{{"input_tokens":{most},"output_tokens":{most}}}}}}}"#
                ),
            ],
        ),
        (
            OpenAiChat,
            vec![format!(
                r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":{most},"id":"a","function":{{"name":"x"}}}},{{"id":"b","function":{{"name":"x"}}}}]}},"finish_reason":"stop"}}]}}"#
            )],
        ),
        (
            AnthropicMessages,
            vec![
                format!(
                    r#"{{"type":"message_start","message":{{"content":[],"usage":{{"input_tokens":{most},"cache_read_input_tokens":{most}}}}}}}"#
                ),
                format!(
                    r#"{{"type":"content_block_start","index":{most},"content_block":{{"type":"text","text":"a"}}}}"#
                ),
                r#"{"type":"content_block_start","content_block":{"type":"text","text":"b"}}"#
                    .to_owned(),
                format!(r#"{{"type":"content_block_stop","index":{most}}}"#),
                r#"{"type":"message_stop"}"#.to_owned(),
            ],
        ),
    ];
    for (provider, events) in table {
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let turn = streamed(provider, &events).unwrap();
        let _ = turn.usage.plus(turn.usage).total();
    }
}
