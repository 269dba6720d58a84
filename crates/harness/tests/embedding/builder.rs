//! What holds for an engine that a program opens with little, and what it can add.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use libtest_mimic::Failed;
use ringfence::approval::{AnswerFuture, Approver, Chain, Scripted};
use ringfence::audit::{self, Record};
use ringfence::config::{Config, ScriptMode};
use ringfence::event::Event;
use ringfence::output::OutputProcessor;
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use ringfence::script::ScriptRequest;
use ringfence::{Engine, EngineBuilder};
use serde_json::{Value, json};

type Check = fn(&Path) -> Result<(), Failed>;

/// Each gets a folder of its own.
pub(crate) const CHECKS: &[(&str, Check)] = &[
    ("nothing_is_taken_from_the_environment", environment),
    ("nobody_to_ask_is_a_no", nobody),
    ("state_is_out_of_reach", state),
    ("the_audit_log_says_who_of_a_chain_answered", chain),
    ("processors_see_what_scripts_read_too", processors),
    ("every_listener_hears_everything", listeners),
];

/// Asked about under the default policy.
const SUSPICIOUS: &str = "git reset --hard";

fn bash(engine: &Engine, command: &str) -> Result<Value, ringfence::CallError> {
    block_on(engine.call("bash", json!({ "command": command })))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future)
}

fn builder(folder: &Path) -> EngineBuilder {
    let workspace = folder.join("work");
    std::fs::create_dir_all(&workspace).unwrap();
    Engine::builder(workspace).state(folder.join("state"))
}

/// The process of this test has a variable `LANG`.
fn environment(folder: &Path) -> Result<(), Failed> {
    let show = "echo ${LANG-none} ${HOME-none}; date +%Z";
    for (engine, expected) in [
        (builder(folder), "none none\nUTC\n"),
        (
            builder(folder).environment([("LANG", "given"), ("TZ", "XYZ3")]),
            "given none\nXYZ\n",
        ),
    ] {
        let shown = bash(&engine.open()?, show)?;
        // Root's commands run as the owner of the folder, and have that user's home.
        let text = shown["stdout"].as_str().unwrap().replace("/root", "none");
        assert_eq!(text, expected, "{shown}");
    }
    Ok(())
}

fn nobody(folder: &Path) -> Result<(), Failed> {
    let refused = bash(&builder(folder).open()?, SUSPICIOUS).unwrap_err();
    assert_eq!(refused.code(), "denied_by_user", "{refused}");
    let engine = builder(folder).approver(Scripted::ApproveAll).open()?;
    assert_ne!(bash(&engine, SUSPICIOUS)?["exitCode"], 0, "it ran");
    Ok(())
}

fn state(folder: &Path) -> Result<(), Failed> {
    // In the very folder that commands may write.
    let state = folder.join("work/state");
    let engine = builder(folder).state(&state).open()?;
    for (command, twin) in [
        ("cat state/audit/*", "ls -d state"),
        ("touch state/x", "touch x"),
        ("mv state other", "mkdir a && mv a other"),
    ] {
        let attempt = bash(&engine, command);
        assert!(
            attempt.is_err() || attempt.is_ok_and(|reply| reply["exitCode"] != 0),
            "{command}"
        );
        assert_eq!(bash(&engine, twin)?["exitCode"], 0, "{twin}");
    }
    assert!(state.join("audit").is_dir() && !state.join("x").exists());
    Ok(())
}

struct Absent;

impl Approver for Absent {
    fn name(&self) -> &'static str {
        "absent"
    }

    fn ask<'a>(&'a self, _: &'a Question, _: &'a Grounds) -> AnswerFuture<'a> {
        Box::pin(async { Answer::NobodyToAsk("gone fishing".to_owned()) })
    }
}

fn chain(folder: &Path) -> Result<(), Failed> {
    let nested = Chain::default().then(Absent).then(Scripted::ApproveAll);
    let engine = builder(folder).approver(Absent).approver(nested).open()?;
    let _ = bash(&engine, SUSPICIOUS)?;
    drop(engine);
    let mut answered = Vec::new();
    for entry in audit::read(&folder.join("state/audit"))? {
        if let Record::ApprovalAnswered(answer) = entry?.record {
            answered.push(answer.by);
        }
    }
    assert_eq!(answered, ["scripted"]);
    let engine = builder(folder).approver(Absent).approver(Absent).open()?;
    let refused = bash(&engine, SUSPICIOUS).unwrap_err();
    assert_eq!(refused.code(), "approval_not_possible", "{refused}");
    Ok(())
}

struct Shout;

impl OutputProcessor for Shout {
    fn process<'t>(&self, _: &str, text: &'t str) -> Cow<'t, str> {
        text.to_uppercase().into()
    }
}

fn processors(folder: &Path) -> Result<(), Failed> {
    let mut config = Config::default();
    config.script.mode = ScriptMode::Enabled;
    let engine = builder(folder)
        .config(config)
        .output_processor(Shout)
        .open()?;
    let shell = json!({ "command": ["echo", "quiet"] });
    let reply = block_on(engine.call("shell", shell))?;
    assert_eq!(reply["stdout"]["text"], "QUIET\n", "{reply}");
    assert_eq!(reply["aggregated_output"]["text"], "QUIET\n", "{reply}");
    let source = "return (await tools.exec({ command: ['echo', 'quiet'] })).stdout";
    let call = engine.new_call();
    let run = block_on(engine.run_script(&call, ScriptRequest::new(source)))?;
    assert_eq!(
        run.output.output_json.as_deref(),
        Some("\"QUIET\\n\""),
        "{:?}",
        run.output
    );
    Ok(())
}

fn listeners(folder: &Path) -> Result<(), Failed> {
    let told: Arc<Mutex<Vec<&str>>> = Arc::default();
    let listener = |name: &'static str| {
        let told = Arc::clone(&told);
        move |event: &Event<'_>| {
            if let Event::Begin { .. } = event {
                told.lock().unwrap().push(name);
            }
        }
    };
    let engine = builder(folder)
        .listener(listener("one"))
        .listener(listener("two"))
        .open()?;
    let _ = bash(&engine, "true")?;
    assert_eq!(*told.lock().unwrap(), ["one", "two"]);
    Ok(())
}
