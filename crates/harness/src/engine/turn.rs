//! The beginning and the end of a turn: what a model said is worked through.

use std::sync::Arc;
use std::time::Instant;

use super::Engine;
use super::desk::Desk;
use crate::event::{Event, TurnId};

/// A turn whose beginning has been told. Its end is told when this goes.
pub struct TurnAnnouncement {
    desk: Arc<Desk>,
    turn: TurnId,
    started: Instant,
}

impl Engine {
    /// Tells the beginning of a turn: what a model said is worked through. Calls are part of it that name it.
    pub fn begin_turn(&self) -> TurnAnnouncement {
        let turn = self.desk.new_turn();
        self.desk.tell(&Event::TurnBegin {
            call: self.desk.session_as_call(),
            turn: turn.clone(),
        });
        TurnAnnouncement {
            desk: Arc::clone(&self.desk),
            turn,
            started: Instant::now(),
        }
    }
}

impl TurnAnnouncement {
    /// The turn.
    pub fn id(&self) -> &TurnId {
        &self.turn
    }
}

impl Drop for TurnAnnouncement {
    fn drop(&mut self) {
        self.desk.tell(&Event::TurnEnd {
            call: self.desk.session_as_call(),
            turn: self.turn.clone(),
            duration: self.started.elapsed(),
        });
    }
}
