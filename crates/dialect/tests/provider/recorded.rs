//! Answers as the three APIs give them, in ten turns of one conversation each: thoughts with signatures, encrypted thoughts,
//! words, calls side by side, scripts, fields and kinds of items that nobody here knows.
//!
//! Each turn is there as events and as a whole answer.

use ringfence_dialect::provider::Provider;

/// One answer in its two forms.
pub(crate) struct Recorded {
    pub(crate) stream: String,
    pub(crate) whole: String,
}

/// The ten answers of a provider's.
pub(crate) fn turns(provider: Provider) -> Vec<Recorded> {
    (0..10)
        .map(|turn| match provider {
            Provider::OpenAiResponses => responses(turn),
            Provider::OpenAiChat => chat(turn),
            Provider::AnthropicMessages => messages(turn),
        })
        .collect()
}

/// A piece of JSON that an ordinary reader would change: escapes, numbers, spaces, order.
const ODD: &str =
    r#"{ "z":1.0,"a" : 1e2,"n":12345678901234567890123,"s":"\u00e9\/\ud83d\ude00 é","null":null }"#;

/// The arguments of a call, as a model writes them.
fn arguments(turn: usize) -> String {
    format!(r#"{{"command": "echo \"{turn}\" \u00e9 \\n", "timeout":1.50}}"#)
}

/// A text as the inside of a JSON string.
fn inner(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

const SCRIPT: &str =
    "Now I look.\n\n<tool-calls>\nreturn await tools.exec({command: [\"ls\"]});\n</tool-calls>\n";

/// Cuts a text into pieces, at character borders.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(size)
        .map(|piece| piece.iter().collect())
        .collect()
}

fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

// OpenAI Responses

fn response_items(turn: usize) -> Vec<String> {
    let call = inner(&arguments(turn));
    let mut items = vec![format!(
        r#"{{"id":"rs_{turn}","type":"reasoning","summary":[{{"type":"summary_text","text":"Thinking of {turn}"}}],"encrypted_content":"gAAAA\/{turn}==","status":null,"x_new":{ODD}}}"#
    )];
    items.push(format!(
        r#"{{"id":"msg_{turn}","type":"message","status":"completed","phase":"commentary","content":[{{"type":"output_text","annotations":[],"logprobs":[],"text":"{}"}},{{"type":"hologram","light":{ODD}}}],"role":"assistant"}}"#,
        inner(SCRIPT)
    ));
    items.push(match turn % 5 {
        0 => format!(r#"{{"id":"fc_{turn}","type":"function_call","status":"completed","arguments":"{call}","call_id":"call_{turn}a","name":"bash"}}"#),
        1 => format!(r#"{{"id":"ctc_{turn}","type":"custom_tool_call","status":"completed","call_id":"call_{turn}a","input":"*** Begin Patch\n*** End Patch\n","name":"apply_patch"}}"#),
        2 => format!(r#"{{"id":"lsh_{turn}","type":"local_shell_call","status":"completed","call_id":"call_{turn}a","action":{{"type":"exec","command":["ls","-la"],"env":{{}},"timeout_ms":1000}}}}"#),
        3 => format!(r#"{{"id":"sh_{turn}","type":"shell_call","status":"completed","call_id":"call_{turn}a","action":{{"commands":["ls","pwd"],"timeout_ms":null,"max_output_length":4096}}}}"#),
        _ => format!(r#"{{"id":"apc_{turn}","type":"apply_patch_call","status":"completed","call_id":"call_{turn}a","operation":{{"type":"update_file","path":"a.txt","diff":"@@\n-a\n+b\n"}}}}"#),
    });
    items.push(format!(r#"{{"id":"fc_{turn}b","type":"function_call","status":"completed","arguments":"{{}}","call_id":"call_{turn}b","name":"file_search"}}"#));
    items.push(format!(
        r#"{{"type":"teleport_call","id":"tp_{turn}","fields":{ODD}}}"#
    ));
    items
}

fn response_body(turn: usize, output: &str) -> String {
    format!(
        r#"{{"id":"resp_{turn}","object":"response","created_at":1763000000,"status":"completed","background":false,"error":null,"incomplete_details":null,"model":"gpt-5.2","output":[{output}],"parallel_tool_calls":true,"service_tier":"default","x_fingerprint":{ODD},"usage":{{"input_tokens":1{turn}0,"input_tokens_details":{{"cached_tokens":5}},"output_tokens":20,"output_tokens_details":{{"reasoning_tokens":7}},"total_tokens":130}}}}"#
    )
}

fn responses(turn: usize) -> Recorded {
    let items = response_items(turn);
    let body = response_body(turn, &items.join(","));
    let mut number = 0;
    let mut stream = String::new();
    let mut tell = |name: &str, fields: &str| {
        number += 1;
        stream += &event(
            name,
            &format!(r#"{{"type":"{name}","sequence_number":{number}{fields}}}"#),
        );
    };
    tell(
        "response.created",
        &format!(
            r#","response":{}"#,
            response_body(turn, "").replace("completed", "in_progress")
        ),
    );
    for (place, item) in items.iter().enumerate() {
        let at = format!(r#","output_index":{place},"item_id":"x""#);
        let begun = item.replace(r#""arguments":"{"#, r#""arguments":"","was":"{"#);
        tell(
            "response.output_item.added",
            &format!(r#"{at},"item":{begun}"#),
        );
        match place {
            0 => tell(
                "response.reasoning_summary_text.delta",
                &format!(r#"{at},"summary_index":0,"delta":"Thinking of {turn}""#),
            ),
            1 => {
                for piece in pieces(SCRIPT, 21) {
                    tell(
                        "response.output_text.delta",
                        &format!(
                            r#"{at},"content_index":0,"delta":"{}","obfuscation":"x""#,
                            inner(&piece)
                        ),
                    );
                }
            }
            2 if turn.is_multiple_of(5) => {
                for piece in pieces(&arguments(turn), 16) {
                    tell(
                        "response.function_call_arguments.delta",
                        &format!(r#"{at},"delta":"{}""#, inner(&piece)),
                    );
                }
            }
            _ => tell("response.teleport.delta", &format!(r#"{at},"delta":{ODD}"#)),
        }
        tell(
            "response.output_item.done",
            &format!(r#"{at},"item":{item}"#),
        );
    }
    tell("response.completed", &format!(r#","response":{body}"#));
    Recorded {
        stream,
        whole: body,
    }
}

// OpenAI Chat Completions

fn chat(turn: usize) -> Recorded {
    let call = arguments(turn);
    let thought = format!("I think of {turn}. 😀");
    let escaped = inner(&thought);
    let message = format!(
        r#"{{"role":"assistant","content":"{}","refusal":null,"reasoning_content":"{escaped}","reasoning_details":[{{"type":"reasoning.encrypted","data":"gAAA{turn}","index":0}}],"tool_calls":[{{"id":"call_{turn}a","type":"function","function":{{"name":"bash","arguments":"{}"}},"extra_content":{{"google":{{"thought_signature":"sig{turn}=="}}}}}},{{"id":"call_{turn}b","type":"function","function":{{"name":"file_search","arguments":"{{}}"}}}}],"x_new":{ODD}}}"#,
        inner(SCRIPT),
        inner(&call)
    );
    let usage = format!(
        r#"{{"prompt_tokens":1{turn}0,"completion_tokens":20,"total_tokens":130,"prompt_tokens_details":{{"cached_tokens":5}},"completion_tokens_details":{{"reasoning_tokens":7}}}}"#
    );
    let head = format!(
        r#""id":"chatcmpl-{turn}","object":"OBJECT","created":1763000000,"model":"gpt-4.1","system_fingerprint":"fp_{turn}""#
    );
    let whole = format!(
        r#"{{{},"usage":{usage},"choices":[{{"index":0,"message":{message},"logprobs":null,"finish_reason":"tool_calls"}}]}}"#,
        head.replace("OBJECT", "chat.completion")
    );
    let head = head.replace("OBJECT", "chat.completion.chunk");
    let mut stream = String::new();
    let mut tell = |delta: &str, finish: &str| {
        stream += &format!(
            "data: {{{head},\"usage\":null,\"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\"finish_reason\":{finish}}}]}}\n\n"
        );
    };
    tell(
        r#"{"role":"assistant","content":"","refusal":null}"#,
        "null",
    );
    // Half of a character in one piece and the other half in the next.
    tell(
        &format!(r#"{{"reasoning_content":"I think of {turn}. \ud83d"}}"#),
        "null",
    );
    tell(
        r#"{"reasoning_content":"\ude00","role":"assistant"}"#,
        "null",
    );
    tell(
        r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"gAAA","index":0}]}"#,
        "null",
    );
    tell(
        &format!(
            r#"{{"reasoning_details":[{{"type":"reasoning.encrypted","data":"{turn}","index":0}}]}}"#
        ),
        "null",
    );
    for piece in pieces(SCRIPT, 25) {
        tell(&format!(r#"{{"content":"{}"}}"#, inner(&piece)), "null");
    }
    tell(
        &format!(
            r#"{{"tool_calls":[{{"index":0,"id":"call_{turn}a","type":"function","function":{{"name":"bash","arguments":""}},"extra_content":{{"google":{{"thought_signature":"sig{turn}=="}}}}}}]}}"#
        ),
        "null",
    );
    for piece in pieces(&call, 12) {
        tell(
            &format!(
                r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":"{}"}}}}]}}"#,
                inner(&piece)
            ),
            "null",
        );
    }
    tell(
        &format!(
            r#"{{"tool_calls":[{{"index":1,"id":"call_{turn}b","type":"function","function":{{"name":"file_search","arguments":"{{}}"}}}}]}}"#
        ),
        "null",
    );
    tell(&format!(r#"{{"x_new":{ODD}}}"#), "null");
    tell("{}", r#""tool_calls""#);
    stream += &format!("data: {{{head},\"choices\":[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n");
    Recorded { stream, whole }
}

// Anthropic Messages

fn blocks(turn: usize) -> Vec<String> {
    vec![
        format!(
            r#"{{"type":"thinking","thinking":"I think of {turn}.","signature":"EqQB\/{turn}==","x_new":{ODD}}}"#
        ),
        format!(r#"{{"type":"redacted_thinking","data":"EmwK{turn}"}}"#),
        format!(
            r#"{{"type":"text","text":"{}","citations":[{{"type":"char_location","cited_text":"é"}}]}}"#,
            inner(SCRIPT)
        ),
        format!(
            r#"{{"type":"tool_use","id":"toolu_{turn}a","name":"bash","input":{},"caller":{{"type":"direct"}}}}"#,
            arguments(turn)
        ),
        format!(r#"{{"type":"tool_use","id":"toolu_{turn}b","name":"file_search","input":{{}}}}"#),
        format!(r#"{{"type":"hologram","light":{ODD}}}"#),
    ]
}

fn messages(turn: usize) -> Recorded {
    let end = r#""stop_reason":"tool_use","stop_sequence":null"#;
    let usage = format!(
        r#""usage":{{"input_tokens":1{turn}0,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":20,"service_tier":"standard"}}"#
    );
    let head = format!(
        r#""id":"msg_{turn}","type":"message","role":"assistant","model":"claude-opus-5","content":["#
    );
    let whole = format!(
        "{{{head}{}],{end},{usage},\"x_new\":{ODD}}}",
        blocks(turn).join(",")
    );
    let mut stream = event(
        "message_start",
        &format!(
            r#"{{"type":"message_start","message":{{{head}],"stop_reason":null,"stop_sequence":null,{}}}}}"#,
            usage.replace("\"output_tokens\":20", "\"output_tokens\":1")
        ),
    );
    let starts = [
        format!(r#"{{"type":"thinking","thinking":"","signature":"","x_new":{ODD}}}"#),
        blocks(turn)[1].clone(),
        r#"{"type":"text","text":"","citations":[]}"#.to_owned(),
        format!(
            r#"{{"type":"tool_use","id":"toolu_{turn}a","name":"bash","input":{{}},"caller":{{"type":"direct"}}}}"#
        ),
        blocks(turn)[4].clone(),
        blocks(turn)[5].clone(),
    ];
    for (place, start) in starts.iter().enumerate() {
        stream += &event(
            "content_block_start",
            &format!(r#"{{"type":"content_block_start","index":{place},"content_block":{start}}}"#),
        );
        for delta in deltas(turn, place) {
            stream += &event(
                "content_block_delta",
                &format!(r#"{{"type":"content_block_delta","index":{place},"delta":{delta}}}"#),
            );
        }
        stream += &event("ping", r#"{"type": "ping"}"#);
        stream += &event(
            "content_block_stop",
            &format!(r#"{{"type":"content_block_stop","index":{place}}}"#),
        );
    }
    stream += &event(
        "message_delta",
        &format!(
            r#"{{"type":"message_delta","delta":{{{end}}},"usage":{{"output_tokens":20}},"x_new":{ODD}}}"#
        ),
    );
    stream += &event("message_stop", r#"{"type":"message_stop"}"#);
    Recorded { stream, whole }
}

fn deltas(turn: usize, place: usize) -> Vec<String> {
    match place {
        0 => vec![
            r#"{"type":"thinking_delta","thinking":"I think "}"#.to_owned(),
            format!(r#"{{"type":"thinking_delta","thinking":"of {turn}."}}"#),
            format!(r#"{{"type":"signature_delta","signature":"EqQB\/{turn}=="}}"#),
        ],
        2 => {
            let texts = pieces(SCRIPT, 27);
            let mut deltas: Vec<String> = texts
                .iter()
                .map(|text| format!(r#"{{"type":"text_delta","text":"{}"}}"#, inner(text)))
                .collect();
            deltas.push(r#"{"type":"citations_delta","citation":{"type":"char_location","cited_text":"é"}}"#.to_owned());
            deltas
        }
        3 => {
            let pieces = pieces(&arguments(turn), 15);
            pieces
                .iter()
                .map(|piece| {
                    format!(
                        r#"{{"type":"input_json_delta","partial_json":"{}"}}"#,
                        inner(piece)
                    )
                })
                .collect()
        }
        _ => Vec::new(),
    }
}
