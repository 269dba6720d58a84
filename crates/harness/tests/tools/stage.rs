//! An engine in a home of its own, and what differs from run to run made the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence::Engine;
use ringfence::approval::Scripted;
use ringfence::audit::{AuditFolders, AuditLog, SystemClock};
use ringfence::config::{Config, ScriptMode};
use ringfence::event::Listener;
use ringfence::policy::permissions::ApprovalPolicy;
use ringfence::shell::detect_shell;
use ringfence::tools::ToolSet;
use serde_json::Value;

/// A home with a workspace in it.
pub(crate) struct Stage {
    root: tempfile::TempDir,
    pub(crate) config: Config,
    pub(crate) tools: ToolSet,
    pub(crate) approver: Scripted,
    pub(crate) listener: Arc<dyn Listener>,
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
            listener: ringfence::event::nowhere(),
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
        Engine::builder(self.work())
            .environment([
                ("PATH", "/usr/local/bin:/usr/bin:/bin"),
                ("HOME", &*home.display().to_string()),
            ])
            .config(self.config.clone())
            .shell(detect_shell(Some(Path::new("/bin/bash")), 0, None).unwrap())
            .state(home.join("state"))
            .audit(AuditLog::open(&self.audit(), SystemClock).unwrap())
            .private(home.join("audit"))
            .outputs(outputs.join("own"))
            .approver(self.approver.clone())
            .shared_listener(Arc::clone(&self.listener))
            .tools(self.tools.clone())
            .front("test")
            .open()
            .unwrap()
    }

    fn audit(&self) -> AuditFolders {
        AuditFolders {
            dir: self.home().join("audit"),
            state_dir: self.home().join("state/audit-state"),
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
