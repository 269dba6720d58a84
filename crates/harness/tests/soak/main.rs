//! Many calls in one process, one after the other: nothing may pile up.
//!
//! `RINGFENCE_SOAK_CALLS` says how many commands are run; there are a tenth as many sessions.
//! The whole of it is `RINGFENCE_SOAK_CALLS=10000 cargo test -p ringfence --test soak`.

#![allow(
    clippy::unwrap_used,
    reason = "a test program without the harness that the lints know"
)]

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

use ringfence_testkit::home::TestHome;
use serde_json::json;

use crate::support::opening::Opening;

fn main() -> std::process::ExitCode {
    ringfence::init();
    support::run(asynchronous![nothing_piles_up])
}

/// What may not grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Holdings {
    descriptors: usize,
    threads: usize,
    processes: usize,
    memory_kib: u64,
}

impl Holdings {
    fn now() -> Self {
        let count = |path: &str| std::fs::read_dir(path).unwrap().count();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let rss = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        Self {
            descriptors: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
            processes: descendants(std::process::id()),
            memory_kib: rss.split_whitespace().nth(1).unwrap().parse().unwrap(),
        }
    }
}

/// How many processes descend from one.
fn descendants(pid: u32) -> usize {
    let mut found = vec![pid];
    let mut next = 0;
    while next < found.len() {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", found[next]));
        for task in tasks.into_iter().flatten().flatten() {
            let children = std::fs::read_to_string(task.path().join("children"));
            let children = children.unwrap_or_default();
            found.extend(
                children
                    .split_whitespace()
                    .map(|pid| pid.parse::<u32>().unwrap()),
            );
        }
        next += 1;
    }
    found.len() - 1
}

async fn nothing_piles_up() {
    let calls: usize =
        std::env::var("RINGFENCE_SOAK_CALLS").map_or(400, |calls| calls.parse().unwrap());
    let home = TestHome::new();
    let engine = Opening::default().engine(&home, &home.work());
    let commands = async |count: usize| {
        for n in 0..count {
            let reply = engine
                .call("shell", json!({"command": ["echo", n.to_string()]}))
                .await
                .unwrap();
            assert_eq!(reply["stdout"]["text"], format!("{n}\n"), "{reply:#}");
        }
    };
    let sessions = async |count: usize| {
        for n in 0..count {
            let arguments = json!({"command": ["cat"], "tty": n % 2 == 0, "yield_time_ms": 0});
            let opened = engine.call("exec_command", arguments).await.unwrap();
            let id = opened["process_id"].as_str().unwrap();
            // Half of them end by themselves, the others are left to give way.
            if n % 4 < 2 {
                let close = json!({"process_id": id, "close": true, "yield_time_ms": 20_000});
                let reply = engine.call("write_stdin", close).await.unwrap();
                assert_eq!(reply["exit_code"], 0, "{reply:#}");
            }
        }
    };
    let tasks = async |count: usize| {
        for _ in 0..count {
            let start = json!({"command": "echo out", "run_in_background": true});
            let reply = engine.call("bash", start).await.unwrap();
            let wait = json!({"taskId": reply["backgroundTaskId"], "waitMs": 20_000});
            let end = engine.call("bash_task_output", wait).await.unwrap();
            assert_eq!(end["stdout"], "out\n", "{end:#}");
        }
    };
    // Until the store is full and every pool has what it keeps.
    commands(50).await;
    sessions(150).await;
    tasks(80).await;
    let before = Holdings::now();
    commands(calls).await;
    sessions(calls / 10).await;
    tasks(calls / 20).await;
    let after = Holdings::now();
    // One that gave way may still be on its way out, and two looks at files may have met.
    let little = 8;
    assert!(
        after.descriptors <= before.descriptors + little,
        "{before:?} {after:?}"
    );
    assert!(
        after.threads <= before.threads + little,
        "{before:?} {after:?}"
    );
    assert!(
        after.processes <= before.processes + little,
        "{before:?} {after:?}"
    );
    assert!(
        after.memory_kib <= before.memory_kib + 8 * 1024,
        "{before:?} {after:?}"
    );
}
