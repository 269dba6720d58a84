//! Many processes at once: which one gives way, what memory they need, how a quiet one fares.

use std::time::{Duration, Instant};

use ringfence::Engine;
use ringfence_testkit::home::TestHome;
use serde_json::{Value, json};

use crate::support::Case;
use crate::support::opening::{Opening, code};

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![
        the_sixty_fifth_process_prunes_by_the_rule,
        sixty_four_print_100_mb_each_in_little_memory,
        a_quiet_one_among_loud_ones_answers_soon,
    ]
}

fn engine(home: &TestHome) -> Engine {
    Opening::default().engine(home, &home.work())
}

async fn call(engine: &Engine, tool: &str, arguments: Value) -> Value {
    engine.call(tool, arguments).await.unwrap()
}

async fn open(engine: &Engine, id: &str, command: Value) -> Value {
    let arguments = json!({"command": command, "process_id": id, "yield_time_ms": 0, "tty": false});
    call(engine, "exec_command", arguments).await
}

/// Whether a process is still open, found out without using it.
async fn is_open(engine: &Engine, id: &str) -> bool {
    let list = call(engine, "bash_task_list", json!({})).await;
    let processes = list["processes"].as_array().unwrap();
    processes.iter().any(|process| process["id"] == id)
}

/// Lets a process end that waits for it, and waits until it has.
async fn end(engine: &Engine, home: &TestHome, number: usize) {
    std::fs::write(home.work().join(format!("go{number}")), "\n").unwrap();
    while is_running(engine, &number.to_string()).await {
        tokio::task::yield_now().await;
    }
}

async fn is_running(engine: &Engine, id: &str) -> bool {
    let list = call(engine, "bash_task_list", json!({})).await;
    let processes = list["processes"].as_array().unwrap();
    let process = processes.iter().find(|process| process["id"] == id);
    process.unwrap()["status"] == "running"
}

async fn the_sixty_fifth_process_prunes_by_the_rule() {
    let home = TestHome::new();
    let engine = engine(&home);
    // The third and the tenth end when they are let, and nobody is told by that.
    call(&engine, "bash", json!({"command": "mkfifo go3 go10"})).await;
    for n in 1..=64 {
        let command = match n {
            3 | 10 => json!(format!("read x < go{n}")),
            _ => json!(["cat"]),
        };
        let reply = open(&engine, &n.to_string(), command).await;
        assert_eq!(reply["process_id"], n.to_string(), "{reply:#}");
        let warned = reply["warning"].as_str().unwrap_or_default();
        assert_eq!(warned.contains("of at most 64"), n >= 60, "{n}: {warned}");
    }
    end(&engine, &home, 3).await;
    // The first is used, so that the second is the one that was not used for longest.
    call(
        &engine,
        "write_stdin",
        json!({"process_id": "1", "yield_time_ms": 0}),
    )
    .await;
    // One that has ended goes first, however many are older.
    open(&engine, "65", json!(["cat"])).await;
    assert!(!is_open(&engine, "3").await);
    assert!(is_open(&engine, "1").await && is_open(&engine, "2").await);
    // Then the one that was not used for longest.
    open(&engine, "66", json!(["cat"])).await;
    assert!(!is_open(&engine, "2").await);
    let gone = json!({"process_id": "2"});
    assert_eq!(
        code(engine.call("write_stdin", gone).await),
        "process_gave_way"
    );
    // Even one that has ended stays while it is among the last used.
    call(
        &engine,
        "write_stdin",
        json!({"process_id": "10", "yield_time_ms": 0}),
    )
    .await;
    end(&engine, &home, 10).await;
    open(&engine, "67", json!(["cat"])).await;
    assert!(is_open(&engine, "10").await && !is_open(&engine, "4").await);
    let list = call(&engine, "bash_task_list", json!({})).await;
    assert_eq!(list["processes"].as_array().unwrap().len(), 64);
}

/// The memory of this process, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

/// Opens processes that print all at once.
async fn open_loud(engine: &Engine, count: usize, printer: &str) {
    for n in 0..count {
        let command = format!("read go; exec {printer}");
        open(engine, &n.to_string(), json!(["sh", "-c", command])).await;
    }
    for n in 0..count {
        let go = json!({"process_id": n.to_string(), "input": "\n", "yield_time_ms": 0});
        call(engine, "write_stdin", go).await;
    }
}

async fn sixty_four_print_100_mb_each_in_little_memory() {
    const LOUD: usize = 64;
    let home = TestHome::new();
    let engine = engine(&home);
    open(&engine, "first", json!(["true"])).await;
    let before = memory();
    open_loud(&engine, LOUD, "head -c 100000000 /dev/zero").await;
    let mut most = memory();
    for n in 0..LOUD {
        let wait = json!({
            "process_id": n.to_string(), "yield_time_ms": 300_000, "max_output_tokens": 1,
        });
        let reply = call(&engine, "write_stdin", wait).await;
        assert_eq!(reply["exit_code"], 0, "{reply:#}");
        most = most.max(memory());
    }
    // A buffer of 1 MiB and what one read takes, for each.
    let bound = LOUD as u64 * (2 << 20);
    let grown = most.saturating_sub(before);
    assert!(grown < bound, "grown by {} MiB", grown >> 20);
}

async fn a_quiet_one_among_loud_ones_answers_soon() {
    let home = TestHome::new();
    let engine = engine(&home);
    open(&engine, "quiet", json!(["cat"])).await;
    open_loud(&engine, 63, "cat /dev/zero").await;
    let mut answers = Vec::new();
    for round in 0..40 {
        let asked = Instant::now();
        let input = format!("hello {round}\n");
        let arguments = json!({
            "process_id": "quiet", "input": input, "wait_for": "output", "yield_time_ms": 20_000,
        });
        let reply = call(&engine, "write_stdin", arguments).await;
        assert_eq!(reply["output"], input, "{reply:#}");
        answers.push(asked.elapsed());
    }
    answers.sort();
    let median = answers[answers.len() / 2];
    assert!(median < Duration::from_millis(50), "{answers:?}");
}
