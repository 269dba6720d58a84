//! The door: whichever action it is and wherever its future is dropped, the call has one beginning and
//! one end, and the log one intent and one outcome of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ringfence::Engine;
use ringfence::approval::{AnswerFuture, Approver};
use ringfence::audit::{self, AuditFolders, AuditLog, Decision, Outcome, Record, SystemClock};
use ringfence::config::{Config, OnTimeout, ScriptMode};
use ringfence::event::Event;
use ringfence::policy::action::{Action, ActionKind};
use ringfence::policy::permissions::Network;
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use ringfence_testkit::home::TestHome;
use ringfence_testkit::processes::gone_within_a_second;
use serde_json::{Value, json};

use crate::support::Case;
use crate::support::opening::{Opening, code};
use crate::support::steps::poll_times;

pub(crate) fn cases() -> Vec<Case> {
    [
        asynchronous![
            a_command_is_moved_only_where_there_is_room,
            what_a_terminal_does_not_show_is_not_in_the_log,
            typing_and_stopping_are_refused_where_a_rule_says_so,
        ],
        plain![
            every_entry_leaves_one_of_each_wherever_it_is_dropped,
            what_is_given_up_while_somebody_is_asked_is_on_record_as_undecided,
        ],
    ]
    .concat()
}

/// What was told and recorded of one call.
#[derive(Debug, Default, PartialEq)]
struct Traces {
    tool: String,
    begins: u32,
    ends: u32,
    intents: u32,
    outcomes: Vec<Outcome>,
}

type ByCall = Arc<Mutex<BTreeMap<String, Traces>>>;

/// An engine whose log and events are looked at.
struct Watched {
    home: TestHome,
    audit: AuditFolders,
    calls: ByCall,
    asked: Arc<tokio::sync::Notify>,
    rules: Option<std::path::PathBuf>,
}

impl Watched {
    fn new() -> Self {
        let home = TestHome::new();
        let audit = AuditFolders {
            dir: home.outside().join("audit"),
            state_dir: home.outside().join("state"),
        };
        Self {
            home,
            audit,
            calls: Arc::default(),
            asked: Arc::default(),
            rules: None,
        }
    }

    fn engine(&self, change: impl FnOnce(&mut Config)) -> Engine {
        let calls = Arc::clone(&self.calls);
        let mut config = Config::default();
        config.script.mode = ScriptMode::Enabled;
        change(&mut config);
        let opening = Opening {
            config,
            approver: Arc::new(Somebody(Arc::clone(&self.asked))),
            audit: Some(AuditLog::open(&self.audit, SystemClock).unwrap()),
            listener: Arc::new(move |event: &Event<'_>| {
                let mut calls = calls.lock().unwrap();
                match event {
                    Event::Begin { call, .. } => {
                        calls.entry(call.0.clone()).or_default().begins += 1;
                    }
                    Event::End { call, .. } => calls.entry(call.0.clone()).or_default().ends += 1,
                    _ => {}
                }
            }),
            rules_file: self.rules.clone(),
            ..Opening::default()
        };
        opening.engine(&self.home, &self.home.work())
    }

    /// What came of every call, by its id, once the engine is gone. Commands of the harness's own are
    /// no calls.
    fn traces(&self) -> BTreeMap<String, Traces> {
        let mut calls = self.calls.lock().unwrap();
        for entry in audit::read(&self.audit.dir).unwrap() {
            match entry.unwrap().record {
                Record::Intent(intent) => {
                    let traces = calls.entry(intent.call.0).or_default();
                    traces.intents += 1;
                    traces.tool = intent.tool;
                }
                Record::Outcome(ended) => {
                    let traces = calls.entry(ended.call.0).or_default();
                    traces.outcomes.push(ended.outcome);
                }
                _ => {}
            }
        }
        calls.retain(|_, traces| traces.tool != "login-environment");
        std::mem::take(&mut calls)
    }

    fn check(&self, about: &str) -> BTreeMap<String, Traces> {
        let traces = self.traces();
        assert!(!traces.is_empty(), "{about}");
        for (call, one) in &traces {
            let counts = (one.begins, one.ends, one.intents, one.outcomes.len());
            assert_eq!(counts, (1, 1, 1, 1), "{about}: {call}: {one:?}");
        }
        traces
    }
}

/// Somebody who says yes, and never answers about hosts.
struct Somebody(Arc<tokio::sync::Notify>);

impl Approver for Somebody {
    fn name(&self) -> &'static str {
        "somebody"
    }

    fn ask<'a>(&'a self, question: &'a Question, _: &'a Grounds) -> AnswerFuture<'a> {
        let about_a_host = matches!(question.action(), Action::Connect(_) | Action::SendHttp(_));
        Box::pin(async move {
            if about_a_host {
                self.0.notify_one();
                std::future::pending::<()>().await;
            }
            Answer::Approved
        })
    }
}

/// The calls that make an action of a kind, each by the number of its round. Every kind has one.
fn calls_of(kind: ActionKind) -> &'static [&'static str] {
    match kind {
        ActionKind::RunCommand => &["shell", "asked", "background", "session"],
        ActionKind::RunScript => &["code", "script"],
        ActionKind::ApplyPatch => &["patch"],
        ActionKind::SearchFiles => &["search"],
        ActionKind::Connect => &["connect"],
        ActionKind::SendHttp => &["http"],
        ActionKind::TypeInput => &["type"],
        ActionKind::StopProcess => &["stop"],
    }
}

async fn made(engine: &Engine, call: &str, round: usize) -> (&'static str, Value) {
    let background = json!({"command": "sleep 86371", "run_in_background": true});
    match call {
        "shell" => ("shell", json!({"command": ["sleep", "86371"]})),
        "asked" => (
            "shell",
            json!({"command": ["chmod", "-R", "u+rw", "/nowhere"]}),
        ),
        "background" => ("bash", background),
        "session" => {
            let id = format!("p{round}");
            let arguments = json!({"command": ["cat"], "process_id": id, "tty": true});
            ("exec_command", arguments)
        }
        "code" => ("run_code", json!({"source": "for (;;) {}"})),
        "script" => {
            let source = "await tools.exec({ command: ['sleep', '86371'] })";
            ("run_script", json!({"source": source}))
        }
        "patch" => {
            let patch = format!("*** Begin Patch\n*** Add File: f{round}\n+x\n*** End Patch");
            ("apply_patch", json!({"patch": patch}))
        }
        "search" => ("file_search", json!({"pattern": "f"})),
        "connect" => {
            let line = "curl -s http://example.invalid/";
            ("shell", json!({"command": ["bash", "-c", line]}))
        }
        "http" => ("http", json!({"url": "http://example.invalid/"})),
        "type" => {
            let id = format!("t{round}");
            let start = json!({"command": ["cat"], "process_id": id, "yield_time_ms": 0});
            engine.call("exec_command", start).await.unwrap();
            let typed = json!({"process_id": id, "input": "x\n", "yield_time_ms": 20_000});
            ("write_stdin", typed)
        }
        "stop" => {
            let started = engine.call("bash", background).await.unwrap();
            (
                "bash_task_stop",
                json!({"taskId": started["backgroundTaskId"]}),
            )
        }
        other => panic!("{other}"),
    }
}

fn every_entry_leaves_one_of_each_wherever_it_is_dropped() {
    for kind in ActionKind::ALL {
        for call in calls_of(*kind) {
            let watched = Watched::new();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let engine = watched.engine(|config| {
                    config.bash.max_background_tasks = 1000;
                    config.script.expose.enable_http = true;
                    if *call == "connect" {
                        config.sandbox.network = Network::AllowList;
                    }
                });
                // The login environment and the warden are made by the first call.
                let first = json!({"command": "true"});
                engine.call("bash", first).await.unwrap();
                for steps in 0..16 {
                    let (tool, arguments) = made(&engine, call, steps).await;
                    poll_times(engine.call(tool, arguments), steps).await;
                }
                if *call == "connect" {
                    let (tool, arguments) = made(&engine, call, 0).await;
                    tokio::select! {
                        reply = engine.call(tool, arguments) => panic!("{reply:?}"),
                        () = watched.asked.notified() => {}
                    }
                }
            });
            drop(runtime);
            let traces = watched.check(call);
            let own = if *call == "connect" { "connect" } else { "" };
            let abandoned = traces.values().filter(|one| one.tool.contains(own));
            let abandoned: Vec<_> = abandoned.flat_map(|one| &one.outcomes).collect();
            let quick = ["asked", "patch", "search", "type", "stop"].contains(call);
            assert!(
                quick || abandoned.contains(&&Outcome::Abandoned),
                "{call}: {traces:#?}"
            );
        }
    }
    gone_within_a_second("sleep 86371").unwrap();
}

fn what_is_given_up_while_somebody_is_asked_is_on_record_as_undecided() {
    let watched = Watched::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let engine = watched.engine(|config| config.sandbox.network = Network::AllowList);
        let (tool, arguments) = made(&engine, "connect", 0).await;
        tokio::select! {
            reply = engine.call(tool, arguments) => panic!("{reply:?}"),
            () = watched.asked.notified() => {}
        }
    });
    drop(runtime);
    let verdict =
        audit::read(&watched.audit.dir)
            .unwrap()
            .find_map(|entry| match entry.unwrap().record {
                Record::Intent(intent) if intent.tool == "connect" => Some(intent.verdict),
                _ => None,
            });
    assert_eq!(verdict, Some(Decision::Ask));
}

async fn a_command_is_moved_only_where_there_is_room() {
    let watched = Watched::new();
    let engine = watched.engine(|config| {
        config.bash.max_background_tasks = 1;
        config.bash.on_timeout = OnTimeout::Background;
    });
    let first = json!({"command": "sleep 86372", "timeout": 300});
    let moved = engine.call("bash", first.clone()).await.unwrap();
    assert_eq!(moved["status"], "running", "{moved:#}");
    let second = engine.call("bash", first).await.unwrap();
    assert_eq!(second["exitCode"], 124, "{second:#}");
    assert!(second.get("backgroundTaskId").is_none(), "{second:#}");
}

/// What the log has of the calls of a tool.
fn recorded(watched: &Watched, tool: &str) -> Vec<String> {
    audit::read(&watched.audit.dir)
        .unwrap()
        .filter_map(|entry| match entry.unwrap().record {
            Record::Intent(intent) if intent.tool == tool => Some(format!("{:?}", intent.command)),
            _ => None,
        })
        .collect()
}

async fn what_a_terminal_does_not_show_is_not_in_the_log() {
    let watched = Watched::new();
    let engine = watched.engine(|_| {});
    let asks = "stty -echo; echo secret?; read x; stty echo; echo open?; read y; echo done";
    let start = json!({"command": ["bash", "-c", asks], "tty": true, "process_id": "p",
        "pattern": "secret", "yield_time_ms": 20_000});
    engine.call("exec_command", start).await.unwrap();
    for (text, until) in [("hunter2\n", "open"), ("plain words\n", "done")] {
        let typed = json!({"process_id": "p", "input": text, "pattern": until,
            "yield_time_ms": 20_000});
        engine.call("write_stdin", typed).await.unwrap();
    }
    drop(engine);
    let typed = recorded(&watched, "write_stdin");
    assert!(
        typed[0].contains("8 bytes that its terminal does not show"),
        "{typed:?}"
    );
    assert!(typed[1].contains("plain words"), "{typed:?}");
    assert!(!typed.concat().contains("hunter2"), "{typed:?}");
}

async fn typing_and_stopping_are_refused_where_a_rule_says_so() {
    let mut watched = Watched::new();
    let rules = watched.home.outside().join("rules.toml");
    let deny = |what: &str| format!("[[rule]]\n{what}\ndecision = \"deny\"\n");
    let push = deny("prefix = [\"git\", \"push\"]");
    std::fs::write(&rules, push + &deny("tool = \"bash_task_stop\"")).unwrap();
    watched.rules = Some(rules);
    let engine = watched.engine(|_| {});
    let start = json!({"command": ["cat"], "process_id": "p", "yield_time_ms": 0});
    engine.call("exec_command", start).await.unwrap();
    let typed = |text: &str| json!({"process_id": "p", "input": text, "yield_time_ms": 0});
    engine
        .call("write_stdin", typed("git pull\n"))
        .await
        .unwrap();
    let refused = engine.call("write_stdin", typed("git push\n")).await;
    assert_eq!(code(refused), "denied_by_rule");
    let background = json!({"command": "sleep 86373", "run_in_background": true});
    let task = engine.call("bash", background).await.unwrap()["backgroundTaskId"].clone();
    let refused = engine.call("bash_task_stop", json!({"taskId": task})).await;
    assert_eq!(code(refused), "denied_by_rule");
    let state = engine.call("bash_task_output", json!({"taskId": task}));
    assert_eq!(state.await.unwrap()["status"], "running");
    drop(engine);
    let outcomes = watched.traces();
    let refused = outcomes
        .values()
        .filter(|one| one.outcomes == [Outcome::Refused]);
    assert_eq!(refused.count(), 2, "{outcomes:#?}");
}
