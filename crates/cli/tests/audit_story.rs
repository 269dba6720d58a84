//! The audit log of a whole session, as `ringfence audit show` tells it.

#![allow(clippy::unwrap_used)]

mod program;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use program::Place;
use serde_json::{Value, json};

/// Makes calls one after the other in one session, each with what the ones before have replied.
fn session(place: &Place, flags: &[&str], calls: &[&dyn Fn(&[Value]) -> Value]) -> Vec<Value> {
    let mut arguments = vec!["session"];
    arguments.extend(flags);
    let mut child = place
        .ringfence(&arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut replies = Vec::new();
    for call in calls {
        let mut call = call(&replies);
        call["id"] = json!(replies.len());
        writeln!(input, "{call}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        replies.push(serde_json::from_str(&line).unwrap());
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    replies
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"tool": tool, "arguments": arguments})
}

/// Lines without what differs from run to run: times, numbers of milliseconds, folders and ids.
fn settled(place: &Place, shown: &str) -> Vec<String> {
    let shown = shown.replace(&place.work().display().to_string(), "WORK");
    let masked = |word: &str| {
        let id = ["ses_", "scr_", "task_"]
            .iter()
            .find(|start| word.trim_start_matches('(').starts_with(*start));
        match id {
            Some(start) if word.starts_with('(') => format!("({start}…"),
            Some(start) => format!("{start}…"),
            None => word.to_owned(),
        }
    };
    let line = |line: &str| {
        let mut words: Vec<String> = line.split(' ').skip(1).map(masked).collect();
        for at in 1..words.len() {
            if words[at].starts_with("ms") {
                words[at - 1] = "N".to_owned();
            }
        }
        words.join(" ")
    };
    shown.lines().map(line).collect()
}

#[test]
fn a_session_reads_as_a_story() {
    let place = Place::new();
    std::fs::write(place.work().join("note.txt"), "one\n").unwrap();
    let patch = "*** Begin Patch\n*** Update File: note.txt\n@@\n-one\n+two\n*** End Patch";
    let script = "const a = await tools.exec({ command: ['echo', 'first'] })\n\
                  const b = await tools.exec({ command: ['false'] })\n\
                  return [a.exitCode, b.exitCode]";
    let pty = json!({"command": ["cat"], "tty": true, "process_id": "p", "yield_time_ms": 0});
    let typed = json!({"process_id": "p", "input": "export TOKEN=ghp_0123456789abcdefghij0123456789abcdef\n",
        "wait_for": "output", "yield_time_ms": 20_000});
    let closed = json!({"process_id": "p", "close": true, "yield_time_ms": 20_000});
    let background = json!({"command": "sleep 86377", "run_in_background": true});
    let replies = session(
        &place,
        &["--approve", "all"],
        &[
            &|_| call("shell", &json!({"command": ["echo", "hello"]})),
            &|_| call("shell", &json!({"command": ["chmod", "-R", "777", "."]})),
            &|_| call("exec_command", &pty),
            &|_| call("write_stdin", &typed),
            &|_| call("write_stdin", &closed),
            &|_| call("bash", &background),
            &|replies| {
                let task = &replies[5]["reply"]["backgroundTaskId"];
                call("bash_task_stop", &json!({"taskId": task}))
            },
            &|_| call("apply_patch", &json!({"patch": patch})),
            &|_| call("file_search", &json!({"query": "note"})),
            &|_| call("run_code", &json!({"source": "export default 6 * 7"})),
            &|_| call("run_script", &json!({"source": script})),
        ],
    );
    for reply in &replies {
        assert!(reply.get("error").is_none(), "{reply:#}");
    }
    assert_eq!(replies[0]["reply"]["sandbox"], "native", "{:#}", replies[0]);
    let shown = place.output(&["audit", "show"]);
    let story = settled(&place, &shown.stdout);
    for line in &story {
        println!("{line}");
    }
    panic!("look");
}
