//! An engine, a model and a loop around them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ringfence::agent::{
    Agent, AgentEvent, AgentLimits, AgentListener, AgentOptions, AgentReport, Ended, Journal,
};
use ringfence::approval::Scripted;
use ringfence::config::{Config, ScriptMode};
use ringfence::dialect::Item;
use ringfence::dialect::provider::{Provider, Raw, RequestOptions};
use ringfence::event::Listener;
use ringfence::policy::permissions::ApprovalPolicy;
use ringfence::shell::detect_shell;
use ringfence::tools::{Invocation, Tool, ToolSet};
use ringfence::{CallError, Cancel, Engine};
use ringfence_testkit::home::TestHome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{Comes, Model};

/// A home with an engine in it, and what a loop came to.
pub(crate) struct Stage {
    pub(crate) home: TestHome,
    pub(crate) limits: AgentLimits,
    pub(crate) own: Vec<Value>,
    pub(crate) mode: ScriptMode,
    pub(crate) counter: Arc<Mutex<Vec<String>>>,
    pub(crate) listener: Arc<dyn Listener>,
}

/// What was heard of a loop.
#[derive(Default)]
pub(crate) struct Heard {
    /// Kinds of items and files that changed, turn by turn.
    pub(crate) turns: Mutex<Vec<(Vec<Item>, Vec<ringfence::agent::FileDiff>)>>,
    pub(crate) failures: Mutex<Vec<(&'static str, bool)>>,
    pub(crate) began: Mutex<Vec<String>>,
}

impl AgentListener for Heard {
    fn hear(&self, event: &AgentEvent<'_>) {
        match event {
            AgentEvent::TurnEnded { items, changes } => {
                self.turns
                    .lock()
                    .unwrap()
                    .push((items.to_vec(), changes.to_vec()));
            }
            AgentEvent::Failed {
                code, tries_again, ..
            } => self.failures.lock().unwrap().push((code, *tries_again)),
            AgentEvent::StepBegan { tool, .. } => {
                self.began.lock().unwrap().push((*tool).to_owned());
            }
            _ => {}
        }
    }
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            home: TestHome::new(),
            limits: AgentLimits::default(),
            own: Vec::new(),
            mode: ScriptMode::Enabled,
            counter: Arc::default(),
            listener: ringfence::event::nowhere(),
        }
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.home.work().join(name)
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.home.path().join("conversation.jsonl")
    }

    pub(crate) fn engine(&self) -> Engine {
        let home = self.home.path();
        let mut config = Config::default();
        config.approval.policy = ApprovalPolicy::Never;
        config.audit.enabled = false;
        Engine::builder(self.home.work())
            .environment([
                ("PATH", "/usr/local/bin:/usr/bin:/bin"),
                ("HOME", &*home.display().to_string()),
            ])
            .config(config)
            .shell(detect_shell(Some(Path::new("/bin/bash")), 0, None).unwrap())
            .state(home.join("state"))
            .outputs(home.join("outputs/own"))
            .approver(Scripted::ApproveAll)
            .shared_listener(Arc::clone(&self.listener))
            .tools(
                ToolSet::built_in()
                    .with(Count(Arc::clone(&self.counter)))
                    .unwrap(),
            )
            .front("test")
            .open()
            .unwrap()
    }

    pub(crate) fn options(
        &self,
        engine: &Engine,
        provider: Provider,
        comes: Comes,
    ) -> AgentOptions {
        let own = self.own.iter().map(Raw::of);
        let names: Vec<&str> = self
            .own
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        AgentOptions {
            request: RequestOptions {
                model: "m".to_owned(),
                stream: comes != Comes::Whole,
                ..RequestOptions::default()
            },
            tools: engine.tool_table(
                provider,
                |name| !names.contains(&name) && name != "run_script",
                own,
            ),
            limits: self.limits.clone(),
            vendor: "test".to_owned(),
            script_mode: Some(self.mode),
            compaction: None,
        }
    }

    /// Runs a loop to its end, in a journal of its own.
    pub(crate) async fn run(
        &self,
        provider: Provider,
        comes: Comes,
        model: &Model,
    ) -> (AgentReport, Arc<Heard>) {
        let engine = self.engine();
        let heard = Arc::new(Heard::default());
        let options = self.options(&engine, provider, comes);
        let journal = Journal::create(&self.journal(), provider).unwrap();
        let mut agent = Agent::new(&engine, model, options, journal, Arc::clone(&heard) as _);
        let report = agent.run(Some("Do it."), &Cancel::new()).await.unwrap();
        (report, heard)
    }

    /// Goes on with what the journal has.
    pub(crate) async fn resume(
        &self,
        engine: &Engine,
        provider: Provider,
        model: &Model,
    ) -> AgentReport {
        let options = self.options(engine, provider, Comes::Whole);
        let journal = Journal::open(&self.journal()).unwrap();
        let mut agent = Agent::new(
            engine,
            model,
            options,
            journal,
            Arc::new(Heard::default()) as _,
        );
        let report = agent.run(None, &Cancel::new()).await.unwrap();
        assert_eq!(report.ended, Ended::Done);
        report
    }

    pub(crate) fn counted(&self) -> Vec<String> {
        self.counter.lock().unwrap().clone()
    }
}

/// A tool that keeps count of its calls.
struct Count(Arc<Mutex<Vec<String>>>);

#[derive(Deserialize, JsonSchema)]
struct Word {
    word: String,
    /// How long a text to return.
    size: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Counted {
    text: String,
}

impl Tool for Count {
    type Arguments = Word;
    type Reply = Counted;

    fn name(&self) -> &'static str {
        "count"
    }

    fn description(&self) -> &'static str {
        "Counts."
    }

    async fn run(&self, _: Invocation<'_>, asked: Word) -> Result<Counted, CallError> {
        self.0.lock().unwrap().push(asked.word.clone());
        // What it did is done; what it says may be lost.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        if asked.word == "fail" {
            return Err(CallError::failed("it failed"));
        }
        let line = format!("{}\n", asked.word);
        let text = line.repeat(asked.size.unwrap_or(1).div_ceil(line.len()).max(1));
        Ok(Counted { text })
    }
}
