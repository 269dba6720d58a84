//! What a request may not say, and whether there is such a tool at all.

use serde_json::{Value, json};

use crate::program::{Place, Ran};
use crate::web::{Web, error};

#[test]
fn what_a_request_may_not_say_is_refused() {
    let Some(web) = Web::new() else { return };
    let url = "http://allowed.test:8080/echo";
    let many: serde_json::Map<String, Value> =
        (0..1000).map(|n| (format!("x-{n}"), json!("y"))).collect();
    for (arguments, words) in [
        (
            json!({"headers": {"X": "a\r\nHost: other.test"}}),
            "line break",
        ),
        (
            json!({"headers": {"X: y\r\nZ": "a"}}),
            "its name has a character",
        ),
        (json!({"headers": {"": "a"}}), "its name has a character"),
        (
            json!({"headers": {"host": "other.test"}}),
            "decides where a request ends or goes",
        ),
        (json!({"headers": {"Content-Length": "0"}}), "decides where"),
        (
            json!({"headers": {"transfer-encoding": "chunked"}}),
            "decides where",
        ),
        (json!({"headers": {"Upgrade": "h2c"}}), "cannot be set"),
        (
            json!({"headers": {"Proxy-Authorization": "x"}}),
            "cannot be set",
        ),
        (json!({"headers": many}), "64 headers"),
        (json!({"headers": {"x": "y".repeat(40_000)}}), "64 headers"),
        (json!({"method": "CONNECT"}), "`method`"),
        (json!({"method": "GET / HTTP/1.1\r\n"}), "`method`"),
        (
            json!({"body": "x".repeat(1_048_577)}),
            "`http.max_request_bytes`",
        ),
        (json!({"maxBytes": 4_194_305}), "`http.max_body_bytes`"),
        (
            json!({"timeoutMs": 120_001}),
            "above the maximum of 120000 ms",
        ),
        (json!({"insecure": true}), "has no field `insecure`"),
    ] {
        let mut arguments = arguments;
        arguments["url"] = json!(url);
        web.0.forget();
        let reply = web.call_given(&arguments);
        assert!(error(&reply).1.contains(words), "{words}: {reply}");
        assert_eq!(web.0.seen(), Vec::<String>::new(), "{words}");
    }
    let fine = json!({"url": url, "method": "delete", "headers": {"X-Empty": "", "Cookie": "a=b"}});
    let body = web.call(&fine)["body"].as_str().unwrap().to_owned();
    assert!(
        body.starts_with("DELETE /echo\n") && body.contains("cookie: a=b"),
        "{body}"
    );
}

#[test]
fn it_is_off_unless_switched_on() {
    let place = Place::new();
    let reply = place.call("http", &json!({"url": "http://allowed.test/"}), &[]);
    let (code, message) = error(&reply);
    assert_eq!(code, "tool_switched_off", "{reply}");
    assert!(message.contains("`script.expose.enable_http`"), "{message}");
    let listed = |on: &str, flag: &str| {
        let mut command = place.ringfence(&["tools", flag]);
        command.env("RINGFENCE_SCRIPT_EXPOSE_ENABLE_HTTP", on);
        Ran::of(&command.output().unwrap()).stdout
    };
    for (flag, word) in [
        ("--json", "\"name\": \"http\""),
        ("--dts", "http(args"),
        ("--prompt", "`tools.http`"),
    ] {
        let (off, on) = (listed("false", flag), listed("true", flag));
        let is_told = |text: &str| text.contains(word);
        assert!(!is_told(&off) && is_told(&on), "{flag}: {on}");
    }
    let declared = listed("true", "--dts");
    assert!(declared.contains("bodyBase64?: string"), "{declared}");
    assert!(declared.contains("truncated: boolean"), "{declared}");
}
