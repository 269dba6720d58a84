//! A house opens sessions and keeps what its clients share.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use ringfence_protocol::wire::Ended;
use ringfence_protocol::{OpenError, Opener};

use crate::parked::Parked;
use crate::profile::Profile;
use crate::session::Session;

/// Bounds on what clients can have going on.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Calls of one session that run at once; others wait for their turn.
    pub calls_at_once: usize,
    /// Calls of one session that run or wait; more are refused.
    pub calls: usize,
    /// Sessions at once, where each client has its own.
    pub sessions: usize,
    /// The longest message, in bytes.
    pub message_bytes: usize,
    /// How long calls may take to end when they have been cancelled at the end.
    pub closing: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls_at_once: 64,
            calls: 1024,
            sessions: 128,
            message_bytes: 16 << 20,
            closing: Duration::from_secs(10),
        }
    }
}

/// Who shares a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rooms {
    /// There is one client, with one session.
    One,
    /// Each client that shakes hands has a session of its own. Those of the newer generation, who have none, share one.
    EachTheirOwn,
}

/// Where clients' sessions are.
pub struct House {
    opener: Box<dyn Opener>,
    profile: Profile,
    rooms: Rooms,
    pub(crate) limits: Limits,
    pub(crate) parked: Parked,
    shared: Mutex<Option<Arc<Session>>>,
    own: Mutex<Vec<Weak<Session>>>,
}

impl House {
    /// One whose sessions are opened by `opener`, with the tools of a profile.
    pub fn new(
        opener: impl Opener + 'static,
        profile: Profile,
        rooms: Rooms,
        limits: Limits,
    ) -> Arc<Self> {
        Arc::new(Self {
            opener: Box::new(opener),
            profile,
            rooms,
            limits,
            parked: Parked::default(),
            shared: Mutex::default(),
            own: Mutex::default(),
        })
    }

    /// Opens the session that clients share, if it is not open yet: what is wrong with the configuration is told at
    /// the start.
    pub fn open(&self) -> Result<(), OpenError> {
        self.shared().map(drop)
    }

    /// The session that clients share.
    pub(crate) fn shared(&self) -> Result<Arc<Session>, OpenError> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &*shared {
            return Ok(Arc::clone(session));
        }
        let session = Session::open(&*self.opener, self.profile, &self.limits)?;
        *shared = Some(Arc::clone(&session));
        Ok(session)
    }

    /// Takes in what a person has changed about the rules.
    pub(crate) fn refresh_rules(&self) {
        let Some(rules) = self.opener.changed_rules() else {
            return;
        };
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let own = own.iter().filter_map(Weak::upgrade);
        for session in shared.iter().cloned().chain(own) {
            session.engine.replace_rules(rules.clone());
        }
    }

    /// The session of a client that shakes hands.
    pub(crate) fn room(&self) -> Result<Arc<Session>, OpenError> {
        if self.rooms == Rooms::One {
            return self.shared();
        }
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|session| session.strong_count() > 0);
        if own.len() >= self.limits.sessions {
            return Err(OpenError {
                code: "too_many_sessions",
                message: format!(
                    "{} sessions are open, and no more are opened before one ends",
                    own.len()
                ),
                option: None,
            });
        }
        let session = Session::open(&*self.opener, self.profile, &self.limits)?;
        own.push(Arc::downgrade(&session));
        Ok(session)
    }

    /// Whether a client's session ends with it.
    pub(crate) fn has_own_rooms(&self) -> bool {
        self.rooms == Rooms::EachTheirOwn
    }

    /// The client of the only session has gone: what it called has no use any more.
    pub(crate) fn client_has_gone(&self) {
        self.parked.clear();
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &*shared {
            session.under_way.cancel_all();
        }
    }

    /// Ends everything: calls are cancelled and waited for, what runs is killed. Says what was still running.
    pub async fn close(&self) -> Vec<Ended> {
        self.parked.clear();
        let shared = {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.take()
        };
        let own = {
            let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *own)
        };
        let sessions = shared
            .into_iter()
            .chain(own.iter().filter_map(Weak::upgrade));
        let mut ended = Vec::new();
        for session in sessions {
            ended.extend(session.close(self.limits.closing).await);
        }
        ended
    }
}
