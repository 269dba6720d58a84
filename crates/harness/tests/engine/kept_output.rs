//! Output of commands that live on: its file, what is new of it, and how they end.

use ringfence::Engine;
use ringfence_testkit::home::TestHome;
use serde_json::{Value, json};

use crate::support::Case;
use crate::support::opening::Opening;

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![
        a_file_that_is_cut_says_so,
        a_running_task_has_its_file,
        a_task_is_asked_to_end_before_it_is_killed,
        a_time_out_holds_in_the_background_too,
        what_was_printed_before_the_keys_is_no_answer_to_them,
        a_command_has_a_terminal_unless_told_otherwise_and_is_returned_to_by_its_id,
    ]
}

fn opening(home: &TestHome) -> Opening {
    Opening {
        scratch: Some(home.path().join("outputs").join("own")),
        ..Opening::default()
    }
}

fn engine(home: &TestHome) -> Engine {
    opening(home).engine(home, &home.work())
}

async fn call(engine: &Engine, tool: &str, arguments: Value) -> Value {
    engine.call(tool, arguments).await.unwrap()
}

async fn a_file_that_is_cut_says_so() {
    let home = TestHome::new();
    let mut opening = opening(&home);
    opening.config.output.spill_cap_bytes = 1000;
    let engine = opening.engine(&home, &home.work());
    let reply = call(&engine, "bash", json!({"command": "seq 1 20000"})).await;
    assert_eq!(reply["rawOutputCut"], true, "{reply:#}");
    let summary = reply["summary"].as_str().unwrap();
    assert!(summary.contains("the beginning of it is in"), "{summary}");
}

async fn a_running_task_has_its_file() {
    let home = TestHome::new();
    let engine = engine(&home);
    let command = "seq 1 20000; echo ready >&2; sleep 100";
    let started = json!({"command": command, "run_in_background": true});
    let task = call(&engine, "bash", started).await["backgroundTaskId"].clone();
    // The pattern is found on standard error as well.
    let wait = json!({"taskId": task, "waitMs": 20_000, "pattern": "ready"});
    let running = call(&engine, "bash_task_output", wait).await;
    assert_eq!(running["status"], "running", "{running:#}");
    let file = std::fs::read_to_string(running["rawOutputPath"].as_str().unwrap()).unwrap();
    assert!(file.contains("\n20000\n"), "{running:#}");
    call(&engine, "bash_task_stop", json!({"taskId": task})).await;
}

async fn a_task_is_asked_to_end_before_it_is_killed() {
    let home = TestHome::new();
    let mut opening = opening(&home);
    opening.config.process.stop_grace = std::time::Duration::from_millis(200);
    let engine = opening.engine(&home, &home.work());
    for (command, said) in [
        (
            "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done",
            "bye\n",
        ),
        ("trap '' TERM; echo up; while :; do sleep 0.05; done", ""),
    ] {
        let started = json!({"command": command, "run_in_background": true});
        let task = call(&engine, "bash", started).await["backgroundTaskId"].clone();
        let wait = json!({"taskId": task, "waitMs": 20_000, "pattern": "up"});
        call(&engine, "bash_task_output", wait).await;
        let stopped = call(&engine, "bash_task_stop", json!({"taskId": task})).await;
        assert_eq!(
            (&stopped["stdout"], &stopped["status"]),
            (&json!(said), &json!("cancelled")),
            "{stopped:#}"
        );
    }
}

async fn a_time_out_holds_in_the_background_too() {
    let home = TestHome::new();
    let engine = engine(&home);
    let started =
        json!({"command": "echo up; sleep 100", "run_in_background": true, "timeout": 300});
    let task = call(&engine, "bash", started).await["backgroundTaskId"].clone();
    let wait = json!({"taskId": task, "waitMs": 20_000});
    let ended = call(&engine, "bash_task_output", wait).await;
    assert_eq!(
        (&ended["exitCode"], &ended["status"]),
        (&json!(124), &json!("failed")),
        "{ended:#}"
    );
}

async fn what_was_printed_before_the_keys_is_no_answer_to_them() {
    let home = TestHome::new();
    let engine = engine(&home);
    let script =
        "stty -echo; mkfifo on; echo first; read a; read x < on; echo second $a; read b; sleep 100";
    for tty in [true, false] {
        let _ = std::fs::remove_file(home.work().join("on"));
        let command = if tty {
            script
        } else {
            &script["stty -echo; ".len()..]
        };
        let start = json!({"command": ["sh", "-c", command], "tty": tty, "pattern": "first", "yield_time_ms": 20_000});
        let id = call(&engine, "exec_command", start).await["process_id"].clone();
        let line = json!({"process_id": id, "input": "one\n", "yield_time_ms": 0});
        call(&engine, "write_stdin", line).await;
        let fifo = home.work().join("on");
        let go = tokio::task::spawn_blocking(move || std::fs::write(fifo, "\n"));
        let line = json!({"process_id": id, "input": "two\n", "wait_for": "output", "yield_time_ms": 20_000});
        let reply = call(&engine, "write_stdin", line).await;
        assert!(
            reply["output"].as_str().unwrap().contains("second one"),
            "{reply:#}"
        );
        go.await.unwrap().unwrap();
    }
}

async fn a_command_has_a_terminal_unless_told_otherwise_and_is_returned_to_by_its_id() {
    let home = TestHome::new();
    let engine = engine(&home);
    let asks = |extra: Value| {
        let mut arguments =
            json!({"command": ["sh", "-c", "test -t 0 && echo terminal $TERM || echo pipe $TERM"]});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        arguments
    };
    let on_terminal = call(&engine, "exec_command", asks(json!({}))).await;
    assert_eq!(
        on_terminal["output"], "terminal xterm-256color\r\n",
        "{on_terminal:#}"
    );
    let on_pipes = call(&engine, "exec_command", asks(json!({"tty": false}))).await;
    assert_eq!(on_pipes["output"], "pipe dumb\n", "{on_pipes:#}");
    let start = json!({"command": ["sh", "-c", "echo once; sleep 100"], "process_id": "7", "pattern": "once", "yield_time_ms": 20_000});
    let first = call(&engine, "exec_command", start.clone()).await;
    assert_eq!(first["process_id"], "7", "{first:#}");
    let again = json!({"command": ["false"], "process_id": "7", "yield_time_ms": 0});
    let returned = call(&engine, "exec_command", again).await;
    assert_eq!(
        (&returned["process_id"], &returned["exit_code"]),
        (&json!("7"), &Value::Null)
    );
    let warning = returned["warning"].as_str().unwrap();
    assert!(warning.contains("nothing was started"), "{warning}");
}
