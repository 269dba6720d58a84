//! `ringfence session`: JSON lines in and out.

#![allow(clippy::unwrap_used)]

mod program;

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use program::Place;
use ringfence_testkit::processes::gone_within_a_second;
use serde_json::{Value, json};

/// A session as a program in another language would have one.
struct Session {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Session {
    fn start(place: &Place, flags: &[&str]) -> Self {
        let mut arguments = vec!["session"];
        arguments.extend(flags);
        let mut child = place
            .ringfence(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    fn say(&mut self, line: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn ask(&mut self, id: u64, tool: &str, arguments: &Value) {
        self.say(&json!({"id": id, "tool": tool, "arguments": arguments}));
    }

    fn hear(&mut self) -> Value {
        serde_json::from_str(&self.output.next().unwrap().unwrap()).unwrap()
    }
}

#[test]
fn what_one_call_starts_the_next_one_finds() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--approve", "all"]);
    session.ask(1, "exec_command", &json!({"command": ["bash", "--norc", "-i"], "tty": true, "process_id": "1001", "yield_time_ms": 300}));
    assert_eq!(session.hear()["reply"]["process_id"], "1001");
    for (id, input, until) in [
        (2, "export FOO=bar\n", "FOO"),
        (3, "echo .$FOO.\n", "\\.bar\\."),
    ] {
        let arguments = json!({"process_id": "1001", "input": input, "pattern": until, "yield_time_ms": 20_000});
        session.ask(id, "write_stdin", &arguments);
        let answer = session.hear();
        assert_eq!(answer["id"], id, "{answer:#}");
        assert_eq!(answer["reply"]["process_id"], "1001");
        if id == 3 {
            assert!(
                answer["reply"]["output"]
                    .as_str()
                    .unwrap()
                    .contains(".bar."),
                "{answer:#}"
            );
        }
    }
    drop(session.input.take());
    assert_eq!(session.child.wait().unwrap().code(), Some(0));
}

#[test]
fn calls_run_at_once_and_can_be_cancelled() {
    let place = Place::new();
    let mut session = Session::start(&place, &[]);
    session.ask(
        1,
        "shell",
        &json!({"command": ["sleep", "100"], "timeout_ms": 200_000}),
    );
    session.ask(1, "shell", &json!({"command": ["true"]}));
    assert_eq!(session.hear()["error"]["code"], "id_in_use");
    session.ask(2, "shell", &json!({"command": ["echo", "quick"]}));
    let quick = session.hear();
    assert_eq!(
        (&quick["id"], &quick["reply"]["stdout"]["text"]),
        (&json!(2), &json!("quick\n"))
    );
    session.say(&json!({"cancel": 1}));
    let cancelled = session.hear();
    match &cancelled["reply"]["exit_code"] {
        // Before its command had started.
        Value::Null => assert_eq!(cancelled["error"]["code"], "cancelled", "{cancelled:#}"),
        code => assert_eq!(*code, 137, "{cancelled:#}"),
    }
    assert_eq!(cancelled["id"], 1);
}

#[test]
fn a_bad_line_is_told_and_the_session_goes_on() {
    let place = Place::new();
    let mut session = Session::start(&place, &[]);
    for line in [
        "nonsense",
        "[1]",
        "{\"id\": 1}",
        "{\"id\": 1, \"tool\": \"bash\", \"argments\": {}}",
    ] {
        writeln!(session.input.as_mut().unwrap(), "{line}").unwrap();
        assert_eq!(session.hear()["error"]["code"], "bad_line", "{line}");
    }
    session.ask(2, "no_such", &json!({}));
    let answer = session.hear();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(2), &json!("unknown_tool"))
    );
}

#[test]
fn events_are_told_while_a_call_runs() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--events"]);
    session.ask(7, "shell", &json!({"command": ["echo", "hello"]}));
    let mut told = Vec::new();
    loop {
        let line = session.hear();
        assert_eq!(line["id"], 7);
        if line["reply"].is_object() {
            break;
        }
        told.push(line["event"].clone());
    }
    let kinds: Vec<&str> = told
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["begin", "output", "end"]);
    assert_eq!(
        (&told[1]["stream"], &told[1]["text"]),
        (&json!("stdout"), &json!("hello\n"))
    );
}

#[test]
fn a_client_that_stops_reading_ends_everything() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--events"]);
    session.ask(
        1,
        "bash",
        &json!({"command": "sleep 86392", "run_in_background": true}),
    );
    while session.hear()["reply"].is_null() {}
    // Nobody listens any more, but the input stays open.
    let Session {
        mut child,
        input,
        output,
    } = session;
    drop(output);
    writeln!(
        input.as_ref().unwrap(),
        "{}",
        json!({"id": 2, "tool": "shell", "arguments": {"command": ["true"]}})
    )
    .unwrap();
    child.wait().unwrap();
    gone_within_a_second("sleep 86392").unwrap();
}

/// Each command has its own process numbers: whoever kills one that a reply named is told the task, others are not.
#[test]
fn who_kills_what_another_command_left_running_is_told_its_task() {
    let place = Place::new();
    let mut session = Session::start(&place, &["--approve", "all"]);
    // Numbers that no process of a short command has.
    let leaves = "for i in $(seq 50); do /bin/true; done; sleep 86395 & echo";
    session.ask(1, "bash", &json!({"command": leaves}));
    let left = session.hear()["reply"].clone();
    let task = left["backgroundTaskId"].as_str().unwrap().to_owned();
    let pid = left["background_processes"][0]["pid"].as_i64().unwrap();
    let calls = [
        (format!("kill {pid}"), true),
        (format!("/bin/kill -9 {pid}"), true),
        (format!("kill {}", pid + 1), false),
        (format!("echo no process {pid}; exit 1"), false),
        (format!("kill {pid} || true"), false),
    ];
    for (id, (command, told)) in (2..).zip(&calls) {
        session.ask(id, "bash", &json!({"command": command}));
        let reply = session.hear()["reply"].clone();
        let said = reply["to_stop_them"].as_str().unwrap_or_default();
        let handle = format!("`bash_task_stop` with the task id `{task}`;");
        assert_eq!(said.starts_with(&handle), *told, "{command}: {reply:#}");
        assert_eq!(said.is_empty(), !*told, "{command}: {reply:#}");
    }
    session.ask(20, "bash_task_stop", &json!({"taskId": task}));
    assert_eq!(session.hear()["reply"]["status"], "cancelled");
    session.ask(21, "bash", &json!({"command": format!("kill {pid}")}));
    let reply = session.hear()["reply"].clone();
    assert_eq!(reply["to_stop_them"], Value::Null, "{reply:#}");
    drop(session.input.take());
    session.child.wait().unwrap();
}
