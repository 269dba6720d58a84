//! Background tasks: started, watched, stopped, and what becomes of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringfence::config::{Config, OnTimeout};
use ringfence::event::Event;
use ringfence::{Engine, Latch};
use ringfence_testkit::home::TestHome;
use ringfence_testkit::processes::gone_within_a_second;
use serde_json::{Value, json};

use crate::support::Case;
use crate::support::opening::{Opening, code};

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![
        a_task_is_followed_to_its_end,
        a_wait_ends_at_output_or_at_a_pattern,
        only_lines_that_match_come_through_a_filter,
        a_stopped_task_takes_its_children_along,
        there_are_only_so_many_and_they_are_listed,
        an_ended_task_is_forgotten_after_its_time,
        what_takes_too_long_goes_on_in_the_background_where_configured,
        whoever_watches_can_move_a_long_command,
        what_a_command_leaves_running_becomes_a_task,
        a_command_that_falls_silent_is_stopped_where_configured,
    ]
}

fn engine(home: &TestHome) -> Engine {
    Opening::default().engine(home, &home.work())
}

fn configured(home: &TestHome, change: impl FnOnce(&mut Config)) -> Engine {
    let mut opening = Opening::default();
    change(&mut opening.config);
    opening.engine(home, &home.work())
}

async fn call(engine: &Engine, tool: &str, arguments: Value) -> Value {
    engine.call(tool, arguments).await.unwrap()
}

/// Starts a task and gives its id.
async fn start(engine: &Engine, command: &str) -> String {
    let arguments = json!({"command": command, "run_in_background": true});
    let reply = call(engine, "bash", arguments).await;
    assert_eq!(reply["status"], "running", "{reply:#}");
    reply["backgroundTaskId"].as_str().unwrap().to_owned()
}

/// Waits for a task's end.
async fn end(engine: &Engine, task: &str) -> Value {
    let arguments = json!({"taskId": task, "waitMs": 20_000});
    call(engine, "bash_task_output", arguments).await
}

async fn a_task_is_followed_to_its_end() {
    let home = TestHome::new();
    let engine = engine(&home);
    for (command, status, exit_code, stdout, stderr) in [
        ("echo out; echo err >&2", "completed", 0, "out\n", "err\n"),
        ("echo sorry; exit 3", "failed", 3, "sorry\n", ""),
    ] {
        let task = start(&engine, command).await;
        let reply = end(&engine, &task).await;
        assert_eq!(reply["status"], status, "{reply:#}");
        assert_eq!(reply["exitCode"], exit_code);
        assert_eq!(
            (&reply["stdout"], &reply["stderr"]),
            (&json!(stdout), &json!(stderr))
        );
        // What was fetched is not there again; how it ended is.
        let again = end(&engine, &task).await;
        assert_eq!(
            (&again["stdout"], &again["status"]),
            (&json!(""), &json!(status))
        );
    }
}

async fn a_wait_ends_at_output_or_at_a_pattern() {
    let home = TestHome::new();
    let engine = engine(&home);
    // Two of them: one that is still open for its writer would be read to its end a second time.
    let fifo = "mkfifo go on; echo one; read x < go; echo two; read x < on; echo three; sleep 100";
    let task = start(&engine, fifo).await;
    let wait = |field: &str, value: &str| json!({"taskId": task, "waitMs": 20_000, field: value});
    let first = call(&engine, "bash_task_output", wait("waitFor", "output")).await;
    assert_eq!(first["stdout"], "one\n", "{first:#}");
    let tell = |fifo: &str| std::fs::write(home.work().join(fifo), "\n").unwrap();
    let (second, ()) = tokio::join!(
        call(&engine, "bash_task_output", wait("pattern", "^tw.$")),
        async { tell("go") }
    );
    assert_eq!(second["stdout"], "two\n", "{second:#}");
    tell("on");
    let third = call(&engine, "bash_task_output", wait("waitFor", "output")).await;
    assert_eq!(
        (&third["stdout"], &third["status"]),
        (&json!("three\n"), &json!("running"))
    );
    let stopped = call(&engine, "bash_task_stop", json!({"taskId": task})).await;
    assert_eq!(stopped["status"], "cancelled", "{stopped:#}");
    assert_eq!(stopped["exitCode"], 137);
}

async fn only_lines_that_match_come_through_a_filter() {
    let home = TestHome::new();
    let engine = engine(&home);
    let task = start(&engine, "seq 1 30").await;
    let arguments = json!({"taskId": task, "waitMs": 20_000, "filter": "^2.$"});
    let reply = call(&engine, "bash_task_output", arguments).await;
    let expected: Vec<String> = (20..30).map(|n| format!("{n}\n")).collect();
    assert_eq!(reply["stdout"], expected.concat(), "{reply:#}");
    assert_eq!(reply["filteredLines"], 20);
}

async fn a_stopped_task_takes_its_children_along() {
    let home = TestHome::new();
    let engine = engine(&home);
    let task = start(
        &engine,
        "setsid sleep 86397 & setsid -f sleep 86397; echo up; wait",
    )
    .await;
    let up = json!({"taskId": task, "waitMs": 20_000, "waitFor": "output"});
    call(&engine, "bash_task_output", up).await;
    call(&engine, "bash_task_stop", json!({"taskId": task})).await;
    gone_within_a_second("sleep 86397").unwrap();
}

async fn there_are_only_so_many_and_they_are_listed() {
    let home = TestHome::new();
    let engine = configured(&home, |config| config.bash.max_background_tasks = 2);
    let first = start(&engine, "sleep 100").await;
    let second = start(&engine, "echo done").await;
    end(&engine, &second).await;
    start(&engine, "sleep 101").await;
    let one_more = json!({"command": "sleep 102", "run_in_background": true});
    assert_eq!(code(engine.call("bash", one_more).await), "too_many_tasks");
    call(
        &engine,
        "exec_command",
        json!({"command": ["cat"], "process_id": "cat", "yield_time_ms": 0}),
    )
    .await;
    let list = call(&engine, "bash_task_list", json!({})).await;
    let line = |id: &str| -> Value {
        let tasks = list["tasks"].as_array().unwrap();
        tasks.iter().find(|task| task["id"] == id).unwrap().clone()
    };
    assert_eq!(list["tasks"].as_array().unwrap().len(), 3, "{list:#}");
    assert_eq!(line(&first)["status"], "running");
    assert_eq!(
        (&line(&second)["status"], &line(&second)["exitCode"]),
        (&json!("completed"), &json!(0))
    );
    assert_eq!(list["processes"][0]["id"], "cat");
    let unknown = json!({"taskId": "task_0"});
    assert_eq!(
        code(engine.call("bash_task_output", unknown).await),
        "no_such_task"
    );
}

async fn an_ended_task_is_forgotten_after_its_time() {
    let home = TestHome::new();
    let engine = configured(&home, |config| config.bash.task_retention = Duration::ZERO);
    let task = start(&engine, "echo done").await;
    // The call that waits holds it; the next one finds nothing.
    assert_eq!(end(&engine, &task).await["status"], "completed");
    call(&engine, "bash_task_list", json!({})).await;
    let arguments = json!({"taskId": task});
    assert_eq!(
        code(engine.call("bash_task_output", arguments).await),
        "no_such_task"
    );

    let engine = configured(&home, |config| config.bash.max_ended_tasks = 1);
    let first = start(&engine, "true").await;
    end(&engine, &first).await;
    let second = start(&engine, "true").await;
    end(&engine, &second).await;
    let list = call(&engine, "bash_task_list", json!({})).await;
    assert_eq!(list["tasks"].as_array().unwrap().len(), 1, "{list:#}");
    assert_eq!(list["tasks"][0]["id"], json!(second));
}

async fn what_takes_too_long_goes_on_in_the_background_where_configured() {
    let home = TestHome::new();
    let engine = configured(&home, |config| {
        config.bash.on_timeout = OnTimeout::Background;
    });
    let command = "mkfifo go; echo before; read x < go; echo after";
    let reply = call(&engine, "bash", json!({"command": command, "timeout": 300})).await;
    assert_eq!(
        (&reply["stdout"], &reply["status"]),
        (&json!("before\n"), &json!("running")),
        "{reply:#}"
    );
    assert_eq!(reply["interrupted"], false);
    std::fs::write(home.work().join("go"), "\n").unwrap();
    let task = reply["backgroundTaskId"].as_str().unwrap();
    let end = end(&engine, task).await;
    assert_eq!(
        (&end["stdout"], &end["exitCode"]),
        (&json!("after\n"), &json!(0)),
        "{end:#}"
    );
}

async fn whoever_watches_can_move_a_long_command() {
    let home = TestHome::new();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let listener = {
        let told = Arc::clone(&told);
        Arc::new(move |event: &Event<'_>| {
            let mut told = told.lock().unwrap();
            match event {
                Event::Progress { lines, .. } => told.push(format!("{lines} lines")),
                Event::CanMove { to_background, .. } => {
                    told.push("can move".to_owned());
                    let to_background: &Latch = to_background;
                    to_background.set();
                }
                Event::Begin { .. } => told.push("begin".to_owned()),
                Event::End { .. } => told.push("end".to_owned()),
                Event::Ended { exit_code, .. } => told.push(format!("ended {exit_code}")),
                _ => {}
            }
        })
    };
    let opening = Opening {
        listener,
        ..Opening::default()
    };
    let engine = opening.engine(&home, &home.work());
    let command = "mkfifo go; echo before; read x < go; exit 4";
    let reply = call(&engine, "bash", json!({"command": command})).await;
    assert_eq!(
        (&reply["stdout"], &reply["status"]),
        (&json!("before\n"), &json!("running")),
        "{reply:#}"
    );
    std::fs::write(home.work().join("go"), "\n").unwrap();
    let task = reply["backgroundTaskId"].as_str().unwrap();
    assert_eq!(end(&engine, task).await["exitCode"], 4);
    let told = told.lock().unwrap().clone();
    // The login environment is a command of the harness's own, of which nobody is told.
    let expected = [
        "begin", "1 lines", "1 lines", "can move", "end", "begin", "ended 4", "end",
    ];
    assert_eq!(told, expected);
}

async fn what_a_command_leaves_running_becomes_a_task() {
    let home = TestHome::new();
    let engine = engine(&home);
    let command = "mkfifo go; (read x < go; echo late; echo later >&2) & echo early";
    let reply = call(&engine, "bash", json!({"command": command})).await;
    assert_eq!(
        (&reply["stdout"], &reply["exitCode"]),
        (&json!("early\n"), &json!(0)),
        "{reply:#}"
    );
    assert!(
        reply["background_processes"][0]["pid"].is_i64(),
        "{reply:#}"
    );
    let task = reply["backgroundTaskId"].as_str().unwrap();
    let list = call(&engine, "bash_task_list", json!({})).await;
    assert_eq!(list["tasks"][0]["status"], "running", "{list:#}");
    std::fs::write(home.work().join("go"), "\n").unwrap();
    let end = end(&engine, task).await;
    assert_eq!(
        (&end["stdout"], &end["stderr"], &end["status"]),
        (&json!("late\n"), &json!("later\n"), &json!("completed")),
        "{end:#}"
    );

    let reply = call(&engine, "bash", json!({"command": "sleep 86396 & echo"})).await;
    let task = reply["backgroundTaskId"].as_str().unwrap();
    let stopped = call(&engine, "bash_task_stop", json!({"taskId": task})).await;
    assert_eq!(stopped["status"], "cancelled", "{stopped:#}");
    gone_within_a_second("sleep 86396").unwrap();
}

async fn a_command_that_falls_silent_is_stopped_where_configured() {
    let home = TestHome::new();
    let silence = Some(Duration::from_millis(400));
    let engine = configured(&home, |config| config.shell.silence = silence);
    let talks = "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; sleep 100";
    let reply = call(&engine, "bash", json!({"command": talks})).await;
    assert_eq!(
        (&reply["stdout"], &reply["exitCode"]),
        (&json!("1\n2\n3\n4\n5\n6\n"), &json!(124)),
        "{reply:#}"
    );
    let why = reply["stopped_because"].as_str().unwrap();
    assert!(why.contains("shell.silence_timeout_ms"), "{why}");
}
