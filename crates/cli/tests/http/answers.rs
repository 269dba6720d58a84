//! Answers: whole, odd, huge and endless ones.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::web::{Web, error};

#[test]
fn answers_arrive_as_they_are() {
    let Some(web) = Web::new() else { return };
    let secure = web.call(&json!({"url": "https://allowed.test/page"}));
    assert_eq!(secure["status"], 200, "{secure}");
    assert_eq!(secure["body"], "the page\n", "{secure}");
    assert_eq!(secure["truncated"], false);
    assert_eq!(secure["headers"]["content-length"], "9");
    let posted = json!({"method": "POST", "url": "http://allowed.test/", "body": "hällo"});
    assert_eq!(web.call(&posted)["body"], "got 6 bytes\n");
    for (path, expected) in [
        ("http10", json!({"body": "until the end"})),
        ("trailers", json!({"body": "abcde"})),
        ("interim", json!({"body": "then", "status": 200})),
        ("none", json!({"body": "", "status": 204})),
        ("missing", json!({"body": "none", "status": 404})),
        ("binary", json!({"body": null, "bodyBase64": "//79"})),
        ("umlaut", json!({"body": "aäb"})),
        (
            "count?left=5",
            json!({"body": "arrived", "url": "http://allowed.test:8080/count?left=0"}),
        ),
        ("redirect?to=/missing&endless=1", json!({"status": 404})),
        (
            "redirect?to=//allowed.test/page",
            json!({"body": "the page\n"}),
        ),
        (
            "redirect?to=https://allowed.test:8443/missing",
            json!({"status": 404}),
        ),
    ] {
        let reply = web.odd(path);
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&reply[field], value, "{path}: {reply}");
        }
        assert_eq!(reply["truncated"], false, "{path}: {reply}");
    }
    let head = json!({"method": "HEAD", "url": "http://allowed.test:8080/sized"});
    let head = web.call(&head);
    assert_eq!(head["headers"]["content-length"], "1000", "{head}");
    assert_eq!(
        (&head["body"], &head["truncated"]),
        (&json!(""), &json!(false))
    );
    let headers = &web.odd("cookies")["headers"];
    assert_eq!(headers["set-cookie"], "a=1\nb=2", "{headers}");
    assert_eq!(headers["x-two"], "1, 2", "{headers}");
    // What is packed stays packed, and nothing asks for it.
    let bomb = web.odd("bomb");
    assert_eq!(bomb["headers"]["content-encoding"], "gzip", "{bomb}");
    assert!(bomb["bodyBase64"].as_str().unwrap().len() < 20_000);
    let echo = web.odd("echo");
    assert!(
        echo["body"]
            .as_str()
            .unwrap()
            .contains("accept-encoding: identity"),
        "{echo}"
    );
}

#[test]
fn a_body_is_bounded_whatever_its_size() {
    let Some(web) = Web::new() else { return };
    for path in ["huge", "endless"] {
        web.0.forget();
        let began = Instant::now();
        let url = format!("http://allowed.test:8080/{path}");
        let reply = web.call(&json!({"url": url, "maxBytes": 1000}));
        assert_eq!(reply["status"], 200, "{reply}");
        assert_eq!(reply["truncated"], true);
        assert_eq!(reply["body"].as_str().unwrap().len(), 1000);
        assert!(began.elapsed() < Duration::from_secs(20));
        let whole = web.odd(path);
        assert_eq!(whole["body"].as_str().unwrap().len(), 262_144);
        assert!(!web.reached("huge sent all"), "{:?}", web.0.seen());
    }
    let cut = web.call(&json!({"url": "http://allowed.test:8080/umlaut", "maxBytes": 2}));
    assert_eq!(
        (&cut["body"], &cut["truncated"]),
        (&json!("a"), &json!(true))
    );
    let none = web.call(&json!({"url": "http://allowed.test:8080/umlaut", "maxBytes": 0}));
    assert_eq!(
        (&none["body"], &none["truncated"]),
        (&json!(""), &json!(true))
    );
}

#[test]
fn a_server_that_never_ends_is_left() {
    let Some(web) = Web::new() else { return };
    for (path, words) in [("drip", "bytes had come"), ("silent", "0 bytes had come")] {
        web.0.forget();
        let url = format!("http://allowed.test:8080/{path}");
        let reply = web.call(&json!({"url": url, "timeoutMs": 400}));
        let (code, message) = error(&reply);
        assert_eq!(code, "http_timed_out", "{reply}");
        assert!(
            message.contains("400 ms") && message.contains(words),
            "{reply}"
        );
    }
    let records = web.log();
    let outcomes = records.iter().filter(|one| one["event"] == "outcome");
    let outcomes: Vec<_> = outcomes
        .map(|one| (&one["outcome"], &one["error"]))
        .collect();
    assert_eq!(
        outcomes,
        [(&json!("timed_out"), &json!("http_timed_out")); 2]
    );
}

#[test]
fn a_request_that_nobody_waits_for_is_given_up() {
    let Some(web) = Web::new() else { return };
    let source = "const slow = tools.http({ url: 'http://allowed.test:8080/silent' }); \
                  const quick = tools.http({ url: 'http://allowed.test:8080/umlaut' }); \
                  const won = await Promise.race([slow, quick]); return won.body";
    assert_eq!(web.script(source), "aäb");
    assert!(web.reached("gone /silent"), "{:?}", web.0.seen());
}
