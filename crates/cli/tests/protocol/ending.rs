//! How a session ends, and what ends with it.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, code};
use ringfence_testkit::processes::gone_within_a_second;

use crate::program::Place;

fn background(client: &mut Client, id: u64, seconds: &str) {
    let command = format!("sleep {seconds}");
    let reply = client.called(
        id,
        "bash",
        &json!({"command": command, "run_in_background": true}),
    );
    assert!(
        reply["result"]["reply"]["backgroundTaskId"].is_string(),
        "{reply}"
    );
}

#[test]
fn the_end_of_input_kills_what_runs_and_says_so() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    background(&mut client, 1, "86375");
    client.call(2, "bash", &json!({"command": "echo on; sleep 86376"}));
    client.until(|line| line["params"]["text"] == "on\n");
    let (mut rest, exit) = client.end();
    let closed = rest.pop().unwrap();
    assert_eq!(closed["method"], "closed", "{closed}");
    assert_eq!(closed["params"]["reason"], "end_of_input");
    assert_eq!(closed["params"]["cancelled"], json!([2]));
    assert_eq!(
        closed["params"]["ended"][0]["command"], "sleep 86375",
        "{closed}"
    );
    let answer = rest.iter().find(|line| line["id"] == 2).unwrap();
    assert_eq!(answer["result"]["reply"]["exitCode"], 137, "{answer}");
    assert_eq!(exit, Some(0));
    for sleep in ["sleep 86375", "sleep 86376"] {
        gone_within_a_second(sleep).unwrap();
    }
}

#[test]
fn a_shutdown_waits_as_long_as_it_was_told_and_takes_no_more_calls() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    client.call(
        1,
        "bash",
        &json!({"command": "mkfifo gate; echo on; cat gate"}),
    );
    client.until(|line| line["params"]["text"] == "on\n");
    client.request(2, "shutdown", &json!({"wait_ms": 60_000}));
    client.call(3, "bash", &json!({"command": "true"}));
    assert_eq!(code(&client.reply(3)), "shutting_down");
    client.request(4, "shutdown", &json!({}));
    assert_eq!(code(&client.reply(4)), "shutting_down");
    std::fs::write(place.work().join("gate"), "through\n").unwrap();
    let reply = client.reply(1);
    assert_eq!(reply["result"]["reply"]["exitCode"], 0, "{reply}");
    let farewell = client.reply(2);
    assert_eq!(farewell["result"], json!({"cancelled": [], "ended": []}));
    assert_eq!(client.told("closed")["params"]["reason"], "shutdown");
    assert!(client.next().is_none(), "nothing follows");
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_shutdown_at_once_cancels_and_answers() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "on-request"}));
    client.call(1, "bash", &json!({"command": "python3 -c 'print(1)'"}));
    client.told("question");
    client.request(2, "shutdown", &json!({}));
    let farewell = client.reply(2);
    assert_eq!(farewell["result"]["cancelled"], json!([1]), "{farewell}");
    assert_eq!(code(&client.reply(1)), "cancelled");
    assert!(
        client
            .heard
            .iter()
            .any(|line| line["method"] == "question_withdrawn")
    );
}

#[test]
fn a_signal_ends_it_like_that() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    client.call(1, "bash", &json!({"command": "echo on; sleep 86377"}));
    client.until(|line| line["params"]["text"] == "on\n");
    let id = client.child.id().to_string();
    Command::new("kill").args(["-TERM", &id]).status().unwrap();
    assert_eq!(client.reply(1)["result"]["reply"]["exitCode"], 137);
    assert_eq!(client.told("closed")["params"]["reason"], "stopped");
    assert_eq!(client.child.wait().unwrap().code(), Some(137));
    gone_within_a_second("sleep 86377").unwrap();
}

#[test]
fn a_session_that_was_never_opened_ends_too() {
    let place = Place::new();
    for first in [
        "",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools\"}",
    ] {
        let mut client = Client::start(&place, &["--protocol", "jsonrpc"]);
        client.line(first);
        let (rest, exit) = client.end();
        assert_eq!(
            rest.last().unwrap()["method"],
            "closed",
            "{first}: {rest:?}"
        );
        assert_eq!(exit, Some(0), "{first}");
    }
}

#[test]
fn a_client_that_stops_reading_ends_everything() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let place = Place::new();
    let mut child = place
        .ringfence(&["session"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut say = |message: Value| writeln!(input, "{message}").unwrap();
    say(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocol_version": 1, "client": {"name": "test"}}}),
    );
    say(
        json!({"jsonrpc": "2.0", "id": 1, "method": "call", "params": {"tool": "bash", "arguments": {"command": "sleep 86378", "run_in_background": true}}}),
    );
    loop {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if line["id"] == 1 {
            break;
        }
    }
    // Nobody listens any more, but the input stays open.
    drop(lines);
    say(json!({"jsonrpc": "2.0", "id": 2, "method": "tools"}));
    assert_eq!(child.wait().unwrap().code(), Some(1));
    gone_within_a_second("sleep 86378").unwrap();
}
