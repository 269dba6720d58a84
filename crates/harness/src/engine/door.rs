//! The door: the one way from a call to what it does.
//!
//! Begin, judge, ask, intent, run, outcome, end: every action takes these steps, in this order,
//! whoever asks for it and however it ends. One that is dropped half-way is put on record as
//! abandoned, and its end is told. The entries, one for each kind of action, are in `entry`.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use ringfence_policy::Permit;
use ringfence_policy::action::Action;

use super::account::{Account, CallEnd, End};
use super::desk::Desk;
use super::record::ActionRecord;
use super::{Audience, Call, Engine, subject};
use crate::audit::{CallId, Outcome};
use crate::error::CallError;
use crate::event::Event;

/// An action that has begun. Dropped before it is closed, it was abandoned.
pub(crate) struct Passage {
    // The outcome is on record before the end is told.
    account: Account,
    /// Nothing if nobody is told.
    announced: Option<CallAnnouncement>,
}

impl Passage {
    /// Tells the beginning, and opens the account.
    pub(crate) fn begin(desk: &Arc<Desk>, call: &Call, action: &Action) -> Self {
        Self::begin_for(desk, call, action.tool(), action)
    }

    /// The same for a tool that has a name of its own for what it does.
    pub(crate) fn begin_for(desk: &Arc<Desk>, call: &Call, tool: &str, action: &Action) -> Self {
        Self {
            announced: Some(CallAnnouncement::action(desk, call, tool, action)),
            account: Account::open(
                desk,
                call,
                ActionRecord::of(tool, action),
                Audience::Listeners,
            ),
        }
    }

    /// Opens the account, and tells nobody: for what the harness does for itself.
    pub(super) fn quietly(desk: &Arc<Desk>, call: &Call, action: &Action) -> Self {
        Self {
            account: Account::open(
                desk,
                call,
                ActionRecord::of(action.tool(), action),
                Audience::Nobody,
            ),
            announced: None,
        }
    }

    /// Its account.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Closes the account and tells the end.
    pub(crate) fn close(self, end: &End) -> Result<(), CallError> {
        let closed = self.account.close(end);
        self.end();
        closed
    }

    /// The same for an action whose call ends like this.
    fn conclude<T>(self, result: &Result<T, CallError>) -> Result<(), CallError> {
        let closed = self.account.conclude(result);
        self.end();
        closed
    }

    fn end(self) {
        let told = self.account.told();
        if let Some(announced) = self.announced {
            announced.conclude(told);
        }
    }
}

/// A call whose beginning has been told. Its end is told when this goes, in whichever way: a call
/// that is dropped half-way has an end too.
pub(crate) struct CallAnnouncement {
    desk: Arc<Desk>,
    call: CallId,
    tool: String,
    started: Instant,
    end: CallEnd,
}

impl CallAnnouncement {
    /// Tells the beginning of a call that does something.
    fn action(desk: &Arc<Desk>, call: &Call, tool: &str, action: &Action) -> Self {
        let cwd = match action {
            Action::RunCommand(command) => &command.cwd,
            Action::SearchFiles(search) => &search.root,
            _ => &desk.ground.cwd,
        };
        let begin = Event::Begin {
            call: call.id.clone(),
            tool: tool.to_owned(),
            command: subject(action),
            cwd: cwd.clone(),
            parent: call.parent.clone(),
            turn: call.turn.clone(),
        };
        Self::of(desk, call, &begin)
    }

    /// Tells the beginning of a call that only looks.
    pub(crate) fn of(desk: &Arc<Desk>, call: &Call, begin: &Event<'_>) -> Self {
        desk.tell(begin);
        let tool = match begin {
            Event::Begin { tool, .. } => tool.clone(),
            _ => String::new(),
        };
        Self {
            tool,
            desk: Arc::clone(desk),
            call: call.id.clone(),
            started: Instant::now(),
            // Dropped half-way, it is given up.
            end: CallEnd::new(Outcome::Abandoned),
        }
    }

    /// Tells the end.
    fn conclude(mut self, end: CallEnd) {
        self.end = end;
    }

    /// Tells the end of a call that only looked.
    pub(crate) fn end(mut self, exit_code: Option<i32>) {
        self.end = CallEnd {
            exit_code,
            ..CallEnd::new(Outcome::Ok)
        };
    }
}

impl Drop for CallAnnouncement {
    fn drop(&mut self) {
        self.desk.tell(&Event::End {
            call: self.call.clone(),
            tool: std::mem::take(&mut self.tool),
            exit_code: self.end.exit_code,
            duration: self.started.elapsed(),
            outcome: self.end.outcome,
            error: self.end.error.take(),
        });
    }
}

impl Engine {
    /// Takes an action the whole way. What it is permitted to do, `run` does.
    pub(crate) async fn act<T, F>(
        &self,
        call: &Call,
        action: Action,
        run: impl FnOnce(Permit, Account) -> F,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let passage = Passage::begin(&self.desk, call, &action);
        self.judge_and_run(passage, action, run).await
    }

    /// Takes an action that has begun the whole way.
    pub(crate) async fn judge_and_run<T, F>(
        &self,
        passage: Passage,
        action: Action,
        run: impl FnOnce(Permit, Account) -> F,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let account = passage.account().clone();
        let permitted = Box::pin(self.desk.permit(&account, action));
        self.run_if_permitted(passage, permitted, run).await
    }

    /// Takes an action that has begun on from its judgement. What it is permitted to do, `run` does.
    pub(super) async fn run_if_permitted<T, F>(
        &self,
        passage: Passage,
        permitted: impl Future<Output = Result<Permit, CallError>>,
        run: impl FnOnce(Permit, Account) -> F,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let result = match permitted.await {
            Ok(permit) => run(permit, passage.account().clone()).await,
            Err(error) => Err(error),
        };
        let closed = passage.conclude(&result);
        let done = result?;
        closed.map(|()| done)
    }
}
