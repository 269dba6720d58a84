//! An engine as a front end would open it, with the built program as warden.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ringfence::approval::{Approver, Scripted};
use ringfence::audit::AuditLog;
use ringfence::config::Config;
use ringfence::event::EventSink;
use ringfence::jail::WardenProgram;
use ringfence::policy::rule::Layer;
use ringfence::policy::ruleset::RuleSet;
use ringfence::session::detect_shell;
use ringfence::{CallError, Engine, EngineOptions};
use serde_json::Value;

use super::{Place, RINGFENCE};

/// What differs from test to test.
pub struct Opening {
    pub config: Config,
    pub approver: Arc<dyn Approver>,
    pub events: EventSink,
    /// Where rules are kept; those that are there hold.
    pub rules_file: Option<PathBuf>,
    /// Where long outputs go.
    pub scratch: Option<PathBuf>,
    /// Where the record goes.
    pub audit: Option<AuditLog>,
}

impl Default for Opening {
    fn default() -> Self {
        Self {
            config: Config::default(),
            approver: Arc::new(Scripted::ApproveAll),
            events: ringfence::event::nowhere(),
            rules_file: None,
            scratch: None,
            audit: None,
        }
    }
}

impl Opening {
    /// An engine that works in a folder.
    pub fn engine(self, place: &Place, workspace: &Path) -> Engine {
        let home = place.home();
        let kept = self.rules_file.as_ref().map(std::fs::read_to_string);
        let rules = match kept {
            Some(Ok(text)) => RuleSet::parse(Layer::User, "rules", &text).unwrap(),
            _ => RuleSet::default(),
        };
        Engine::open(EngineOptions {
            workspace: workspace.to_path_buf(),
            home: Some(home.clone()),
            environment: BTreeMap::from([
                ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
                ("HOME".to_owned(), home.display().to_string()),
            ]),
            config: self.config,
            rules,
            rules_file: self.rules_file,
            shell: detect_shell(Some(Path::new("/bin/bash")), 0, None).unwrap(),
            audit: self.audit,
            scratch: self.scratch,
            journals: Some(home.join("journals")),
            marks: Some(home.join(".local/state/ringfence/marks")),
            launches: ringfence::jail::Launches::Many,
            approver: self.approver,
            events: self.events,
            warden: WardenProgram::At(RINGFENCE.into()),
            private: vec![home.join("journals")],
            front: "test",
        })
        .unwrap()
    }
}

/// The code of a call that came to nothing.
pub fn code(result: Result<Value, CallError>) -> &'static str {
    match result {
        Ok(reply) => panic!("there is a reply: {reply}"),
        Err(error) => error.code(),
    }
}
