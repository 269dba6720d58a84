//! What a model said goes back byte for byte, whether it came whole or in events.

use ringfence_dialect::provider::{
    CallResult, Feedback, History, Part, Provider, Request, RequestOptions, ToolTable,
};

use super::recorded::turns;

/// Everything that must be found in the next request, as it came.
fn must_keep(provider: Provider, turn: usize) -> Vec<String> {
    let odd = r#"{ "z":1.0,"a" : 1e2,"n":12345678901234567890123,"s":"\u00e9\/\ud83d\ude00 é","null":null }"#;
    let kept: &[&str] = match provider {
        Provider::OpenAiResponses => &[
            r#""encrypted_content":"gAAAA\/N==""#,
            r#""phase":"commentary""#,
            r#""type":"teleport_call","id":"tp_N""#,
            r#""id":"rs_N""#,
            r#""call_id":"call_Nb""#,
        ],
        Provider::OpenAiChat => &[
            r#""thought_signature":"sigN==""#,
            r#""type":"reasoning.encrypted","data":"gAAAN""#,
            r#""id":"call_Na""#,
        ],
        Provider::AnthropicMessages => &[
            r#""thinking":"I think of N.","signature":"EqQB\/N==""#,
            r#"{"type":"redacted_thinking","data":"EmwKN"}"#,
            r#""input":{"command": "echo \"N\" \u00e9 \\n", "timeout":1.50},"caller":{"type":"direct"}"#,
            r#""citations":[{"type":"char_location","cited_text":"é"}]"#,
        ],
    };
    let mut kept: Vec<String> = kept
        .iter()
        .map(|text| text.replace('N', &turn.to_string()))
        .collect();
    kept.push(odd.to_owned());
    kept
}

#[test]
fn ten_turns_go_back_unchanged() {
    for provider in Provider::ALL {
        for form in ["whole", "streamed"] {
            let mut history = History::new(provider);
            history.say("Look at it.");
            let mut last_body = String::new();
            for (number, recorded) in turns(provider).into_iter().enumerate() {
                let turn = if form == "whole" {
                    provider.read(recorded.whole.as_bytes()).unwrap()
                } else {
                    let mut reader = provider.reader();
                    reader.feed(recorded.stream.as_bytes()).unwrap();
                    reader.finish().unwrap()
                };
                history.append(&turn);
                let results: Vec<Feedback> = turn
                    .calls()
                    .map(|call| Feedback::Result(CallResult::text(call, "fine")))
                    .collect();
                history.append_feedback(&results);
                let body = history
                    .request(&RequestOptions::default(), &ToolTable::default())
                    .body();
                for kept in must_keep(provider, number) {
                    assert!(
                        body.contains(&kept),
                        "{provider:?} {form} {number}: {kept} is not in {body}"
                    );
                }
                // What was sent before is the beginning of what is sent now: caches live on that.
                let begins = &last_body[..last_body.len().saturating_sub(2)];
                assert!(body.starts_with(begins), "{provider:?} {form} {number}");
                // Read and written by somebody else it is the same.
                let read = Request::read(provider, body.as_bytes()).unwrap();
                assert_eq!(read.body(), body, "{provider:?} {form} {number}");
                assert_eq!(read.history, history);
                last_body = body;
            }
        }
    }
}

/// What a whole answer has for the history is there in one piece, as it came.
#[test]
fn items_are_slices_of_the_answer() {
    for provider in Provider::ALL {
        for recorded in turns(provider) {
            let turn = provider.read(recorded.whole.as_bytes()).unwrap();
            for item in &turn.items {
                let slice = match provider {
                    // The message around the content is not in the answer.
                    Provider::AnthropicMessages => item
                        .object()
                        .unwrap()
                        .get("content")
                        .unwrap()
                        .text()
                        .to_owned(),
                    _ => item.text().to_owned(),
                };
                assert!(recorded.whole.contains(&slice), "{provider:?}: {slice}");
            }
            assert_eq!(turn.body(), recorded.whole, "{provider:?}");
        }
    }
}

#[test]
fn events_and_a_whole_answer_are_the_same_turn() {
    for provider in Provider::ALL {
        for (number, recorded) in turns(provider).into_iter().enumerate() {
            let whole = provider.read(recorded.whole.as_bytes()).unwrap();
            let mut reader = provider.reader();
            reader.feed(recorded.stream.as_bytes()).unwrap();
            let streamed = reader.finish().unwrap();
            assert_eq!(streamed.parts, whole.parts, "{provider:?} {number}");
            assert_eq!(streamed.stop, whole.stop);
            assert_eq!(streamed.usage, whole.usage);
            assert_eq!((&streamed.id, &streamed.model), (&whole.id, &whole.model));
            if provider == Provider::OpenAiChat {
                // Fields come in another order; what they say is the same.
                assert_eq!(streamed.items[0].value(), whole.items[0].value());
            } else {
                assert_eq!(streamed.items, whole.items, "{provider:?} {number}");
            }
            assert!(
                whole
                    .parts
                    .iter()
                    .any(|part| matches!(part, Part::Thinking(_)))
            );
            assert_eq!(whole.calls().count(), 2);
        }
    }
}
