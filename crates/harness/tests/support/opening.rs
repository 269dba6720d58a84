//! An engine as a front end would open it. This program is its own warden and worker.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence::approval::{Approver, Scripted};
use ringfence::audit::AuditLog;
use ringfence::config::Config;
use ringfence::event::Listener;
use ringfence::policy::rule::Layer;
use ringfence::policy::ruleset::RuleSet;
use ringfence::shell::detect_shell;
use ringfence::{CallError, Engine};
use ringfence_testkit::home::TestHome;
use serde_json::Value;

/// What differs from test to test.
pub(crate) struct Opening {
    pub(crate) config: Config,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) listener: Arc<dyn Listener>,
    /// Where rules are kept; those that are there hold.
    pub(crate) rules_file: Option<PathBuf>,
    /// Where long outputs go.
    pub(crate) scratch: Option<PathBuf>,
    /// Where the record goes.
    pub(crate) audit: Option<AuditLog>,
}

impl Default for Opening {
    fn default() -> Self {
        Self {
            config: Config::default(),
            approver: Arc::new(Scripted::ApproveAll),
            listener: ringfence::event::nowhere(),
            rules_file: None,
            scratch: None,
            audit: None,
        }
    }
}

impl Opening {
    /// An engine that works in a folder.
    pub(crate) fn engine(self, home: &TestHome, workspace: &Path) -> Engine {
        let folder = home.path();
        let kept = self.rules_file.as_ref().map(std::fs::read_to_string);
        let mut config = self.config;
        config.audit.enabled = false;
        let mut builder = Engine::builder(workspace)
            .environment([
                ("PATH", "/usr/local/bin:/usr/bin:/bin"),
                ("HOME", &*folder.display().to_string()),
            ])
            .config(config)
            .shell(detect_shell(Some(Path::new("/bin/bash")), 0, None).unwrap())
            .state(folder.join(".local/state/ringfence"))
            .shared_approver(self.approver)
            .shared_listener(self.listener)
            .front("test");
        if let Some(Ok(text)) = kept {
            builder = builder.rules(RuleSet::parse(Layer::User, "rules", &text).unwrap());
        }
        if let Some(file) = self.rules_file {
            builder = builder.rules_file(file);
        }
        if let Some(folder) = self.scratch {
            builder = builder.outputs(folder);
        }
        if let Some(log) = self.audit {
            builder = builder.audit(log);
        }
        builder.open().unwrap()
    }
}

/// The code of a call that came to nothing.
pub(crate) fn code(result: Result<Value, CallError>) -> &'static str {
    match result {
        Ok(reply) => panic!("there is a reply: {reply}"),
        Err(error) => error.code(),
    }
}
