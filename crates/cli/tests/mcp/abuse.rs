//! Clients that do not behave: each is answered, what it costs is bounded, and the server goes on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::official::{HttpServer, TOKEN};
use crate::program::{Place, exists};
use crate::raw::Raw;

const MANY: usize = 10_000;
/// The most memory that a server has while it is abused, in MiB. A debug build that serves nobody has about 60.
const MEMORY: i64 = 300;

fn peak_memory(child: &std::process::Child) -> i64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap();
    let kib: i64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib / 1024
}

#[test]
fn lines_that_are_no_messages() {
    let place = Place::new();
    let mut raw = Raw::greeted(&place, &[], &json!({}));
    // The line, and the code of the error that answers it; nothing for what wants no answer.
    let cases: &[(&str, Option<i64>)] = &[
        ("not json", Some(-32700)),
        ("{\"jsonrpc\":\"2.0\",", Some(-32700)),
        ("[]", Some(-32600)),
        ("42", Some(-32600)),
        (
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            Some(-32600),
        ),
        ("{\"id\":1}", Some(-32600)),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
            Some(-32600),
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"no/such\"}",
            Some(-32601),
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}",
            Some(-32602),
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/odd\",\"params\":{}}",
            None,
        ),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":\"nobody-asked\",\"result\":{}}",
            None,
        ),
        ("", None),
        ("\u{feff}{}", Some(-32700)),
    ];
    for (line, expected) in cases {
        raw.write(format!("{line}\n").as_bytes());
        if let Some(code) = expected {
            let error = raw.until(|said| said.get("error").is_some());
            assert_eq!(error["error"]["code"], *code, "{line}: {error}");
        }
        raw.serves();
    }
    raw.write(b"\xff\xfe\x00\n");
    let error = raw.until(|said| said.get("error").is_some());
    assert_eq!(error["error"]["code"], -32700, "{error}");
    raw.serves();
}

#[test]
fn a_hundred_megabytes_in_a_line() {
    let place = Place::new();
    let mut raw = Raw::greeted(&place, &[], &json!({}));
    let piece = vec![b'a'; 1 << 20];
    raw.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":\"");
    for _ in 0..100 {
        raw.write(&piece);
    }
    raw.write(b"\"}\n");
    let error = raw.until(|said| said.get("error").is_some());
    assert!(
        error["error"]["message"]
            .as_str()
            .unwrap()
            .contains("at most"),
        "{error}"
    );
    raw.serves();
    assert!(
        peak_memory(&raw.child) < MEMORY,
        "{}",
        peak_memory(&raw.child)
    );
}

#[test]
fn ten_thousand_requests_at_once() {
    let place = Place::new();
    let mut raw = Raw::greeted(&place, &[], &json!({}));
    // Written by a thread: the server reads no more while its answers are not taken.
    let mut input = raw.input.take().unwrap();
    let writer = std::thread::spawn(move || {
        for number in 0..MANY {
            let call = json!({"jsonrpc": "2.0", "id": format!("n{number}"), "method": "tools/call",
                "params": {"name": "bash", "arguments": {"command": "true"}}});
            input.write_all(format!("{call}\n").as_bytes()).unwrap();
        }
        input
    });
    let (mut ran, mut refused) = (0, 0);
    while ran + refused < MANY {
        let answer = raw.until(|said| said["id"].as_str().is_some_and(|id| id.starts_with('n')));
        let result = &answer["result"];
        if result["isError"] == true {
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.starts_with("too_many_calls"), "{answer}");
            refused += 1;
        } else {
            assert_eq!(result["structuredContent"]["exitCode"], 0, "{answer}");
            ran += 1;
        }
    }
    raw.input = Some(writer.join().unwrap());
    raw.serves();
    assert!(ran >= 1024, "{ran} ran, {refused} were refused");
    assert!(
        peak_memory(&raw.child) < MEMORY,
        "{}",
        peak_memory(&raw.child)
    );
}

#[test]
fn a_client_that_disappears_while_it_is_asked() {
    let place = Place::new();
    let flags = ["--approval", "unless-trusted"];
    let mut raw = Raw::greeted(&place, &flags, &json!({"elicitation": {}}));
    raw.call("asks", "echo x > not-there");
    let question = raw.until(|said| said["method"] == "elicitation/create");
    assert!(
        question["params"]["message"]
            .as_str()
            .unwrap()
            .contains("echo x > not-there")
    );
    drop(raw.input.take());
    let status = raw.child.wait().unwrap();
    assert!(status.success(), "{status}");
    assert!(!exists(&place.work().join("not-there")));
}

/// What a server over HTTP answers.
struct Answer {
    status: u16,
    text: String,
}

fn send(server: &HttpServer, head: &str, body: &[u8]) -> Answer {
    let mut stream = connect(server);
    stream.write_all(head.as_bytes()).unwrap();
    // A server that has seen enough does not read on.
    let _ = stream.write_all(body);
    read(&mut stream)
}

fn connect(server: &HttpServer) -> TcpStream {
    let at = server
        .url
        .trim_start_matches("http://")
        .trim_end_matches("/mcp");
    let stream = TcpStream::connect(at).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream
}

fn read(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // What is left unread of a refused body resets the connection after the answer.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let status = text
        .split_whitespace()
        .nth(1)
        .and_then(|word| word.parse().ok());
    Answer {
        status: status.unwrap_or_else(|| panic!("no answer: {text:?}")),
        text,
    }
}

fn head(server: &HttpServer, changed: &[(&str, &str)], length: usize) -> String {
    let at = server
        .url
        .trim_start_matches("http://")
        .trim_end_matches("/mcp");
    let bearer = format!("Bearer {TOKEN}");
    let mut headers = vec![
        ("Host", at),
        ("Authorization", &bearer),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
        ("Connection", "close"),
    ];
    for (name, value) in changed {
        headers.retain(|(known, _)| known != name);
        if !value.is_empty() {
            headers.push((name, value));
        }
    }
    let lines: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    let lines = lines.join("\r\n");
    format!("POST /mcp HTTP/1.1\r\n{lines}\r\nContent-Length: {length}\r\n\r\n")
}

fn listing() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }}})
}

fn serves(server: &HttpServer) {
    let body = listing().to_string();
    let answer = send(server, &head(server, &[], body.len()), body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(answer.text.contains("\"bash\""), "{}", answer.text);
}

#[test]
fn who_is_not_let_in() {
    let place = Place::new();
    let server = HttpServer::start(&place, &[]);
    serves(&server);
    let cases: &[(&[(&str, &str)], u16)] = &[
        (&[("Authorization", "")], 401),
        (&[("Authorization", "Bearer wrong")], 401),
        (&[("Origin", "https://evil.example")], 403),
        (&[("Origin", "null")], 403),
        (&[("Host", "evil.example")], 403),
        (&[("Host", "localhost.evil.example:80")], 403),
        (&[("Host", "")], 403),
    ];
    let body = listing().to_string();
    for (changed, expected) in cases {
        let answer = send(
            &server,
            &head(&server, changed, body.len()),
            body.as_bytes(),
        );
        assert_eq!(answer.status, *expected, "{changed:?}: {}", answer.text);
        assert!(!answer.text.contains("\"bash\""), "{}", answer.text);
    }
    serves(&server);
}

#[test]
fn bodies_that_are_no_messages() {
    let place = Place::new();
    let server = HttpServer::start(&place, &[]);
    for body in [
        "",
        "not json",
        "[]",
        "42",
        "{}",
        "{\"jsonrpc\":\"2.0\",\"id\":1}",
    ] {
        let answer = send(&server, &head(&server, &[], body.len()), body.as_bytes());
        assert!(
            (400..500).contains(&answer.status),
            "{body}: {}",
            answer.text
        );
        serves(&server);
    }
    // Half of a request, and then nothing.
    let mut stream = connect(&server);
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: x").unwrap();
    drop(stream);
    serves(&server);
}

#[test]
fn a_hundred_megabytes_in_a_body() {
    let place = Place::new();
    let server = HttpServer::start(&place, &[]);
    let body = vec![b'a'; 100 << 20];
    let answer = send(&server, &head(&server, &[], body.len()), &body);
    assert_eq!(answer.status, 413, "{}", answer.text);
    // Somebody without the token does not even get that far.
    let stranger = head(&server, &[("Authorization", "Bearer wrong")], body.len());
    let answer = send(&server, &stranger, &body);
    assert_eq!(answer.status, 401, "{}", answer.text);
    serves(&server);
    let memory = peak_memory(&server.child);
    assert!(memory < MEMORY, "{memory}");
}
