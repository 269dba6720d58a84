//! The door: the one way from a call to what it does.
//!
//! Begin, judge, ask, intent, run, outcome, end: every action takes these steps, in this order,
//! whoever asks for it and however it ends. One that is dropped half-way is put on record as
//! abandoned, and its end is told. The entries, one for each kind of action, are in `entry`.

use std::future::Future;
use std::sync::Arc;

use ringfence_policy::Permit;
use ringfence_policy::action::Action;

use super::account::{Account, End};
use super::announce::Announced;
use super::desk::Desk;
use super::record::ActionRecord;
use super::{Call, Engine};
use crate::error::CallError;

/// An action that has begun. Dropped before it is closed, it was abandoned.
pub(crate) struct Passage {
    // The outcome is on record before the end is told.
    account: Account,
    announced: Announced,
}

impl Passage {
    /// Tells the beginning, and opens the account.
    pub(crate) fn begin(desk: &Arc<Desk>, call: &Call, action: &Action) -> Self {
        let announced = Announced::action(desk, call, action);
        Self {
            account: Account::open(desk, call, ActionRecord::of(action)),
            announced,
        }
    }

    /// Its account.
    pub(crate) fn account(&self) -> &Account {
        &self.account
    }

    /// Closes the account and tells the end.
    pub(crate) fn close(self, end: &End) -> Result<(), CallError> {
        let closed = self.account.close(end);
        self.announced.end(self.account.exit_code());
        closed
    }

    /// The same for an action whose call ends like this.
    fn conclude<T>(self, result: &Result<T, CallError>) -> Result<(), CallError> {
        let closed = self.account.conclude(result);
        self.announced.end(self.account.exit_code());
        closed
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
        let result = self.carry_out(passage.account(), action, run).await;
        let closed = passage.conclude(&result);
        let done = result?;
        closed.map(|()| done)
    }

    /// The same for what the harness does for itself: on record like everything, and told to nobody.
    pub(super) async fn act_quietly<T, F>(
        &self,
        call: &Call,
        action: Action,
        run: impl FnOnce(Permit, Account) -> F,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let account = Account::open(&self.desk, call, ActionRecord::of(&action));
        let result = self.carry_out(&account, action, run).await;
        let closed = account.conclude(&result);
        let done = result?;
        closed.map(|()| done)
    }

    async fn carry_out<T, F>(
        &self,
        account: &Account,
        action: Action,
        run: impl FnOnce(Permit, Account) -> F,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let permit = self.desk.permit(account, action).await?;
        run(permit, account.clone()).await
    }
}
