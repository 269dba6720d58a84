//! Who opens engines: the front end, which knows the machine that it is on.

use std::sync::Arc;

use ringfence::Engine;
use ringfence::approval::Approver;
use ringfence::event::Listener;
use ringfence::policy::ruleset::RuleSet;
use thiserror::Error;

use crate::wire::SessionOptions;

/// Somebody who opens an engine for a client.
pub trait Opener: Send + Sync {
    /// Opens an engine as the options have it, with these parts.
    fn open(&self, options: &SessionOptions, parts: Parts) -> Result<Engine, OpenError>;

    /// The rules, if somebody has changed them since they were read: a person who allows something does not have to
    /// start the server again.
    fn changed_rules(&self) -> Option<RuleSet> {
        None
    }
}

/// What the engine of a client is made with.
pub struct Parts {
    /// The client, as somebody who answers questions.
    pub approver: Arc<dyn Approver>,
    /// The client, as somebody who hears what happens.
    pub listener: Arc<dyn Listener>,
}

/// Why no engine could be opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct OpenError {
    /// A stable name for programs to look at.
    pub code: &'static str,
    /// What is wrong, and what to do about it.
    pub message: String,
    /// The option that it is about.
    pub option: Option<&'static str>,
}
