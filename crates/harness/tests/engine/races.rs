//! Things that happen at the same time: each waits for an event, never for time.

use std::future::Future;
use std::io::Write;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use ringfence::Engine;
use ringfence::approval::{AnswerFuture, Approver};
use ringfence::event::Event;
use ringfence::policy::verdict::{Grounds, Question};
use ringfence_testkit::home::TestHome;
use ringfence_testkit::processes::{gone_within_a_second, processes_with};
use serde_json::{Value, json};

use crate::support::Case;
use crate::support::opening::{Opening, code};
use crate::support::steps::{poll_pinned, poll_times};

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![
        an_exit_during_a_poll_ends_it_and_is_told_once,
        output_that_comes_with_the_exit_is_not_lost,
        output_of_what_outlives_the_exit_goes_to_its_task,
        a_process_that_is_written_to_does_not_give_way,
        a_call_that_is_dropped_or_cancelled_anywhere_leaves_nothing,
        a_call_can_be_cancelled_while_somebody_is_asked,
        a_harness_that_is_dropped_takes_everything_along,
        a_client_that_goes_away_leaves_its_process_to_the_next_call,
    ]
}

fn engine(home: &TestHome) -> Engine {
    Opening::default().engine(home, &home.work())
}

async fn call(engine: &Engine, tool: &str, arguments: Value) -> Value {
    engine.call(tool, arguments).await.unwrap()
}

/// Starts a process that is waited for until it has printed something.
async fn start(engine: &Engine, id: &str, command: &str) -> Value {
    let arguments = json!({
        "command": command, "process_id": id, "wait_for": "output", "yield_time_ms": 20_000, "tty": false,
    });
    let reply = call(engine, "exec_command", arguments).await;
    assert_eq!(reply["process_id"], id, "{reply:#}");
    reply
}

async fn an_exit_during_a_poll_ends_it_and_is_told_once() {
    let home = TestHome::new();
    let engine = engine(&home);
    start(
        &engine,
        "p",
        "mkfifo go; echo up; read x < go; echo last; exit 9",
    )
    .await;
    let poll = json!({"process_id": "p", "yield_time_ms": 20_000});
    let (one, two, ()) = tokio::join!(
        engine.call("write_stdin", poll.clone()),
        engine.call("write_stdin", poll),
        async { std::fs::write(home.work().join("go"), "\n").unwrap() }
    );
    let told: Vec<Value> = [one, two].into_iter().filter_map(Result::ok).collect();
    assert_eq!(told.len(), 1, "one of the two is told: {told:#?}");
    assert_eq!(
        (&told[0]["output"], &told[0]["exit_code"]),
        (&json!("last\n"), &json!(9))
    );
}

async fn output_that_comes_with_the_exit_is_not_lost() {
    let home = TestHome::new();
    let engine = engine(&home);
    for round in 0..20 {
        let command = "head -c 300000 /dev/zero | tr '\\0' x; echo; echo end; exit 2";
        let arguments =
            json!({"command": command, "login": false, "max_output_tokens": 100, "tty": false});
        let reply = call(&engine, "exec_command", arguments).await;
        assert_eq!(reply["exit_code"], 2, "{reply:#}");
        assert!(
            reply["output"].as_str().unwrap().ends_with("end\n"),
            "round {round}: {reply:#}"
        );
        let shown = reply["output"].as_str().unwrap().matches('x').count() as u64;
        let omitted = reply["omitted_bytes"].as_u64().unwrap();
        assert_eq!(shown + omitted, 300_000, "{reply:#}");
    }
}

async fn output_of_what_outlives_the_exit_goes_to_its_task() {
    let home = TestHome::new();
    let engine = engine(&home);
    let command = "mkfifo go; (read x < go; echo after) & echo before";
    let reply = call(
        &engine,
        "exec_command",
        json!({"command": command, "tty": false}),
    )
    .await;
    assert_eq!(
        (&reply["output"], &reply["exit_code"]),
        (&json!("before\n"), &json!(0)),
        "{reply:#}"
    );
    let task = reply["background_task_id"].as_str().unwrap();
    std::fs::write(home.work().join("go"), "\n").unwrap();
    let end = call(
        &engine,
        "bash_task_output",
        json!({"taskId": task, "waitMs": 20_000}),
    )
    .await;
    assert_eq!(
        (&end["stdout"], &end["status"]),
        (&json!("after\n"), &json!("completed")),
        "{end:#}"
    );
}

async fn a_process_that_is_written_to_does_not_give_way() {
    let home = TestHome::new();
    let mut opening = Opening::default();
    opening.config.process.max = 2;
    opening.config.process.keep_recent = 0;
    let engine = opening.engine(&home, &home.work());
    let patient = "mkfifo go; echo up; read x < go; wc -c";
    start(&engine, "held", patient).await;
    start(&engine, "idle", "echo up; exec sleep 86395").await;
    // Far more than a pipe holds: the write goes on until somebody reads.
    let long = "x".repeat(3 << 20);
    let write =
        json!({"process_id": "held", "input": long, "close": true, "yield_time_ms": 20_000});
    let mut writing = pin!(engine.call("write_stdin", write));
    // The write has begun once it was polled and is not done.
    std::future::poll_fn(|context| {
        assert!(writing.as_mut().poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
    // `held` was used before `idle`... and still `idle` is the one that goes.
    let used = json!({"process_id": "idle", "yield_time_ms": 0});
    call(&engine, "write_stdin", used.clone()).await;
    start(&engine, "third", "echo up; exec sleep 86395").await;
    assert_eq!(
        code(engine.call("write_stdin", used).await),
        "process_gave_way"
    );
    std::fs::write(home.work().join("go"), "\n").unwrap();
    let reply = writing.await.unwrap();
    assert_eq!(
        (&reply["output"], &reply["exit_code"]),
        (&json!("3145728\n"), &json!(0)),
        "{reply:#}"
    );
}

async fn a_call_that_is_dropped_or_cancelled_anywhere_leaves_nothing() {
    let home = TestHome::new();
    let begun: Arc<Mutex<i64>> = Arc::default();
    let listener = {
        let begun = Arc::clone(&begun);
        Arc::new(move |event: &Event<'_>| match event {
            Event::Begin { .. } => *begun.lock().unwrap() += 1,
            Event::End { .. } => *begun.lock().unwrap() -= 1,
            _ => {}
        })
    };
    let opening = Opening {
        listener,
        ..Opening::default()
    };
    let engine = opening.engine(&home, &home.work());
    // The login environment and the warden are made by the first call.
    call(&engine, "bash", json!({"command": "true"})).await;
    let arguments = json!({"command": ["sleep", "86394"]});
    for steps in 0..40 {
        // The client goes away after so many steps.
        let dropped = engine.call("shell", arguments.clone());
        poll_times(dropped, steps).await;
        // And here it cancels.
        let one = engine.new_call();
        let running = engine.call_as(&one, "shell", arguments.clone());
        let mut running = pin!(running);
        poll_pinned(running.as_mut(), steps).await;
        one.cancel.cancel();
        match running.await {
            Ok(reply) => assert_eq!(reply["exit_code"], 137, "{reply:#}"),
            Err(error) => assert_eq!(error.code(), "cancelled"),
        }
    }
    assert_eq!(*begun.lock().unwrap(), 0, "every beginning has its end");
    gone_within_a_second("sleep 86394").unwrap();
    assert_eq!(
        call(&engine, "bash", json!({"command": "echo ok"})).await["stdout"],
        "ok\n"
    );
}

/// An approver who never answers.
struct Silent(tokio::sync::Notify);

impl Approver for Silent {
    fn name(&self) -> &'static str {
        "silent"
    }

    fn ask<'a>(&'a self, _: &'a Question, _: &'a Grounds) -> AnswerFuture<'a> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

async fn a_call_can_be_cancelled_while_somebody_is_asked() {
    let home = TestHome::new();
    let silent = Arc::new(Silent(tokio::sync::Notify::new()));
    let opening = Opening {
        approver: Arc::clone(&silent) as Arc<dyn Approver>,
        ..Opening::default()
    };
    let engine = opening.engine(&home, &home.work());
    let one = engine.new_call();
    let asks = json!({"command": ["chmod", "-R", "777", "."]});
    let (result, ()) = tokio::join!(engine.call_as(&one, "shell", asks), async {
        silent.0.notified().await;
        one.cancel.cancel();
    });
    assert_eq!(code(result), "cancelled");
}

async fn a_harness_that_is_dropped_takes_everything_along() {
    let home = TestHome::new();
    let engine = engine(&home);
    start(
        &engine,
        "p",
        "setsid sleep 86393 & echo up; exec sleep 86393",
    )
    .await;
    let task = json!({"command": "sleep 86393", "run_in_background": true});
    call(&engine, "bash", task).await;
    let left = call(&engine, "bash", json!({"command": "sleep 86393 & echo"})).await;
    assert!(left["backgroundTaskId"].is_string(), "{left:#}");
    assert!(processes_with("sleep 86393").len() >= 4);
    drop(engine);
    gone_within_a_second("sleep 86393").unwrap();
}

async fn a_client_that_goes_away_leaves_its_process_to_the_next_call() {
    let home = TestHome::new();
    let engine = engine(&home);
    let command = "mkfifo go; touch up; read x < go; echo still here";
    let arguments = json!({"command": command, "process_id": "p", "tty": false});
    // The client is gone before the reply.
    tokio::select! {
        reply = engine.call("exec_command", arguments) => panic!("{reply:?}"),
        () = there(&home, "up") => {}
    }
    let mut go = std::fs::OpenOptions::new()
        .write(true)
        .open(home.work().join("go"))
        .unwrap();
    go.write_all(b"\n").unwrap();
    let poll = json!({"process_id": "p", "yield_time_ms": 20_000});
    let reply = call(&engine, "write_stdin", poll).await;
    assert_eq!(
        (&reply["output"], &reply["exit_code"]),
        (&json!("still here\n"), &json!(0)),
        "{reply:#}"
    );
}

/// Waits until a file is there.
async fn there(home: &TestHome, name: &str) {
    while !home.work().join(name).exists() {
        tokio::task::yield_now().await;
    }
}
