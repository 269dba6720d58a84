//! What a yes for the session is remembered for: what was shown, whole.

use std::sync::{Arc, Mutex};

use ringfence::Engine;
use ringfence::approval::{AnswerFuture, Approver};
use ringfence::config::Config;
use ringfence::policy::permissions::ApprovalPolicy;
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use ringfence_testkit::home::TestHome;
use serde_json::{Value, json};

use crate::support::Case;
use crate::support::opening::Opening;

pub(crate) fn cases() -> Vec<Case> {
    asynchronous![
        another_command_is_asked_about,
        outside_the_fence_only_one_literal_command_is_remembered,
        a_program_that_was_rewritten_inside_is_asked_about,
    ]
}

/// Says yes for the session to everything, and remembers what was asked.
#[derive(Default)]
struct Agreeable(Mutex<Vec<String>>);

impl Approver for Agreeable {
    fn name(&self) -> &'static str {
        "agreeable"
    }

    fn ask<'a>(&'a self, question: &'a Question, _: &'a Grounds) -> AnswerFuture<'a> {
        let asked = ringfence::subject(question.action());
        self.0.lock().unwrap().push(asked);
        Box::pin(std::future::ready(Answer::ApprovedForSession))
    }
}

fn open(home: &TestHome) -> (Engine, Arc<Agreeable>) {
    let mut config = Config::default();
    config.approval.policy = ApprovalPolicy::OnRequest;
    config.sandbox.allow_disable_sandbox = true;
    let approver = Arc::new(Agreeable::default());
    let opening = Opening {
        config,
        approver: approver.clone(),
        ..Opening::default()
    };
    (opening.engine(home, &home.work()), approver)
}

async fn asked_by(
    engine: &Engine,
    approver: &Agreeable,
    (tool, arguments): &(&str, Value),
) -> usize {
    let _ = engine.call(tool, arguments.clone()).await;
    std::mem::take(&mut *approver.0.lock().unwrap()).len()
}

fn shell(command: &[&str]) -> (&'static str, Value) {
    ("shell", json!({ "command": command }))
}

fn bash(text: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": text }))
}

fn exec(text: &str, more: &Value) -> (&'static str, Value) {
    let mut arguments = json!({ "command": text, "login": false, "yield_time_ms": 2000 });
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    ("exec_command", arguments)
}

/// The second is not what was approved, however alike they look.
async fn another_command_is_asked_about() {
    let home = TestHome::new();
    std::fs::create_dir_all(home.work().join("sub")).unwrap();
    let padding = "x".repeat(80);
    let long = "y".repeat(40_000);
    let pairs = [
        (bash("frobnicate a"), bash("frobnicate b")),
        (bash("frobnicate a"), bash("frobnicate  a")),
        (bash("frobnicate a"), bash("frobnicate 'a'")),
        (bash("frobnicate a b"), bash("frobnicate 'a b'")),
        (bash("frobnicate a"), bash("frobnicate a # b")),
        (bash("frobnicate a"), bash("frobnicate a\n")),
        (bash("frobnicate a; other"), bash("frobnicate a && other")),
        // What was not understood was cut once, and what is long was too.
        (
            bash(&format!("frobnicate ${{{padding}@P}} one")),
            bash(&format!("frobnicate ${{{padding}@P}} two")),
        ),
        (
            bash(&format!("frobnicate $({padding} 'one")),
            bash(&format!("frobnicate $({padding} 'two")),
        ),
        (
            bash(&format!("frobnicate {long} one")),
            bash(&format!("frobnicate {long} two")),
        ),
        (
            bash(&format!("frobnicate <<'E'\n{long}one\nE")),
            bash(&format!("frobnicate <<'E'\n{long}two\nE")),
        ),
        (
            shell(&["frobnicate", "a b"]),
            shell(&["frobnicate", "a", "b"]),
        ),
        (
            shell(&["frobnicate", "a\0b"]),
            shell(&["frobnicate", "a", "b"]),
        ),
        (
            (
                "shell",
                json!({ "command": ["frobnicate"], "workdir": "." }),
            ),
            (
                "shell",
                json!({ "command": ["frobnicate"], "workdir": "sub" }),
            ),
        ),
        (
            exec("frobnicate", &json!({})),
            exec("frobnicate", &json!({ "shell": "/bin/sh" })),
        ),
        // Another environment: a terminal has another TERM.
        (
            exec("frobnicate", &json!({})),
            exec("frobnicate", &json!({ "tty": false })),
        ),
        (
            bash("kubectl get pods"),
            (
                "bash",
                json!({ "command": "kubectl get pods", "dangerouslyDisableSandbox": true }),
            ),
        ),
        (
            shell(&["kubectl", "get", "pods"]),
            (
                "shell",
                json!({
                    "command": ["kubectl", "get", "pods"],
                    "sandbox_permissions": "require_escalated",
                }),
            ),
        ),
    ];
    for (first, second) in &pairs {
        let (engine, approver) = open(&home);
        assert_eq!(asked_by(&engine, &approver, first).await, 1, "{first:?}");
        assert_eq!(asked_by(&engine, &approver, second).await, 1, "{second:?}");
        // The harmless twin: neither is asked about again.
        assert_eq!(asked_by(&engine, &approver, second).await, 0, "{second:?}");
        assert_eq!(asked_by(&engine, &approver, first).await, 0, "{first:?}");
    }
}

/// Outside the fence a yes for the session is a yes for one literal command; to anything else it
/// is a yes for once.
async fn outside_the_fence_only_one_literal_command_is_remembered() {
    let home = TestHome::new();
    for (text, again) in [
        ("uname -a", 0),
        ("uname -a; other", 1),
        ("uname -a | other", 1),
        ("uname -a &", 1),
        ("X=1 uname -a", 1),
        ("uname $X", 1),
        ("uname $(other)", 1),
        ("uname $((x))", 1),
        ("uname *", 1),
        ("uname ~", 1),
        ("uname > f", 1),
        ("uname <<< x", 1),
        ("timeout 5 uname", 1),
        ("bash -c 'uname -a'", 0),
        ("bash -c 'uname -a; other'", 1),
        ("f() { other; }; f", 1),
        // What commands in the fence may change, or what runs what it finds there.
        ("./deploy.sh", 1),
        ("sh deploy.sh", 1),
        ("make deploy", 1),
        ("python3 -m deploy", 1),
        ("frobnicate a", 1),
    ] {
        let (engine, approver) = open(&home);
        let call = (
            "bash",
            json!({ "command": text, "dangerouslyDisableSandbox": true }),
        );
        assert_eq!(asked_by(&engine, &approver, &call).await, 1, "{text}");
        assert_eq!(asked_by(&engine, &approver, &call).await, again, "{text}");
    }
}

/// What was approved was the program as it was then: rewritten in the fence, it is asked about.
async fn a_program_that_was_rewritten_inside_is_asked_about() {
    let home = TestHome::new();
    let script = home.work().join("deploy.sh");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    let (engine, approver) = open(&home);
    let outside = |text: &str| {
        let arguments = json!({ "command": text, "dangerouslyDisableSandbox": true });
        ("bash", arguments)
    };
    let (deploy, look) = (outside("sh ./deploy.sh"), outside("uname -s"));
    let marker = home.work().parent().unwrap().join("marker");
    assert_eq!(asked_by(&engine, &approver, &deploy).await, 1);
    assert_eq!(asked_by(&engine, &approver, &look).await, 1);
    let rewrite = format!("echo ': > {}' > deploy.sh", marker.display());
    let _ = asked_by(&engine, &approver, &bash(&rewrite)).await;
    assert!(!std::fs::read_to_string(&script).unwrap().is_empty());
    assert!(!marker.exists());
    assert_eq!(asked_by(&engine, &approver, &deploy).await, 1);
    assert_eq!(asked_by(&engine, &approver, &look).await, 0);
}
