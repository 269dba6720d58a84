//! The account of one action in the log: its intent and its outcome, each exactly once.
//!
//! Whoever carries out the action holds a clone. When the last one goes before the account was
//! closed, the action was abandoned, and the log says so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use ringfence_policy::verdict::Refusal;

#[cfg(feature = "commands")]
use super::aftermath::Findings;
use super::desk::Desk;
use super::record::{ActionRecord, Decided, mended_lines, millis};
use super::{Audience, Call};
use crate::audit::{self, CallId, Outcome};
use crate::error::CallError;
use crate::event::{CommandRun, Event};
use crate::execution::{Ending, Execution};

/// The account of one action.
#[derive(Clone)]
pub(crate) struct Account(Arc<Entry>);

/// An account that is open, or was.
pub(super) struct Entry {
    desk: Arc<Desk>,
    call: Call,
    action: ActionRecord,
    /// Who is told what happens on the way.
    audience: Audience,
    started: Instant,
    state: Mutex<State>,
    /// What the end of the call tells; all tries of a call share it.
    told: Arc<Mutex<CallEnd>>,
}

#[derive(Default)]
struct State {
    has_intent: bool,
    is_closed: bool,
    /// The action lives on after its call.
    goes_on: bool,
    fence: Option<&'static str>,
    end: Option<End>,
    http: Option<audit::HttpEnded>,
}

/// How an action ended.
#[derive(Debug, Clone)]
pub(crate) struct End {
    outcome: Outcome,
    exit_code: Option<i32>,
    duration: Option<Duration>,
    denied: bool,
    bytes: [u64; 2],
    error: Option<String>,
    mended: Vec<String>,
}

/// What the end of a call tells.
#[derive(Debug, Clone)]
pub(crate) struct CallEnd {
    pub(crate) exit_code: Option<i32>,
    pub(crate) outcome: Outcome,
    /// Why, as a code.
    pub(crate) error: Option<String>,
}

impl CallEnd {
    /// In this way, and nothing else is known.
    pub(crate) fn new(outcome: Outcome) -> Self {
        Self {
            exit_code: None,
            outcome,
            error: None,
        }
    }
}

impl End {
    /// In this way, and nothing else is known.
    pub(crate) fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            exit_code: None,
            duration: None,
            denied: false,
            bytes: [0, 0],
            error: None,
            mended: Vec::new(),
        }
    }

    /// In this way, with a code that says why.
    pub(crate) fn because(outcome: Outcome, code: &str) -> Self {
        Self {
            error: Some(code.to_owned()),
            ..Self::new(outcome)
        }
    }

    /// With an error.
    pub(super) fn of_error(error: &CallError) -> Self {
        match error {
            CallError::Cancelled => Self::new(Outcome::Cancelled),
            CallError::Refused(_) => Self::because(Outcome::Refused, error.code()),
            #[cfg(feature = "commands")]
            CallError::Http(http) if http.is_a_timeout() => {
                Self::because(Outcome::TimedOut, error.code())
            }
            _ => Self::because(Outcome::Failed, error.code()),
        }
    }

    #[cfg(feature = "commands")]
    /// As a command did.
    pub(super) fn of_execution(execution: &Execution, findings: &Findings) -> Self {
        let code = execution.exit_code();
        Self {
            exit_code: Some(code),
            duration: Some(execution.duration),
            denied: !findings.denials.is_empty(),
            bytes: [
                execution.output.stdout.total(),
                execution.output.stderr.total(),
            ],
            mended: mended_lines(&execution.exit.mended),
            ..Self::new(match execution.ending {
                Ending::Exited if code == 0 => Outcome::Ok,
                Ending::Exited => Outcome::Failed,
                Ending::TimedOut | Ending::FellSilent => Outcome::TimedOut,
                Ending::Cancelled => Outcome::Cancelled,
            })
        }
    }
}

impl Account {
    pub(super) fn open(
        desk: &Arc<Desk>,
        call: &Call,
        action: ActionRecord,
        audience: Audience,
    ) -> Self {
        // What lives on after its call has ended well so far.
        let told = Arc::new(Mutex::new(CallEnd::new(Outcome::Ok)));
        Self::with(desk, call, action, audience, told)
    }

    fn with(
        desk: &Arc<Desk>,
        call: &Call,
        action: ActionRecord,
        audience: Audience,
        told: Arc<Mutex<CallEnd>>,
    ) -> Self {
        let entry = Arc::new(Entry {
            desk: Arc::clone(desk),
            call: call.clone(),
            action,
            audience,
            started: Instant::now(),
            state: Mutex::default(),
            told,
        });
        desk.accounts.add(&entry);
        Self(entry)
    }

    /// Another account for another try of the same call.
    pub(super) fn again(&self) -> Self {
        let Entry {
            desk,
            call,
            action,
            audience,
            told,
            ..
        } = &*self.0;
        Self::with(desk, call, action.clone(), *audience, Arc::clone(told))
    }

    /// Tells what happens on the way, unless the action is one that nobody is told of.
    pub(super) fn tell(&self, event: impl FnOnce(CallId) -> Event<'static>) {
        if self.0.audience == Audience::Listeners {
            self.0.desk.tell(&event(self.0.call.id.clone()));
        }
    }

    /// Tells how its command ran.
    pub(super) fn tell_run(&self, run: &CommandRun) {
        if self.0.audience == Audience::Listeners {
            let call = self.0.call.id.clone();
            self.0.desk.tell(&Event::Ran { call, run });
        }
    }

    pub(super) fn call(&self) -> &Call {
        &self.0.call
    }

    pub(super) fn action(&self) -> &ActionRecord {
        &self.0.action
    }

    /// Puts the intent on record.
    pub(super) fn intend(&self, decided: Decided<'_>) -> Result<(), CallError> {
        self.0.intend(decided)
    }

    /// Says what holds the action while it runs.
    pub(crate) fn runs_in(&self, fence: &'static str) {
        self.0.state().fence = Some(fence);
    }

    pub(super) fn fence(&self) -> Option<&'static str> {
        self.0.state().fence
    }

    /// Says how it ended; it goes on record when the call ends.
    pub(crate) fn ends(&self, end: End) {
        self.0.state().end = Some(end);
    }

    /// Says what went over the wire; it goes on record however the call ends.
    pub(crate) fn exchanged(&self, http: audit::HttpEnded) {
        self.0.state().http = Some(http);
    }

    /// The action lives on after its call: another holder closes the account.
    pub(super) fn goes_on(&self) {
        self.0.state().goes_on = true;
    }

    /// Tells the exit code at the end of the call.
    pub(crate) fn tells(&self, exit_code: Option<i32>) {
        lock(&self.0.told).exit_code = exit_code;
    }

    /// What the end of the call tells.
    pub(super) fn told(&self) -> CallEnd {
        lock(&self.0.told).clone()
    }

    /// Puts the outcome on record, unless it is.
    pub(crate) fn close(&self, end: &End) -> Result<(), CallError> {
        if end.exit_code.is_some() {
            self.tells(end.exit_code);
        }
        {
            let mut told = lock(&self.0.told);
            told.outcome = end.outcome;
            told.error.clone_from(&end.error);
        }
        self.0.close(end)
    }

    /// Closes the account of a second try that is not made.
    pub(super) fn conclude_unless_permitted<T>(
        &self,
        asked: &Result<Result<T, Refusal>, CallError>,
    ) -> Result<(), CallError> {
        match asked {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(refusal)) => self.close(&End::because(Outcome::Refused, refusal.code.name())),
            Err(error) => self.close(&End::of_error(error)),
        }
    }

    /// Closes the account of an action whose call ends like this.
    pub(super) fn conclude<T>(&self, result: &Result<T, CallError>) -> Result<(), CallError> {
        let (goes_on, said) = {
            let state = self.0.state();
            (state.goes_on, state.end.clone())
        };
        match result {
            Ok(_) if goes_on => Ok(()),
            Ok(_) => self.close(&said.unwrap_or_else(|| End::new(Outcome::Ok))),
            Err(error) => self.close(&End::of_error(error)),
        }
    }
}

impl Entry {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn intend(&self, decided: Decided<'_>) -> Result<(), CallError> {
        self.desk.record_intent(&self.call, &self.action, decided)?;
        self.state().has_intent = true;
        Ok(())
    }

    fn close(&self, end: &End) -> Result<(), CallError> {
        let (has_intent, fence, http) = {
            let mut state = self.state();
            if std::mem::replace(&mut state.is_closed, true) {
                return Ok(());
            }
            (state.has_intent, state.fence, state.http)
        };
        if !has_intent {
            self.intend(Decided::given_up())?;
        }
        let duration = end.duration.unwrap_or_else(|| self.started.elapsed());
        self.desk.record(|| {
            let (call, session) = (self.call.id.clone(), self.desk.session.clone());
            audit::Record::Outcome(audit::CallEnded {
                fence: fence.map(str::to_owned),
                exit_code: end.exit_code,
                duration_ms: millis(duration),
                denied_by_sandbox: end.denied,
                stdout_bytes: end.bytes[0],
                stderr_bytes: end.bytes[1],
                error: end.error.clone(),
                http,
                mended: end.mended.clone(),
                ..audit::CallEnded::new(call, session, end.outcome)
            })
        })
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        // Nobody waits for this; a log that cannot be written refuses the next call.
        let _ = self.close(&End::new(Outcome::Abandoned));
    }
}

/// The accounts of a session that may be open.
#[derive(Default)]
pub(crate) struct Accounts(Mutex<Vec<Weak<Entry>>>);

impl Accounts {
    fn add(&self, entry: &Arc<Entry>) {
        let mut all = lock(&self.0);
        all.retain(|entry| entry.strong_count() > 0);
        all.push(Arc::downgrade(entry));
    }

    /// The session ends: what still goes on is abandoned.
    pub(super) fn abandon(&self) {
        let all = std::mem::take(&mut *lock(&self.0));
        for entry in all.iter().filter_map(Weak::upgrade) {
            let _ = entry.close(&End::new(Outcome::Abandoned));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
