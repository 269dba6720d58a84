//! What happens in a loop, as it happens. What commands do in it is told by the engine's own events, with the same call ids.

use ringfence_dialect::Item;
use ringfence_dialect::provider::{Feedback, Turn, TurnEvent};

use super::changes::FileDiff;
use super::limits::Ended;
use crate::audit::CallId;

/// Something that happened.
#[derive(Debug)]
pub enum AgentEvent<'a> {
    /// The model is asked for its next turn, counted from one.
    Asked {
        /// Which.
        turn: u32,
    },
    /// Something becomes known of the turn that is coming in.
    Piece(&'a TurnEvent),
    /// What came of the last request is void: the pieces told since then are said again, or not at all.
    Failed {
        /// Why.
        code: &'static str,
        /// In words.
        message: String,
        /// Whether it is tried again.
        tries_again: bool,
    },
    /// A turn has come in whole. Nothing of it has been executed.
    Read(&'a Turn),
    /// A call or a script of the turn begins.
    StepBegan {
        /// Its place among those of the turn.
        step: usize,
        /// The tool; `run_script` for a script in the text.
        tool: &'a str,
        /// The engine's call. A script in the text has one that the engine makes itself.
        call: Option<&'a CallId>,
    },
    /// It has ended.
    StepEnded {
        /// Its place.
        step: usize,
        /// What the model is told of it.
        feedback: &'a Feedback,
    },
    /// All of the turn has been executed.
    TurnEnded {
        /// What was said and done, in order.
        items: &'a [Item],
        /// The files that it changed.
        changes: &'a [FileDiff],
    },
    /// The history was replaced by a shorter one.
    Compacted,
    /// The loop has ended.
    Ended(&'a Ended),
}

/// Somebody who is told what happens. It must not wait.
pub trait AgentListener: Send + Sync {
    /// Hears of something that happened.
    fn hear(&self, event: &AgentEvent<'_>);
}

impl<F: Fn(&AgentEvent<'_>) + Send + Sync> AgentListener for F {
    fn hear(&self, event: &AgentEvent<'_>) {
        self(event);
    }
}
