//! Several calls in one session, through the library, with the built program as warden.

use std::path::Path;
use std::sync::Arc;

use ringfence::Engine;
use ringfence::approval::Scripted;
use ringfence::config::Config;
use ringfence_testkit::home::TestHome;
use ringfence_testkit::processes::processes_with;
use serde_json::{Value, json};

use crate::support::Case;
use crate::support::opening::Opening;

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![
        calls_of_a_session_share_a_network_and_a_tmp,
        the_profile_is_read_once_per_session,
        a_cancelled_call_ends_with_137_and_its_output,
        calls_at_once_do_not_mix,
        a_fork_bomb_is_bounded_and_leaves_the_session_usable,
        what_a_command_leaves_running_is_bounded_in_time,
        sockets_that_come_into_being_between_calls_are_out_of_reach_too,
        a_session_finds_no_outputs_but_its_own,
    ]
}

fn engine(home: &TestHome, workspace: &Path) -> Engine {
    engine_with(home, workspace, Config::default())
}

fn engine_with(home: &TestHome, workspace: &Path, config: Config) -> Engine {
    let opening = Opening {
        config,
        ..Opening::default()
    };
    opening.engine(home, workspace)
}

async fn bash(engine: &Engine, command: &str) -> Value {
    engine
        .call("bash", json!({ "command": command }))
        .await
        .unwrap()
}

const SERVER: &str = "python3 -c '
import http.server, os
server = http.server.HTTPServer((\"127.0.0.1\", 18181), http.server.SimpleHTTPRequestHandler)
os.write(1, b\"listening\\n\")
if os.fork(): os._exit(0)
os.setsid()
server.serve_forever()
'";

async fn calls_of_a_session_share_a_network_and_a_tmp() {
    let home = TestHome::new();
    std::fs::write(home.work().join("page"), "served\n").unwrap();
    let first = engine(&home, &home.work());
    let started = bash(&first, SERVER).await;
    assert_eq!(started["stdout"], "listening\n", "{started}");
    assert_eq!(bash(&first, "echo shared > /tmp/file").await["exitCode"], 0);
    let answer = bash(&first, "curl -s http://127.0.0.1:18181/page; cat /tmp/file").await;
    assert_eq!(answer["stdout"], "served\nshared\n", "{answer}");

    let other = engine(&home, &home.work());
    let answer = bash(&other, "curl -s http://127.0.0.1:18181/page; cat /tmp/file").await;
    assert_eq!(answer["stdout"], "", "{answer}");
    let outside = std::net::TcpStream::connect("127.0.0.1:18181");
    assert!(outside.is_err(), "the session's network is its own");
}

async fn the_profile_is_read_once_per_session() {
    let home = TestHome::new();
    // The home folder is the workspace here, so that the profile can count.
    let profile = "echo read >> \"$HOME/count\"\nexport FROM_PROFILE=yes PATH=\"/opt/own:$PATH\"\n\
                   export MY_TOKEN=secret\necho noise\n";
    std::fs::write(home.path().join(".bash_profile"), profile).unwrap();
    let engine = engine(&home, &home.path());
    for _ in 0..3 {
        let reply = bash(&engine, "echo $FROM_PROFILE ${PATH%%:*} $MY_TOKEN").await;
        assert_eq!(reply["stdout"], "yes /opt/own\n", "{reply}");
    }
    let count = std::fs::read_to_string(home.path().join("count")).unwrap();
    assert_eq!(count, "read\n");
    let plain = engine
        .call(
            "shell_command",
            json!({"command": "echo $FROM_PROFILE.", "login": false}),
        )
        .await
        .unwrap();
    assert_eq!(plain["stdout"]["text"], ".\n", "{plain}");
}

async fn a_cancelled_call_ends_with_137_and_its_output() {
    let home = TestHome::new();
    let engine = engine(&home, &home.work());
    let call = engine.new_call();
    let running = engine.call_as(
        &call,
        "bash",
        json!({"command": "echo started; mkfifo p; cat p"}),
    );
    let cancel = async {
        // The fifo is there once the command has printed.
        while !home.work().join("p").exists() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        call.cancel.cancel();
    };
    let (reply, ()) = tokio::join!(running, cancel);
    let reply = reply.unwrap();
    assert_eq!(
        (&reply["exitCode"], &reply["stdout"]),
        (&json!(137), &json!("started\n")),
        "{reply}"
    );
    assert_eq!(reply["interrupted"], true);
}

async fn calls_at_once_do_not_mix() {
    let home = TestHome::new();
    let engine = engine(&home, &home.work());
    let calls = (0..12).map(|n| {
        let engine = &engine;
        async move { bash(engine, &format!("echo {n}; sleep 0.05; echo {n}")).await }
    });
    let mut pending: Vec<_> = calls.map(Box::pin).collect();
    let mut replies = Vec::new();
    // Poll all of them together.
    std::future::poll_fn(|context| {
        pending.retain_mut(|call| match call.as_mut().poll(context) {
            std::task::Poll::Ready(reply) => {
                replies.push(reply);
                false
            }
            std::task::Poll::Pending => true,
        });
        if pending.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    let mut outputs: Vec<String> = replies
        .iter()
        .map(|reply| reply["stdout"].as_str().unwrap().to_owned())
        .collect();
    outputs.sort();
    let mut expected: Vec<String> = (0..12).map(|n| format!("{n}\n{n}\n")).collect();
    expected.sort();
    assert_eq!(outputs, expected);
}

async fn a_fork_bomb_is_bounded_and_leaves_the_session_usable() {
    let home = TestHome::new();
    let engine = engine(&home, &home.work());
    let bomb = json!({
        "command": ["python3", "-c", "import os\ntry:\n  while True: os.fork()\nexcept OSError: pass"],
        "timeout_ms": 1500,
    });
    let reply = engine.call("shell", bomb).await.unwrap();
    assert!(reply["exit_code"].is_i64(), "{reply}");
    let next = engine
        .call("shell", json!({"command": ["echo", "alive"]}))
        .await
        .unwrap();
    assert_eq!(next["stdout"]["text"], "alive\n", "{next}");
}

async fn what_a_command_leaves_running_is_bounded_in_time() {
    let home = TestHome::new();
    let mut config = Config::default();
    config.limits.wall_time = Some(std::time::Duration::from_secs(2));
    let engine = engine_with(&home, &home.work(), config);
    let mark = format!("6{}", std::process::id());
    let sleeping = format!("sleep {mark}");
    let reply = bash(&engine, &format!("{sleeping} > /dev/null 2>&1 & echo on")).await;
    assert_eq!(reply["stdout"], "on\n", "{reply}");
    assert!(!processes_with(&sleeping).is_empty(), "{reply}");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !processes_with(&sleeping).is_empty() {
        assert!(std::time::Instant::now() < deadline, "it is still there");
        tokio::task::yield_now().await;
    }
}

/// Connects to a socket by its path, and says whether that worked.
const CONNECT: &str = "python3 -c '
import socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print(\"connected\")
except OSError: print(\"refused\")
' ";

async fn sockets_that_come_into_being_between_calls_are_out_of_reach_too() {
    let home = TestHome::new();
    let engine = engine(&home, &home.work());
    assert_eq!(bash(&engine, "true").await["exitCode"], 0);
    let [outside, inside] = [home.path(), home.work()].map(|folder| folder.join("late.sock"));
    let _listeners =
        [&outside, &inside].map(|path| std::os::unix::net::UnixListener::bind(path).unwrap());
    for path in [&outside, &inside] {
        let reply = bash(&engine, &format!("{CONNECT}{}", path.display())).await;
        assert_eq!(reply["stdout"], "refused\n", "{reply}");
    }
}

async fn a_session_finds_no_outputs_but_its_own() {
    let home = TestHome::new();
    let outputs = home.path().join(".cache/ringfence/outputs-by-name");
    let session = |name: &str| {
        let opening = Opening {
            scratch: Some(outputs.join(name)),
            // Outside the fence it would find them.
            approver: Arc::new(Scripted::ApproveContaining(Vec::new())),
            ..Opening::default()
        };
        opening.engine(&home, &home.work())
    };
    let (own, other) = (session("out_own"), session("out_other"));
    let long = "seq 100000; echo the end";
    let reply = bash(&own, long).await;
    let path = reply["rawOutputPath"].as_str().unwrap().to_owned();
    let read = bash(&own, &format!("tail -n 1 {path}")).await;
    assert_eq!(read["stdout"], "the end\n", "{read}");
    let look = format!(
        "ls {0} || find {0} -type f || chmod 755 {0}; cat {0}/*/*",
        outputs.display()
    );
    let found = bash(&other, &look).await;
    assert_eq!(found["stdout"], "", "{found}");
    assert_ne!(found["exitCode"], 0, "{found}");
}
