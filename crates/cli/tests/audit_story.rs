//! The audit log of a whole session, as `ringfence audit show` tells it.

#![allow(clippy::unwrap_used)]

mod program;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use expect_test::expect;
use program::Place;
use serde_json::{Value, json};

/// A call, given the replies so far.
type Made<'a> = &'a dyn Fn(&[Value]) -> Value;

/// Makes calls one after the other in one session, each with what the ones before have replied.
fn session(place: &Place, flags: &[&str], calls: &[Made<'_>]) -> Vec<Value> {
    let mut arguments = vec!["session"];
    arguments.extend(flags);
    let mut child = place
        .ringfence(&arguments)
        .env("RINGFENCE_SCRIPT_MODE", "enabled")
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
                "N".clone_into(&mut words[at - 1]);
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
            &|_| call("shell", &json!({"command": ["git", "reset", "--hard"]})),
            &|_| call("exec_command", &pty),
            &|_| call("write_stdin", &typed),
            &|_| call("write_stdin", &closed),
            &|_| call("bash", &background),
            &|replies| {
                let task = &replies[5]["reply"]["backgroundTaskId"];
                call("bash_task_stop", &json!({"taskId": task}))
            },
            &|_| call("apply_patch", &json!({"patch": patch})),
            &|_| call("file_search", &json!({"pattern": "note"})),
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
    expect![[r"
        session ses_… opened by cli in WORK (workspace-write, approval on-failure)
        #1 shell: echo hello -> allowed by policy, workspace-write: it only reads, which approval policy on-failure runs
        #1 ended: ok, in native, exit 0 after N ms
        #2 asks about git reset --hard: it is suspicious (`git reset --hard`: --hard: it throws work away that nothing brings back), which approval policy on-failure asks about
        #2 scripted said yes after N ms
        #2 shell: git reset --hard -> approved by scripted, workspace-write: it is suspicious (`git reset --hard`: --hard: it throws work away that nothing brings back), which approval policy on-failure asks about
        #2 ended: failed, in native, exit 128 after N ms
        #3 exec_command: cat -> allowed by policy, workspace-write: it only reads, which approval policy on-failure runs
        #4 write_stdin: type into p (cat): export TOKEN=[redacted]\n -> allowed by policy, workspace-write: what it is typed into was permitted
        #4 ended: ok after N ms
        #5 write_stdin: type into p (cat): nothing; then its input ends -> allowed by policy, workspace-write: what it is typed into was permitted
        #5 ended: ok after N ms
        #3 ended: ok, in native, exit 0 after N ms
        #7 login-environment: env -0; declare -f -> allowed by policy, workspace-write: it only reads, which approval policy on-failure runs
        #7 ended: ok, in native, exit 0 after N ms
        #6 bash: sleep 86377 -> allowed by policy, workspace-write: it only reads, which approval policy on-failure runs
        #8 bash_task_stop: stop task_… (sleep 86377) -> allowed by policy, workspace-write: what the session has started it may end
        #6 ended: stopped, in native, exit 137 after N ms
        #8 ended: ok after N ms
        #9 apply_patch: patch WORK/note.txt -> allowed by policy, workspace-write: it writes in writable folders only
        #9 ended: ok, in harness after N ms
        #10 file_search: search WORK -> allowed by policy, workspace-write: it only reads names
        #10 ended: ok, in harness after N ms
        #11 run_code: export default 6 * 7 -> allowed by policy, workspace-write: a script touches nothing but through its tools
        #11 ended: ok, in worker after N ms
        #12 run_script: const a = await tools.exec({ command: ['echo', 'first'] })\nconst b = await tools.exec({ command: ['false'] })\nreturn [a.exitCode, b.exitCode] -> allowed by policy, workspace-write: a script touches nothing but through its tools
        #13 of #12 (scr_… line 1) exec: echo first -> allowed by policy, workspace-write: it only reads, which approval policy on-failure runs
        #13 ended: ok, in native, exit 0 after N ms
        #14 of #12 (scr_… line 2) exec: false -> allowed by policy, workspace-write: it only reads, which approval policy on-failure runs
        #14 ended: failed, in native, exit 1 after N ms
        #12 ended: ok, in worker after N ms
        session ses_… ended after 14 calls"]].assert_eq(&story.join("\n"));
    let verified = place.output(&["audit", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}
