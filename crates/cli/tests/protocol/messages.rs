//! Messages that are none, batches, ids.

use serde_json::{Value, json};

use crate::client::{Client, code};
use crate::program::Place;

#[test]
fn what_is_no_request_is_told_and_the_session_goes_on() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let long_id = "x".repeat(300);
    let call =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"method":"call","params":{params}}}"#);
    // The line, the id that is answered, the number, and where.
    let table: &[(&str, Value, i64, Option<&str>)] = &[
        ("nonsense", Value::Null, -32700, None),
        ("{\"jsonrpc\":\"2.0\"", Value::Null, -32700, None),
        (&deep, Value::Null, -32700, None),
        ("\u{1}", Value::Null, -32700, None),
        ("[]", Value::Null, -32600, None),
        ("1", Value::Null, -32600, None),
        ("{}", Value::Null, -32600, None),
        (r#"{"id":7,"method":"tools"}"#, json!(7), -32600, None),
        (
            r#"{"jsonrpc":"1.0","id":7,"method":"tools"}"#,
            json!(7),
            -32600,
            None,
        ),
        (r#"{"jsonrpc":"2.0","id":7}"#, json!(7), -32600, None),
        (
            r#"{"jsonrpc":"2.0","id":7,"result":1,"error":{}}"#,
            json!(7),
            -32600,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":7}"#,
            json!(7),
            -32600,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"tools"}"#,
            Value::Null,
            -32600,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":{},"method":"tools"}"#,
            Value::Null,
            -32600,
            None,
        ),
        (
            &format!(r#"{{"jsonrpc":"2.0","id":"{long_id}","method":"tools"}}"#),
            Value::Null,
            -32600,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools","params":[1]}"#,
            json!(7),
            -32602,
            Some("."),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"tools","params":{"a":1}}"#,
            json!(7),
            -32602,
            Some("a"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#,
            json!(7),
            -32601,
            None,
        ),
        (&call("{}"), json!(7), -32602, Some(".")),
        (&call(r#"{"tool":7}"#), json!(7), -32602, Some("tool")),
        (
            &call(r#"{"tool":"bash","arguments":[]}"#),
            json!(7),
            -32602,
            Some("arguments"),
        ),
        (
            &call(r#"{"tool":"bash","argments":{}}"#),
            json!(7),
            -32602,
            Some("argments"),
        ),
        (
            &call(r#"{"tool":"no_such"}"#),
            json!(7),
            -32602,
            Some("tool"),
        ),
        (
            &call(r#"{"tool":"bash","arguments":{"comand":"ls"}}"#),
            json!(7),
            -32602,
            Some("arguments.comand"),
        ),
        (
            &call(r#"{"tool":"bash","arguments":{"command":1}}"#),
            json!(7),
            -32602,
            Some("arguments.command"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"cancel","params":{}}"#,
            json!(7),
            -32602,
            Some("."),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"release","params":{"handles":[1]}}"#,
            json!(7),
            -32602,
            Some("handles[0]"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"invoke","params":{"handle":"h9"}}"#,
            json!(7),
            -32006,
            Some("handle"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocol_version":1,"client":{"name":"x"}}}"#,
            json!(7),
            -32003,
            None,
        ),
    ];
    for (line, id, number, path) in table {
        client.line(line);
        let told = client.next().unwrap();
        let shown: String = line.chars().take(200).collect();
        assert_eq!(
            (&told["id"], &told["error"]["code"]),
            (id, &json!(number)),
            "{shown}: {told}"
        );
        assert_eq!(
            told["error"]["data"]["path"].as_str(),
            *path,
            "{shown}: {told}"
        );
        assert_eq!(told["jsonrpc"], "2.0");
    }
    // What wants no answer gets none, whatever is wrong with it; blank lines are no messages.
    for line in [
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"cancel","params":{"id":"never"}}"#,
        r#"{"jsonrpc":"2.0","method":"call","params":{"tool":"bash","arguments":{"command":"touch called"}}}"#,
        "",
        "   ",
    ] {
        client.line(line);
    }
    client.is_well();
    assert!(client.heard.is_empty(), "{:?}", client.heard);
    assert!(
        !place.work().join("called").exists(),
        "a call has an answer"
    );
}

#[test]
fn a_line_that_is_too_long_is_left_out_and_bytes_that_are_no_text_are_told() {
    use std::io::Write;
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    let piece = vec![b'a'; 1 << 20];
    for _ in 0..33 {
        client.input.as_mut().unwrap().write_all(&piece).unwrap();
    }
    client.line("");
    assert_eq!(code(&client.next().unwrap()), "line_too_long");
    client
        .input
        .as_mut()
        .unwrap()
        .write_all(b"{\"\xff\xfe\"}\n")
        .unwrap();
    assert_eq!(code(&client.next().unwrap()), "parse_error");
    client.is_well();
}

#[test]
fn before_initialize_nothing_else_counts() {
    let place = Place::new();
    let mut client = Client::start(&place, &[]);
    for method in ["tools", "call"] {
        client.request(1, method, &json!({}));
        assert_eq!(code(&client.reply(1)), "not_initialized", "{method}");
    }
    assert!(client.initialize(&json!({}))["result"].is_object());
    client.is_well();
}

#[test]
fn a_batch_is_answered_as_one_when_all_of_it_is_done() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    let one = |id: Value, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let echo = json!({"tool": "shell", "arguments": {"command": ["echo", "hi"]}});
    let batch = json!([
        one(json!(1), "call", echo.clone()),
        {"jsonrpc": "2.0", "method": "cancel", "params": {"id": "none"}},
        7,
        one(json!("a"), "cancel", json!({"id": "none"})),
        one(json!("a"), "no/such", json!({})),
        one(json!(2), "call", echo),
        {"jsonrpc": "2.0", "id": "s77", "result": 1},
    ]);
    client.line(&batch.to_string());
    let answers = client.until(Value::is_array);
    let mut seen: Vec<String> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|one| match &one["error"] {
            Value::Null => format!("{} ok", one["id"]),
            error => format!("{} {}", one["id"], error["code"]),
        })
        .collect();
    seen.sort();
    assert_eq!(
        seen,
        ["\"a\" -32601", "\"a\" ok", "1 ok", "2 ok", "null -32600"],
        "{answers}"
    );
    client.line(r#"[{"jsonrpc":"2.0","method":"cancel","params":{"id":1}}]"#);
    client.is_well();
    assert!(
        client.heard.iter().all(|line| !line.is_array()),
        "nothing to answer"
    );
}

#[test]
fn an_id_that_is_in_use_is_told_apart_from_its_owner() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({}));
    client.call(
        1,
        "shell",
        &json!({"command": ["sleep", "86371"], "timeout_ms": 500_000}),
    );
    for method in ["call", "tools", "no/such"] {
        client.request(1, method, &json!({"tool": "bash"}));
        let told = client.reply(Value::Null);
        assert_eq!(
            (code(&told), &told["error"]["data"]["id"]),
            ("id_in_use", &json!(1)),
            "{told}"
        );
    }
    // A text is another id than a number.
    client.call("1", "bash_task_list", &json!({}));
    assert!(client.reply("1")["result"].is_object());
    client.notify("cancel", &json!({"id": 1}));
    let first = client.reply(1);
    let ended = first["result"]["reply"]["exit_code"] == 137 || code(&first) == "cancelled";
    assert!(ended, "{first}");
    // And free again.
    client.call(1, "bash_task_list", &json!({}));
    assert!(client.reply(1)["result"].is_object());
}
