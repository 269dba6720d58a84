//! Calls: many at once, cancelled, moved, and told of while they run.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::client::{Client, code};
use ringfence_testkit::processes::gone_within_a_second;

use crate::program::Place;

#[test]
fn ten_thousand_requests_at_once_are_each_answered_once() {
    const MANY: u64 = 10_000;
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    // Nothing is read before all is said.
    for id in 0..MANY {
        match id % 100 {
            0 => client.call(id, "shell", &json!({"command": ["echo", id.to_string()]})),
            1 => client.request(id, "no/such", &json!({})),
            2 => client.request(id, "cancel", &json!({"id": id})),
            _ => client.call(id, "bash_task_list", &json!({})),
        }
    }
    let mut answers: HashMap<u64, Value> = HashMap::new();
    while answers.len() < usize::try_from(MANY).unwrap() {
        let line = client.next().unwrap();
        if line.get("method").is_none() {
            let id = line["id"].as_u64().unwrap();
            assert!(
                answers.insert(id, line).is_none(),
                "{id} was answered twice"
            );
        }
    }
    for (id, answer) in &answers {
        let well = match id % 100 {
            0 => answer["result"]["reply"]["stdout"]["text"] == format!("{id}\n"),
            1 => answer["error"]["code"] == -32601,
            2 => answer["result"]["found"] == false,
            _ => answer["result"]["reply"]["tasks"].is_array(),
        };
        assert!(well, "{id}: {answer}");
    }
}

#[test]
fn a_cancel_that_races_leaves_one_answer() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    for id in 0..40_u64 {
        client.call(id, "shell", &json!({"command": ["true"]}));
        if id % 2 == 0 {
            client.notify("cancel", &json!({"id": id}));
        } else {
            client.request(format!("c{id}"), "cancel", &json!({"id": id}));
            assert!(client.reply(format!("c{id}"))["result"]["found"].is_boolean());
        }
        client.notify("cancel", &json!({"id": id}));
    }
    for id in 0..40_u64 {
        let answer = client.reply(id);
        let ran = answer["result"]["reply"]["exit_code"].as_i64();
        assert!(
            matches!(ran, Some(0 | 137)) || code(&answer) == "cancelled",
            "{answer}"
        );
    }
    client.is_well();
    assert!(
        client.heard.iter().all(|line| line.get("method").is_some()),
        "{:?}",
        client.heard
    );
}

#[test]
fn what_is_cancelled_ends() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    let forever = [
        ("bash", json!({"command": "echo on; sleep 86372"})),
        (
            "run_code",
            json!({"source": "console.log('on'); for (;;) {}", "timeout_ms": 500_000}),
        ),
        (
            "run_script",
            json!({"source": "console.log('on'); return await tools.exec({command: ['sleep', '86372']})"}),
        ),
    ];
    for (id, (tool, arguments)) in (0_u64..).zip(forever) {
        client.call(id, tool, &arguments);
        client.until(|line| {
            let params = &line["params"];
            params["text"]
                .as_str()
                .is_some_and(|text| text.starts_with("on"))
                || params["args"][0] == "on"
        });
        client.request("c", "cancel", &json!({"id": id}));
        assert_eq!(client.reply("c")["result"]["found"], true);
        let answer = client.reply(id).to_string();
        let told = ["137", "cancelled", "terminated", "Cancel"]
            .iter()
            .any(|word| answer.contains(word));
        assert!(told, "{tool}: {answer}");
    }
    gone_within_a_second("sleep 86372").unwrap();
}

#[test]
fn a_command_moves_to_the_background() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    client.call(1, "bash", &json!({"command": "echo on; sleep 86373"}));
    client.until(|line| line["params"]["text"] == "on\n");
    client.request(2, "background", &json!({"id": 1}));
    assert_eq!(client.reply(2)["result"]["found"], true);
    let moved = client.reply(1);
    let task = moved["result"]["reply"]["backgroundTaskId"].clone();
    assert!(task.is_string(), "{moved}");
    let stopped = client.called(3, "bash_task_stop", &json!({"taskId": task}));
    assert_eq!(
        stopped["result"]["reply"]["status"], "cancelled",
        "{stopped}"
    );
    // Its end is told with the id of the call that started it.
    let ended = client.until(|line| line["params"]["type"] == "ended");
    assert_eq!(ended["params"]["id"], 1);
}

#[test]
fn events_have_one_set_of_names() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    let reply = client.called(1, "bash", &json!({"command": "echo out; echo err >&2"}));
    let mut told: Vec<Value> = client
        .heard
        .iter()
        .map(|line| line["params"].clone())
        .collect();
    for event in &mut told {
        let call = event.as_object_mut().unwrap().remove("call");
        assert_eq!(call.as_ref(), Some(&reply["result"]["call"]), "{event}");
        if event.get("duration_ms").is_some() {
            event["duration_ms"] = json!(0);
        }
    }
    told[1..3].sort_by_key(|event| event["stream"].to_string());
    let work = place.work();
    let expected = json!([
        {"id": 1, "type": "begin", "tool": "bash", "command": "echo out; echo err >&2", "cwd": work},
        {"id": 1, "type": "output", "stream": "stderr", "text": "err\n"},
        {"id": 1, "type": "output", "stream": "stdout", "text": "out\n"},
        {"id": 1, "type": "end", "exit_code": 0, "duration_ms": 0, "outcome": "ok", "error": null},
    ]);
    assert_eq!(Value::Array(told), expected);
}

#[test]
fn the_calls_of_a_script_are_told_under_its_id() {
    let place = Place::new();
    let mut client = Client::open(&place, &json!({"approval": "never"}));
    let source = "console.warn('careful'); await tools.exec({ command: ['true'] }); return 1";
    let reply = client.called(1, "run_script", &json!({ "source": source }));
    let script = &reply["result"]["call"];
    let told: Vec<&Value> = client.heard.iter().map(|line| &line["params"]).collect();
    assert!(told.iter().all(|event| event["id"] == 1), "{told:?}");
    let fields = ["type", "tool", "phase", "level", "outcome"];
    let of = |is_script: bool| -> Vec<Vec<&str>> {
        let chosen = told
            .iter()
            .filter(|event| (event["call"] == *script) == is_script);
        chosen
            .map(|event| {
                fields
                    .iter()
                    .filter_map(|field| event[*field].as_str())
                    .collect()
            })
            .collect()
    };
    let expected = [
        &["begin", "run_script", "script_started"][..],
        &["said", "warn"],
        &["end", "script_completed", "ok"],
    ];
    assert_eq!(of(true), expected, "{told:?}");
    assert_eq!(
        of(false),
        [&["begin", "exec"][..], &["end", "ok"]],
        "{told:?}"
    );
    let inner = told.iter().find(|event| event["tool"] == "exec").unwrap();
    assert_eq!(inner["parent"], *script);
}

#[test]
fn a_client_that_wants_no_events_has_none() {
    let place = Place::new();
    let mut client = Client::start(&place, &[]);
    let params = json!({"protocol_version": 1, "client": {"name": "test"}, "capabilities": {"events": false}});
    client.request(0, "initialize", &params);
    client.reply(0);
    client.called(1, "bash", &json!({"command": "echo out"}));
    assert!(client.heard.is_empty(), "{:?}", client.heard);
}

/// More than the pipe and the events that wait can hold.
const FLOOD: &str = "head -c 40000000 /dev/zero | tr '\\0' 'x' | fold -w 200";

#[test]
fn events_are_dropped_for_a_client_that_does_not_read_and_replies_are_not() {
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
    let mut say = |id: u64, method: &str, params: Value| {
        writeln!(
            input,
            "{}",
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        )
        .unwrap();
    };
    let options = json!({"approval": "never"});
    say(
        0,
        "initialize",
        json!({"protocol_version": 1, "client": {"name": "test"}, "options": options}),
    );
    let done = place.work().join("done");
    let flood = format!("{FLOOD}; mkfifo done; cat done");
    say(
        1,
        "call",
        json!({"tool": "bash", "arguments": {"command": flood}}),
    );
    // Nothing is read until all of it has been printed.
    while !done.exists() {
        std::thread::yield_now();
    }
    say(
        2,
        "call",
        json!({"tool": "bash", "arguments": {"command": "echo > done; echo released"}}),
    );
    let (mut dropped, mut events, mut replies) = (0, 0, Vec::new());
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match line["method"].as_str() {
            Some("events_dropped") => dropped += line["params"]["count"].as_u64().unwrap(),
            Some("event") => events += 1,
            Some(other) => panic!("{other}: {line}"),
            None => replies.push(line["id"].as_u64().unwrap()),
        }
        if replies.len() == 3 {
            break;
        }
    }
    replies.sort_unstable();
    assert_eq!(replies, [0, 1, 2]);
    assert!(
        dropped > 100 && events > 0,
        "{dropped} dropped, {events} told"
    );
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
