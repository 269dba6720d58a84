//! Scripts where there are no commands: nothing to wait for, and no tasks. The other one is `commands`.

use std::sync::Arc;

use serde_json::Value;

use super::facade::{Exposed, Reached};
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::registry::TaskId;

/// There are none.
pub(super) enum Task {}

/// There are none.
#[derive(Clone, Copy)]
pub(super) enum CommandTarget {}

impl CommandTarget {
    pub(super) fn expose(_: &str) -> Option<Exposed> {
        None
    }

    pub(super) fn spawning() -> Vec<Exposed> {
        Vec::new()
    }

    #[allow(clippy::unused_async, reason = "the other one waits")]
    pub(super) async fn reach(
        self,
        _: &Engine,
        _: &Call,
        _: Value,
        _: TaskId,
    ) -> Result<Reached, CallError> {
        match self {}
    }

    pub(super) fn check(self, _: Value) -> Result<(), CallError> {
        match self {}
    }

    pub(super) fn knows_better(self) -> bool {
        match self {}
    }
}

#[allow(clippy::unused_async, reason = "the other one waits")]
pub(super) async fn done(task: Arc<Task>) -> Result<Value, CallError> {
    match *task {}
}

#[allow(clippy::unused_async, reason = "the other one waits")]
pub(super) async fn kill(task: &Task) {
    match *task {}
}
