//! An engine in a home of its own, and what differs from run to run made the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence::approval::Scripted;
use ringfence::audit::{AuditLog, AuditPlace, SystemClock};
use ringfence::config::{Config, ScriptMode};
use ringfence::event::EventSink;
use ringfence::jail::{Launches, WardenProgram};
use ringfence::policy::permissions::ApprovalPolicy;
use ringfence::policy::ruleset::RuleSet;
use ringfence::session::detect_shell;
use ringfence::tools::ToolSet;
use ringfence::{Engine, EngineOptions};
use serde_json::Value;

/// The name and the body of a test.
pub(crate) type Case = (&'static str, fn());

/// A home with a workspace in it.
pub(crate) struct Stage {
    root: tempfile::TempDir,
    pub(crate) config: Config,
    pub(crate) tools: ToolSet,
    pub(crate) approver: Scripted,
    pub(crate) events: EventSink,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("ringfence-")
            .tempdir_in("/var/tmp")
            .unwrap();
        std::fs::create_dir_all(root.path().join("home/work")).unwrap();
        let mut config = Config::default();
        config.script.mode = ScriptMode::Enabled;
        config.approval.policy = ApprovalPolicy::Never;
        Self {
            root,
            config,
            tools: ToolSet::built_in(),
            approver: Scripted::ApproveAll,
            events: ringfence::event::nowhere(),
        }
    }

    fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    pub(crate) fn engine(&self) -> Engine {
        let home = self.home();
        let outputs = home.join("outputs");
        std::fs::create_dir_all(outputs.join("own")).unwrap();
        Engine::open(EngineOptions {
            workspace: self.work(),
            home: Some(home.clone()),
            environment: BTreeMap::from([
                ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
                ("HOME".to_owned(), home.display().to_string()),
            ]),
            config: self.config.clone(),
            rules: RuleSet::default(),
            rules_file: None,
            shell: detect_shell(Some(Path::new("/bin/bash")), 0, None).unwrap(),
            audit: Some(AuditLog::open(&self.audit(), SystemClock).unwrap()),
            scratch: Some(outputs.join("own")),
            journals: Some(home.join("journals")),
            marks: Some(home.join("marks")),
            launches: Launches::Many,
            approver: Arc::new(self.approver.clone()),
            events: self.events.clone(),
            warden: WardenProgram::ThisProgram,
            private: ["journals", "marks", "audit", "state"]
                .map(|name| home.join(name))
                .to_vec(),
            tools: self.tools.clone(),
            front: "test",
        })
        .unwrap()
    }

    fn audit(&self) -> AuditPlace {
        AuditPlace {
            dir: self.home().join("audit"),
            state_dir: self.home().join("state"),
        }
    }

    /// What was put on record, line by line.
    pub(crate) fn recorded(&self) -> Vec<Value> {
        let logs = std::fs::read_dir(self.audit().dir).unwrap();
        let lines = logs.flat_map(|log| {
            let text = std::fs::read_to_string(log.unwrap().path()).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
            lines.collect::<Vec<_>>()
        });
        lines.collect()
    }

    /// A reply in which paths, times and made-up names are the same in every run.
    pub(crate) fn normal(&self, value: &mut Value) {
        let root = self.root.path().display().to_string();
        normal(value, "", &root);
    }
}

/// Fields with numbers that differ from run to run.
const NUMBERS: &[&str] = &[
    "duration",
    "durationMs",
    "duration_ms",
    "wall_time_ms",
    "startedAt",
    "elapsedMs",
    "timestamp",
    "memoryUsedBytes",
    "memory_used_mb",
    "pid",
];
/// Fields with made-up names.
const NAMES: &[&str] = &[
    "backgroundTaskId",
    "background_task_id",
    "leftRunningTaskId",
    "raw_output_path",
    "rawOutputPath",
    "id",
    "call_id",
];

fn normal(value: &mut Value, field: &str, root: &str) {
    match value {
        Value::Object(fields) => fields
            .iter_mut()
            .for_each(|(name, value)| normal(value, name, root)),
        Value::Array(items) => items.iter_mut().for_each(|item| normal(item, field, root)),
        Value::Number(number) if NUMBERS.contains(&field) => *number = 0.into(),
        Value::String(text) if NAMES.contains(&field) => "…".clone_into(text),
        // A child of a shell has the shell's own words until it has become what it runs, and none of its own for a moment.
        Value::String(text) if field == "command" && text.contains("sleep") => {
            "sleep 300".clone_into(text);
        }
        Value::String(text) => {
            *text = text.replace(root, "ROOT");
            // What a script returned is JSON in a text, and an output may name its file.
            if let Ok(mut inner @ Value::Object(_)) = serde_json::from_str(text) {
                normal(&mut inner, "", root);
                *text = inner.to_string();
            }
            if let Some((words, _)) = text.split_once("the whole output is in ") {
                *text = format!("{words}the whole output is in …");
            }
        }
        _ => {}
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}
