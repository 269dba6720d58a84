//! The loop itself: ask, execute, tell, until the model is done or a limit is reached.

use std::future::Future;
use std::sync::Arc;

use tokio::time::{Instant, sleep_until};

use super::changes::Workspace;
use super::event::{AgentEvent, AgentListener};
use super::journal::Journal;
use super::limits::{AgentReport, Ended};
use super::model::ModelClient;
use super::options::{AgentError, AgentOptions};
use super::tally::Tally;
use crate::engine::Engine;
use crate::execution::Cancel;

/// A loop around one conversation.
pub struct Agent<'e, C> {
    pub(super) engine: &'e Engine,
    pub(super) client: C,
    pub(super) options: AgentOptions,
    pub(super) journal: Journal,
    pub(super) listener: Arc<dyn AgentListener>,
    pub(super) workspace: Workspace,
}

impl<'e, C: ModelClient> Agent<'e, C> {
    /// A loop that goes on with what is in the journal.
    pub fn new(
        engine: &'e Engine,
        client: C,
        options: AgentOptions,
        journal: Journal,
        listener: Arc<dyn AgentListener>,
    ) -> Self {
        Self {
            workspace: Workspace::of(engine),
            engine,
            client,
            options,
            journal,
            listener,
        }
    }

    /// The conversation.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Goes on until the model is done or a limit is reached. With a task that is said first; what an earlier run left
    /// unexecuted is then not executed any more. Without one it is.
    ///
    /// Cancelling stops what runs and lets the model be told so: the conversation can be gone on with. So can one whose future was
    /// dropped, or whose program was killed.
    pub async fn run(
        &mut self,
        task: Option<&str>,
        cancel: &Cancel,
    ) -> Result<AgentReport, AgentError> {
        let mut tally = Tally::new(&self.options.limits);
        self.workspace.begin();
        if let Some(task) = task {
            self.leave_open_turn()?;
            self.journal.say(task)?;
        }
        let ended = self.go_on(&mut tally, cancel).await?;
        self.listener.hear(&AgentEvent::Ended(&ended));
        Ok(tally.report(ended))
    }

    async fn go_on(&mut self, tally: &mut Tally, cancel: &Cancel) -> Result<Ended, AgentError> {
        loop {
            if self.journal.open_turn().is_some()
                && let Some(ended) = self.finish_turn(tally, cancel).await?
            {
                return Ok(ended);
            }
            if cancel.is_cancelled() {
                return Ok(Ended::Cancelled);
            }
            if let Some(ended) = tally.limit_reached() {
                return Ok(ended);
            }
            if let Some(ended) = self.ask_until_answered(tally, cancel).await? {
                return Ok(ended);
            }
        }
    }
}

/// Waits for something, unless the loop is to stop.
pub(super) async fn or_stopped<T>(
    what: impl Future<Output = T>,
    cancel: &Cancel,
    deadline: Instant,
) -> Result<T, Ended> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Ended::Cancelled),
        () = sleep_until(deadline) => Err(Ended::TimeLimit),
        done = what => Ok(done),
    }
}
