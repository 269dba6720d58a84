//! A session: an engine, the calls under way in it, and the outputs that its replies named.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ringfence::event::{Event, Listener};
use ringfence::{Call, Cancel, Engine};
use ringfence_protocol::wire::{Ended, SessionOptions};
use ringfence_protocol::{Lineage, OpenError, Opener, Parts, Turns, still_running};
use rmcp::model::Tool;
use tokio::sync::Notify;

use crate::approver::Asking;
use crate::catalogue;
use crate::flight::Line;
use crate::house::Limits;
use crate::outputs::Outputs;
use crate::profile::Profile;

/// A session of one client, or of all that have none of their own.
pub(crate) struct Session {
    pub(crate) engine: Engine,
    pub(crate) lines: Arc<Lines>,
    pub(crate) turns: Turns,
    pub(crate) outputs: Outputs,
    /// The tools as its clients are told of them.
    pub(crate) tools: Vec<Tool>,
    pub(crate) under_way: Arc<UnderWay>,
}

/// The calls of a session, each with its line to whoever made it.
#[derive(Default)]
pub(crate) struct Lines(Mutex<Lineage<Arc<Line>>>);

/// How many calls are under way.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    count: AtomicUsize,
    cancels: Mutex<Vec<(usize, Cancel)>>,
    next: AtomicUsize,
    one_less: Notify,
}

/// A call that is under way, until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    under_way: Arc<UnderWay>,
    number: usize,
}

impl Session {
    /// Opens one.
    pub(crate) fn open(
        opener: &dyn Opener,
        profile: Profile,
        limits: &Limits,
    ) -> Result<Arc<Self>, OpenError> {
        let lines = Arc::<Lines>::default();
        let asking = Arc::new(Asking::new(Arc::downgrade(&lines)));
        let parts = Parts {
            approver: Arc::clone(&asking) as _,
            listener: listener(&lines),
        };
        let engine = opener.open(&SessionOptions::default(), parts)?;
        asking.waits(engine.question_timeout());
        Ok(Arc::new(Self {
            tools: catalogue::tools(&engine, profile),
            engine,
            lines,
            turns: Turns::new(limits.calls_at_once),
            outputs: Outputs::default(),
            under_way: Arc::default(),
        }))
    }

    /// Cancels what is under way, waits until it has ended, and says what else ends with the session.
    pub(crate) async fn close(&self, patience: Duration) -> Vec<Ended> {
        self.under_way.cancel_all();
        let _ = tokio::time::timeout(patience, self.under_way.all_ended()).await;
        still_running(&self.engine).await
    }
}

impl Lines {
    fn lineage(&self) -> MutexGuard<'_, Lineage<Arc<Line>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call has this line.
    pub(crate) fn add(&self, call: &Call, line: &Arc<Line>) {
        self.lineage().remember(call.id.clone(), Arc::clone(line));
    }

    /// The line of a call, or of the one that makes it.
    pub(crate) fn of(&self, call: &Call) -> Option<Arc<Line>> {
        let lineage = self.lineage();
        let own = lineage.of(&call.id);
        own.or_else(|| lineage.of(call.parent.as_ref()?))
    }
}

/// Hands on what happens to the lines of calls.
fn listener(lines: &Arc<Lines>) -> Arc<dyn Listener> {
    let lines: Weak<Lines> = Arc::downgrade(lines);
    Arc::new(move |event: &Event<'_>| {
        let Some(lines) = lines.upgrade() else { return };
        if let Event::Begin {
            call,
            parent: Some(parent),
            ..
        } = event
        {
            lines.lineage().is_made_by(call, parent);
        }
        let line = lines.lineage().of(event.call());
        if let Some(line) = line {
            line.hear(event);
        }
    })
}

impl UnderWay {
    fn cancels(&self) -> MutexGuard<'_, Vec<(usize, Cancel)>> {
        self.cancels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a call, if there are fewer than so many.
    pub(crate) fn place(self: &Arc<Self>, cancel: &Cancel, most: usize) -> Option<Place> {
        let mut cancels = self.cancels();
        if cancels.len() >= most {
            return None;
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        cancels.push((number, cancel.clone()));
        self.count.store(cancels.len(), Ordering::Relaxed);
        Some(Place {
            under_way: Arc::clone(self),
            number,
        })
    }

    /// Cancels all of them.
    pub(crate) fn cancel_all(&self) {
        for (_, cancel) in self.cancels().iter() {
            cancel.cancel();
        }
    }

    async fn all_ended(&self) {
        loop {
            let one_less = self.one_less.notified();
            if self.count.load(Ordering::Relaxed) == 0 {
                return;
            }
            one_less.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut cancels = self.under_way.cancels();
        cancels.retain(|(number, _)| *number != self.number);
        self.under_way.count.store(cancels.len(), Ordering::Relaxed);
        drop(cancels);
        self.under_way.one_less.notify_waiters();
    }
}
