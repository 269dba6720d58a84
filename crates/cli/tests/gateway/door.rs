//! Who is let in, what goes along, whether scripts run, and where it ends.

use std::io::{Read, Write};
use std::net::TcpStream;

use ringfence_testkit::model::{Answer, Api, Part, Script};
use serde_json::{Value, json};

use crate::serving::Serving;

const KEY: &str = "sk-planted-5e8f01c3";
const TOKEN: &str = "a-token-of-enough-length";

/// What was answered.
#[derive(Debug)]
struct Answered {
    status: u16,
    head: String,
    body: String,
}

/// Sends a request on a connection of its own.
fn post(url: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answered {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    let mut head = format!(
        "POST {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n",
        body.len()
    );
    let is_given = |wanted: &str| headers.iter().any(|(name, _)| *name == wanted);
    if !is_given("host") {
        head.extend(["host: ", address, "\r\n"]);
    }
    if !is_given("content-type") {
        head += "content-type: application/json\r\n";
    }
    for (name, value) in headers {
        head.extend([*name, ": ", *value, "\r\n"]);
    }
    // A server that does not want to read all of it answers and closes.
    let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    let all = String::from_utf8_lossy(&all).into_owned();
    let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
    Answered {
        status: head
            .split(' ')
            .nth(1)
            .and_then(|word| word.parse().ok())
            .unwrap_or(0),
        head: head.to_ascii_lowercase(),
        body: body.to_owned(),
    }
}

/// A request by an API.
fn ask(api: Api, stream: bool) -> String {
    let said = json!([{"role": "user", "content": "hi"}]);
    let field = if api == Api::Responses {
        "input"
    } else {
        "messages"
    };
    json!({"model": "m", "max_tokens": 9, "stream": stream, field: said}).to_string()
}

fn touches() -> Answer {
    Answer::of([
        Part::text("Before.\n"),
        Part::script("await tools.exec({command: ['touch', 'made']}); return 'made it'"),
    ])
}

fn done() -> Answer {
    Answer::of([Part::text("Done.")])
}

#[test]
fn a_request_says_whether_its_scripts_run() {
    for api in Api::ALL {
        for stream in [true, false] {
            for (mode, rounds, expected) in [
                ("disabled", 1, "scripts are disabled"),
                ("dry-run", 2, "tool-results"),
                ("enabled", 2, "made it"),
            ] {
                let serving = Serving::start(Script::of([touches(), done()]), &[], &[]);
                let path = api.path();
                let answered = post(
                    &serving.url,
                    path,
                    &[("x-ringfence-mode", mode)],
                    &ask(api, stream),
                );
                assert_eq!(answered.status, 200, "{answered:?}");
                assert!(
                    answered.head.contains(&format!("x-ringfence-mode: {mode}")),
                    "{answered:?}"
                );
                assert!(
                    answered.body.contains(expected),
                    "{api:?} {mode}: {answered:?}"
                );
                assert_eq!(serving.made(), mode == "enabled", "{api:?} {mode}");
                let requests = serving.model.requests();
                assert_eq!(requests.len(), rounds, "{api:?} {mode}");
                // Whoever may write scripts is told how.
                assert_eq!(
                    requests[0].body.contains("<tool-calls>"),
                    mode != "disabled"
                );
            }
        }
    }
    let serving = Serving::start(Script::default(), &[], &[]);
    let answered = post(
        &serving.url,
        "/v1/messages",
        &[("x-ringfence-mode", "maybe")],
        &ask(Api::Messages, true),
    );
    assert_eq!(answered.status, 400, "{answered:?}");
}

#[test]
fn strangers_and_pages_are_refused_and_nothing_is_asked_for_them() {
    let serving = Serving::start(Script::of([touches()]), &[], &[]);
    for headers in [
        &[("origin", "https://evil.example")] as &[(&str, &str)],
        &[("sec-fetch-site", "cross-site")],
        &[("host", "evil.example")],
        &[("content-type", "text/plain")],
    ] {
        let answered = post(
            &serving.url,
            "/v1/messages",
            headers,
            &ask(Api::Messages, true),
        );
        assert_eq!(answered.status, 403, "{headers:?} {answered:?}");
    }
    let with_token = Serving::start(
        Script::of([done()]),
        &["--token-env", "GATEWAY_TOKEN"],
        &[("GATEWAY_TOKEN", TOKEN), ("ANTHROPIC_API_KEY", KEY)],
    );
    for shown in ["", "Bearer wrong", &format!("Bearer {TOKEN}x")] {
        let answered = post(
            &with_token.url,
            "/v1/messages",
            &[("authorization", shown)],
            &ask(Api::Messages, true),
        );
        assert_eq!(answered.status, 401, "{shown} {answered:?}");
    }
    assert!(serving.model.requests().is_empty() && with_token.model.requests().is_empty());
    let answered = post(
        &with_token.url,
        "/v1/messages",
        &[("x-api-key", TOKEN)],
        &ask(Api::Messages, true),
    );
    assert_eq!(answered.status, 200, "{answered:?}");
    // The token is for the gateway, and the key for the provider.
    let asked = with_token.model.requests().remove(0);
    assert_eq!(asked.header("x-api-key"), Some(KEY));
    assert!(!asked.headers.iter().any(|(_, value)| value.contains(TOKEN)));
}

#[test]
fn keys_go_where_they_belong() {
    // The client's own, where the gateway has none.
    let serving = Serving::start(Script::of([done()]), &[], &[]);
    post(
        &serving.url,
        "/v1/chat/completions",
        &[("authorization", "Bearer theirs"), ("x-custom", "1")],
        &ask(Api::Chat, true),
    );
    let asked = serving.model.requests().remove(0);
    assert_eq!(
        (asked.header("authorization"), asked.header("x-custom")),
        (Some("Bearer theirs"), Some("1"))
    );
    // The gateway's, and what a server says of it is told without it.
    let repeats = Answer {
        raw: Some(json!({"error": {"message": format!("bad key {KEY}")}})),
        ..Answer::status(401)
    };
    let serving = Serving::start(Script::of([repeats]), &[], &[("OPENAI_API_KEY", KEY)]);
    let answered = post(
        &serving.url,
        "/v1/responses",
        &[("authorization", "Bearer theirs")],
        &ask(Api::Responses, true),
    );
    assert_eq!(
        serving.model.requests().remove(0).header("authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
    assert_eq!(answered.status, 401);
    assert!(answered.body.contains("bad key [key]"), "{answered:?}");
}

#[test]
fn bounds_are_told() {
    // As often as it may, and not once more.
    let settings = "[gateway]\nmax_rounds = 3\nmax_body_bytes = 20000\n";
    let again = || Answer::of([Part::script("return 1")]);
    for api in Api::ALL {
        let script = Script {
            otherwise: Some(again()),
            ..Script::default()
        };
        let serving = Serving::start_set(script, settings, &[], &[]);
        let answered = post(&serving.url, api.path(), &[], &ask(api, true));
        assert_eq!(answered.status, 200);
        assert_eq!(serving.model.requests().len(), 3, "{api:?}");
        let long = json!({"model": "m", "messages": ["x".repeat(30_000)]}).to_string();
        let answered = post(&serving.url, api.path(), &[], &long);
        assert_eq!(answered.status, 413, "{answered:?}");
    }
}

#[test]
fn a_later_round_that_fails_is_an_error_of_the_api() {
    let cut = Answer {
        cut_after: Some(30),
        ..touches()
    };
    for api in Api::ALL {
        for (second, expected) in [(Answer::status(400), "400"), (cut.clone(), "connection")] {
            let serving = Serving::start(Script::of([touches(), second]), &[], &[]);
            let answered = post(&serving.url, api.path(), &[], &ask(api, true));
            assert!(
                answered.body.contains("made it") && answered.body.contains("error"),
                "{answered:?}"
            );
            assert!(answered.body.contains(expected), "{api:?} {answered:?}");
        }
        // A first round that breaks off has run nothing.
        let serving = Serving::start(
            Script::of([Answer {
                cut_after: Some(700),
                ..touches()
            }]),
            &[],
            &[],
        );
        let answered = post(&serving.url, api.path(), &[], &ask(api, true));
        assert!(
            answered.body.contains("error") && !serving.made(),
            "{api:?} {answered:?}"
        );
    }
}

#[test]
fn a_conversation_goes_on_from_its_last_round() {
    let serving = Serving::start(Script::of([touches(), done(), done()]), &[], &[]);
    let first = post(
        &serving.url,
        "/v1/responses",
        &[],
        &ask(Api::Responses, false),
    );
    let body = first
        .body
        .lines()
        .find(|line| line.starts_with('{'))
        .unwrap();
    let answer: Value = serde_json::from_str(body).unwrap();
    assert_eq!(answer["id"], "resp_1");
    let next = json!({"model": "m", "input": "more", "previous_response_id": "resp_1"}).to_string();
    post(&serving.url, "/v1/responses", &[], &next);
    let asked = serving.model.requests().remove(2).json();
    assert_eq!(asked["previous_response_id"], "resp_2");
}

#[test]
fn other_machines_need_a_token() {
    let place = crate::program::Place::new();
    let ran = place.output(&["gateway", "--listen", "0.0.0.0:0"]);
    assert_eq!(ran.code, Some(125), "{ran:?}");
    assert!(ran.stderr.contains("--token-env"), "{ran:?}");
}
