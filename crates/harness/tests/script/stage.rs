//! An engine for one test, and short words for what most tests do.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringfence::Engine;
use ringfence::approval::{Approver, Scripted};
use ringfence::config::{Config, ScriptMode};
use ringfence::dialect::{ErrorCode, LogLevel, ScriptToolCallOutput};
use ringfence::event::{Event, Tone};
use ringfence::policy::permissions::ApprovalPolicy;
use ringfence::script::ScriptRequest;
use ringfence_testkit::home::TestHome;
use serde_json::Value;

use crate::support::block_on;
use crate::support::opening::Opening;

/// A place, and what differs from test to test.
pub(crate) struct Stage {
    pub(crate) home: TestHome,
    pub(crate) config: Config,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) said: Arc<Mutex<Vec<String>>>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let mut config = Config::default();
        config.script.mode = ScriptMode::Enabled;
        // Questions are what many of these tests are about.
        config.approval.policy = ApprovalPolicy::OnRequest;
        Self {
            home: TestHome::new(),
            config,
            approver: Arc::new(Scripted::ApproveAll),
            said: Arc::default(),
        }
    }

    /// The same with a configuration that differs.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    pub(crate) fn asking(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Arc::new(approver);
        self
    }

    pub(crate) fn engine(&self) -> Engine {
        let said = Arc::clone(&self.said);
        let listener = move |event: &Event<'_>| {
            let text = match event {
                Event::Said { tone, text, .. } => format!("{}: {text}", said_as(*tone)),
                Event::Notice { text, .. } => format!("Notice: {text}"),
                _ => return,
            };
            said.lock().unwrap().push(text);
        };
        let opening = Opening {
            config: self.config.clone(),
            approver: Arc::clone(&self.approver),
            listener: Arc::new(listener),
            ..Opening::default()
        };
        opening.engine(&self.home, &self.home.work())
    }

    /// What comes of a script.
    pub(crate) fn run(&self, source: &str) -> ScriptToolCallOutput {
        self.request(ScriptRequest::new(source))
    }

    pub(crate) fn request(&self, request: ScriptRequest) -> ScriptToolCallOutput {
        block_on(async {
            let engine = self.engine();
            let call = engine.new_call();
            engine.run_script(&call, request).await.unwrap().output
        })
    }

    /// What a script that must succeed returns.
    pub(crate) fn value(&self, source: &str) -> Value {
        let output = self.run(source);
        assert_eq!(output.error, None, "{source}");
        let text = output.output_json.as_deref();
        text.map_or(Value::Null, |text| serde_json::from_str(text).unwrap())
    }

    /// The code and message of a script that must fail.
    pub(crate) fn failure(&self, source: &str) -> (ErrorCode, String) {
        let output = self.run(source);
        let Some(error) = output.error else {
            panic!("{source} succeeded: {:?}", output.output_json);
        };
        (error.code, error.message)
    }

    /// The lines that scripts said so far.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}

/// The way in which something was said, in one word.
fn said_as(tone: Tone) -> String {
    match tone {
        Tone::Log(LogLevel::Log) => "Log".to_owned(),
        other => format!("{other:?}"),
    }
}

/// A time-out short enough to wait for.
pub(crate) fn short_timeout(config: &mut Config) {
    config.script.limits.timeout = Duration::from_secs(3);
}

/// Gives a folder and what is in it to whoever commands run as: the owner of the workspace.
pub(crate) fn hand_over(folder: &Path) {
    use std::os::unix::fs::MetadataExt;
    let owner = std::fs::metadata(folder).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        std::os::unix::fs::chown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
}
