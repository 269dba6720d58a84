//! An engine for one test, and short words for what most tests do.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ringfence::Engine;
use ringfence::approval::{Approver, Scripted};
use ringfence::config::{Config, ScriptMode};
use ringfence::dialect::{ErrorCode, ScriptToolCallOutput};
use ringfence::event::Event;
use ringfence::jail::WardenProgram;
use ringfence::policy::permissions::ApprovalPolicy;
use ringfence::script::ScriptRequest;
use ringfence::session::detect_shell;
use serde_json::Value;

use crate::program::{Place, RINGFENCE};

/// A place, and what differs from test to test.
pub(crate) struct Stage {
    pub(crate) place: Place,
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
            place: Place::new(),
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
        let home = self.place.home();
        let mut config = self.config.clone();
        config.audit.enabled = false;
        Engine::builder(self.place.work())
            .environment([
                ("PATH", "/usr/local/bin:/usr/bin:/bin"),
                ("HOME", &*home.display().to_string()),
            ])
            .config(config)
            .shell(detect_shell(Some(Path::new("/bin/bash")), 0, None).unwrap())
            .state(home.join(".local/state/ringfence"))
            .shared_approver(Arc::clone(&self.approver))
            .listener(move |event: &Event<'_>| {
                let text = match event {
                    Event::Said { tone, text, .. } => format!("{tone:?}: {text}"),
                    Event::Notice { text, .. } => format!("Notice: {text}"),
                    _ => return,
                };
                said.lock().unwrap().push(text);
            })
            .warden(WardenProgram::At(RINGFENCE.into()))
            .front("test")
            .open()
            .unwrap()
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

/// A time-out short enough to wait for.
pub(crate) fn short_timeout(config: &mut Config) {
    config.script.limits.timeout = Duration::from_secs(3);
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
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
