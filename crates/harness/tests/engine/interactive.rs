//! Programs that talk back: started by one call, typed to and read by the next ones.

use std::sync::Arc;

use ringfence::Engine;
use ringfence::approval::Scripted;
use ringfence::policy::permissions::ApprovalPolicy;
use ringfence_testkit::home::TestHome;
use serde_json::{Value, json};

use crate::support::Case;
use crate::support::opening::{Opening, code};

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![
        a_shell_keeps_its_state_between_calls,
        a_python_prompt_answers,
        vim_writes_a_file_and_shows_its_screen,
        less_turns_pages,
        a_password_is_typed_and_not_shown,
        a_yes_or_no_question_is_answered,
        the_window_can_be_resized,
        pipes_take_input_an_interrupt_and_an_end,
        the_environment_is_for_a_program_that_reads,
        mistakes_are_named,
        what_the_fence_refused_runs_again_after_a_yes,
        a_pattern_is_found_at_the_end_of_a_flood,
    ]
}

/// An open program, driven as a model would drive it.
struct Conversation<'a> {
    engine: &'a Engine,
    id: String,
}

impl<'a> Conversation<'a> {
    async fn start(engine: &'a Engine, command: Value, until: &str) -> (Self, Value) {
        let started = engine
            .call(
                "exec_command",
                json!({
                    "command": command,
                    "tty": true,
                    "pattern": until,
                    "screen": true,
                    "yield_time_ms": 20_000,
                }),
            )
            .await
            .unwrap();
        assert!(
            regex_found(&started["output"], until),
            "waiting for {until}: {started:#}"
        );
        let id = started["process_id"].as_str().unwrap().to_owned();
        (Self { engine, id }, started)
    }

    /// Types, and waits until the answer has the pattern in it.
    async fn say(&self, input: &str, until: &str) -> Value {
        let reply = self
            .engine
            .call(
                "write_stdin",
                json!({
                    "process_id": self.id,
                    "input": input,
                    "pattern": until,
                    "yield_time_ms": 20_000,
                    "screen": true,
                }),
            )
            .await
            .unwrap();
        assert!(
            regex_found(&reply["output"], until),
            "waiting for {until}: {reply:#}"
        );
        reply
    }

    /// Types, and waits for the end.
    async fn end(&self, input: &str) -> Value {
        let arguments = json!({"process_id": self.id, "input": input, "yield_time_ms": 20_000});
        let reply = self.engine.call("write_stdin", arguments).await.unwrap();
        assert_eq!(reply["process_id"], Value::Null, "{reply:#}");
        reply
    }
}

fn regex_found(output: &Value, pattern: &str) -> bool {
    // The tests' patterns are plain but for these two.
    let text = output.as_str().unwrap();
    text.contains(&pattern.replace("\\$", "$").replace("\\?", "?"))
}

fn engine(home: &TestHome) -> Engine {
    Opening::default().engine(home, &home.work())
}

async fn a_shell_keeps_its_state_between_calls() {
    let home = TestHome::new();
    let engine = engine(&home);
    let started = engine
        .call(
            "exec_command",
            json!({
                "command": ["bash", "--norc", "-i"],
                "process_id": "1001",
                "yield_time_ms": 200,
                "tty": true,
            }),
        )
        .await
        .unwrap();
    assert_eq!(started["process_id"], "1001", "{started:#}");
    assert_eq!(started["exit_code"], Value::Null);
    let talk = Conversation {
        engine: &engine,
        id: "1001".to_owned(),
    };
    talk.say("export FOO=bar\n", "FOO=bar").await;
    let answer = talk.say("echo .$FOO.\n", ".bar.").await;
    assert_eq!(answer["process_id"], "1001");
    let end = talk.end("exit 7\n").await;
    assert_eq!(end["exit_code"], 7, "{end:#}");
    let arguments = json!({"process_id": "1001"});
    assert_eq!(
        code(engine.call("write_stdin", arguments).await),
        "process_ended"
    );
}

async fn a_python_prompt_answers() {
    let home = TestHome::new();
    let engine = engine(&home);
    let (talk, _) = Conversation::start(&engine, json!(["python3", "-q"]), ">>> ").await;
    talk.say("x = 6 * 7\n", ">>> ").await;
    talk.say("print('is', x)\n", "is 42").await;
    assert_eq!(talk.end("exit(3)\n").await["exit_code"], 3);
}

async fn vim_writes_a_file_and_shows_its_screen() {
    let home = TestHome::new();
    let engine = engine(&home);
    let command = json!(["vim", "-u", "NONE", "-n", "note.txt"]);
    let (talk, first) = Conversation::start(&engine, command, "note.txt").await;
    assert_eq!(first["screen"]["alternate"], true, "{first:#}");
    let typing = talk.say("ihello from keys\u{1b}", "hello from keys").await;
    let screen = typing["screen"]["text"].as_str().unwrap();
    assert!(screen.starts_with("hello from keys\n~\n"), "{screen}");
    assert_eq!(typing["screen"]["cursor"]["row"], 0, "{typing:#}");
    talk.say(":w\r", "written").await;
    assert_eq!(talk.end(":q\r").await["exit_code"], 0);
    let written = std::fs::read_to_string(home.work().join("note.txt")).unwrap();
    assert_eq!(written, "hello from keys\n");
}

async fn less_turns_pages() {
    let home = TestHome::new();
    let lines: Vec<String> = (1..=200).map(|n| format!("line {n}\n")).collect();
    std::fs::write(home.work().join("long.txt"), lines.concat()).unwrap();
    let engine = engine(&home);
    let (talk, first) = Conversation::start(&engine, json!(["less", "long.txt"]), "line 23").await;
    let screen = first["screen"]["text"].as_str().unwrap();
    assert!(screen.starts_with("line 1\n"), "{screen}");
    let last = talk.say("G", "line 200").await;
    let screen = last["screen"]["text"].as_str().unwrap();
    assert!(
        screen.contains("line 200") && !screen.contains("line 100"),
        "{screen}"
    );
    assert_eq!(talk.end("q").await["exit_code"], 0);
}

async fn a_password_is_typed_and_not_shown() {
    let home = TestHome::new();
    let engine = engine(&home);
    let script = "import getpass; print('got', len(getpass.getpass('Password: ')))";
    let command = json!(["python3", "-c", script]);
    let (talk, _) = Conversation::start(&engine, command, "Password: ").await;
    let end = talk.end("open sesame\n").await;
    assert_eq!(end["output"], "\r\ngot 11\r\n", "{end:#}");
}

async fn a_yes_or_no_question_is_answered() {
    let home = TestHome::new();
    std::fs::write(home.work().join("old"), "").unwrap();
    let engine = engine(&home);
    let command = json!(["rm", "-i", "old"]);
    let (talk, _) = Conversation::start(&engine, command, "old'\\?").await;
    assert_eq!(talk.end("y\n").await["exit_code"], 0);
    assert!(!home.work().join("old").exists());
}

async fn the_window_can_be_resized() {
    let home = TestHome::new();
    let engine = engine(&home);
    let script = "import os, signal\n\
                  signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})\n\
                  print('ready', flush=True)\n\
                  signal.sigwait({signal.SIGWINCH})\n\
                  print(*reversed(os.get_terminal_size()), flush=True)\n\
                  signal.pause()";
    let command = json!(["python3", "-c", script]);
    let (talk, _) = Conversation::start(&engine, command, "ready").await;
    let reply = engine
        .call(
            "write_stdin",
            json!({
                "process_id": talk.id,
                "resize": {"rows": 40, "cols": 132},
                "pattern": "40 132",
                "yield_time_ms": 20_000,
            }),
        )
        .await
        .unwrap();
    assert!(
        reply["output"].as_str().unwrap().contains("40 132"),
        "{reply:#}"
    );
    let end = talk.end("\u{3}").await;
    assert_eq!(end["exit_code"], 130, "{end:#}");
}

async fn pipes_take_input_an_interrupt_and_an_end() {
    let home = TestHome::new();
    let engine = engine(&home);
    let start = |command: Value| {
        let engine = &engine;
        async move {
            let arguments = json!({"command": command, "yield_time_ms": 0, "tty": false});
            let reply = engine.call("exec_command", arguments).await.unwrap();
            reply["process_id"].as_str().unwrap().to_owned()
        }
    };
    let upper = start(json!(["tr", "a-z", "A-Z"])).await;
    let reply = engine
        .call(
            "write_stdin",
            json!({"process_id": upper, "input": "abc\n", "close": true, "yield_time_ms": 20_000}),
        )
        .await
        .unwrap();
    assert_eq!(
        (&reply["output"], &reply["exit_code"]),
        (&json!("ABC\n"), &json!(0)),
        "{reply:#}"
    );

    let script = "trap 'echo stopped; exit 5' INT; echo ready; while read x; do :; done";
    let arguments =
        json!({"command": script, "wait_for": "output", "yield_time_ms": 20_000, "tty": false});
    let reply = engine.call("exec_command", arguments).await.unwrap();
    assert_eq!(reply["output"], "ready\n", "{reply:#}");
    let waiting = reply["process_id"].clone();
    let reply = engine
        .call(
            "write_stdin",
            json!({"process_id": waiting, "input": "line\n\u{3}", "yield_time_ms": 20_000}),
        )
        .await
        .unwrap();
    assert_eq!(reply["output"], "stopped\n", "{reply:#}");
    assert_eq!(reply["exit_code"], 5);
}

async fn the_environment_is_for_a_program_that_reads() {
    let home = TestHome::new();
    let engine = engine(&home);
    let names = "echo $NO_COLOR $LANG $PAGER $GIT_PAGER $RINGFENCE $TERM";
    for (tty, term) in [(false, "dumb"), (true, "xterm-256color")] {
        let reply = engine
            .call("exec_command", json!({"command": names, "tty": tty}))
            .await
            .unwrap();
        let output = reply["output"].as_str().unwrap().trim_end();
        assert_eq!(output, format!("1 C.UTF-8 cat cat 1 {term}"), "{reply:#}");
        assert_eq!(
            (&reply["process_id"], &reply["exit_code"]),
            (&Value::Null, &json!(0))
        );
    }
}

async fn mistakes_are_named() {
    let home = TestHome::new();
    let engine = engine(&home);
    let sleeping =
        json!({"command": ["sleep", "100"], "process_id": 7, "yield_time_ms": 0, "tty": false});
    engine.call("exec_command", sleeping).await.unwrap();
    for (tool, arguments, expected) in [
        ("exec_command", json!({"command": []}), "empty_command"),
        ("exec_command", json!({"command": "  "}), "empty_command"),
        (
            "exec_command",
            json!({"command": ["ls"], "login": true}),
            "bad_arguments",
        ),
        (
            "exec_command",
            json!({"command": ["ls"], "screen": true, "tty": false}),
            "bad_arguments",
        ),
        (
            "exec_command",
            json!({"command": "ls", "shell": "/bin/cat"}),
            "shell_not_allowed",
        ),
        (
            "exec_command",
            json!({"command": "ls", "process_id": ""}),
            "bad_arguments",
        ),
        (
            "exec_command",
            json!({"command": "ls", "yield_time_ms": 600_001}),
            "timeout_too_long",
        ),
        (
            "exec_command",
            json!({"command": "ls", "ttty": true}),
            "unknown_field",
        ),
        ("write_stdin", json!({"process_id": "8"}), "no_such_process"),
        (
            "write_stdin",
            json!({"process_id": "7", "pattern": "("}),
            "bad_arguments",
        ),
        (
            "write_stdin",
            json!({"process_id": "7", "resize": {"rows": 1, "cols": 1}}),
            "input_not_written",
        ),
        (
            "write_stdin",
            json!({"process_id": "7", "resize": {"rows": 0, "cols": 1}}),
            "bad_arguments",
        ),
        (
            "write_stdin",
            json!({"process_id": "7", "screen": true}),
            "input_not_written",
        ),
    ] {
        let found = code(engine.call(tool, arguments.clone()).await);
        assert_eq!(found, expected, "{tool} {arguments}");
    }
    // None of this has harmed it.
    let reply = engine
        .call("write_stdin", json!({"process_id": 7, "yield_time_ms": 0}))
        .await
        .unwrap();
    assert_eq!(reply["process_id"], "7", "{reply:#}");
}

async fn what_the_fence_refused_runs_again_after_a_yes() {
    let home = TestHome::new();
    let folder = home.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let no = || Scripted::DenyAll {
        message: "no".to_owned(),
    };
    // A folder is granted inside; the home folder is not offered as a whole.
    for (answer, outside, again) in [
        (Scripted::ApproveAll, "elsewhere/new", Some("inside")),
        (
            Scripted::ApproveAllUnfenced,
            "elsewhere/new",
            Some("inside"),
        ),
        (Scripted::ApproveAll, "new", None),
        (Scripted::ApproveAllUnfenced, "new", Some("OUTSIDE")),
        (no(), "elsewhere/new", None),
        (no(), "new", None),
    ] {
        let outside = home.path().join(outside);
        let mut opening = Opening {
            approver: Arc::new(answer),
            ..Opening::default()
        };
        opening.config.approval.policy = ApprovalPolicy::OnFailure;
        let engine = opening.engine(&home, &home.work());
        let _ = std::fs::remove_file(&outside);
        let reply = engine
            .call("exec_command", json!({"command": ["touch", outside]}))
            .await
            .unwrap();
        assert_eq!(reply["exit_code"] == 0, again.is_some(), "{reply:#}");
        assert_eq!(outside.exists(), again.is_some());
        assert_eq!(
            reply["not_retried"].is_string(),
            again.is_none(),
            "{reply:#}"
        );
        let retried = reply["retried"].as_str();
        assert_eq!(retried.is_some(), again.is_some(), "{reply:#}");
        assert!(
            retried.is_none_or(|said| said.contains(again.unwrap())),
            "{reply:#}"
        );
    }
}

async fn a_pattern_is_found_at_the_end_of_a_flood() {
    let home = TestHome::new();
    let engine = engine(&home);
    let command = "head -c 50000000 /dev/zero | tr '\\0' x; echo; echo found it; exec cat";
    let reply = engine
        .call(
            "exec_command",
            json!({
                "command": command, "pattern": "found it$", "yield_time_ms": 60_000, "tty": false,
                "max_output_tokens": 10,
            }),
        )
        .await
        .unwrap();
    let output = reply["output"].as_str().unwrap();
    assert!(output.ends_with("found it\n"), "{reply:#}");
    assert!(reply["process_id"].is_string(), "{reply:#}");
}
