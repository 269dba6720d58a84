//! How far a conversation has come: what its entries amount to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ringfence_dialect::provider::{
    CallInput, History, Object, Provider, StructuredCall, Turn, Usage,
};

use super::entry::{Entry, Outcome};

/// How far a conversation has come.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) id: String,
    /// What the program that began it wants to know again.
    pub(super) note: Object,
    pub(super) history: History,
    pub(super) turns: u32,
    pub(super) usage: Usage,
    /// The last turn, as long as the model has not been told what came of it.
    pub(super) open: Option<OpenTurn>,
    /// Calls that were answered, by their ids.
    answered: HashMap<String, Vec<(String, CallInput)>>,
}

/// A turn that is being executed, or had nothing to be executed.
#[derive(Debug)]
pub(super) struct OpenTurn {
    pub(super) turn: Turn,
    /// Steps that were begun.
    pub(super) begun: BTreeSet<usize>,
    /// What came of them, where that is known.
    pub(super) outcomes: BTreeMap<usize, Outcome>,
}

impl Record {
    pub(super) fn new(provider: Provider, id: String) -> Self {
        Self {
            id,
            note: Object::default(),
            history: History::new(provider),
            turns: 0,
            usage: Usage::default(),
            open: None,
            answered: HashMap::new(),
        }
    }

    /// Takes in an entry.
    pub(super) fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Began { .. } => {}
            Entry::Said { items } => {
                // Whoever speaks after a turn that had nothing to execute ends it.
                self.close();
                self.history.extend(items);
            }
            Entry::Turn { turn } => {
                self.turns = self.turns.saturating_add(1);
                self.usage = self.usage.plus(turn.usage);
                self.history.append(&turn);
                self.open = Some(OpenTurn {
                    turn: *turn,
                    begun: BTreeSet::new(),
                    outcomes: BTreeMap::new(),
                });
            }
            Entry::Intent { step } => {
                if let Some(open) = &mut self.open {
                    open.begun.insert(step);
                }
            }
            Entry::Outcome { step, outcome } => {
                if let Some(open) = &mut self.open {
                    open.outcomes.insert(step, outcome);
                }
            }
            Entry::Told { items, .. } => {
                self.close();
                self.history.extend(items);
            }
            Entry::Replaced { items } => {
                self.history = History::of(self.history.provider(), items);
            }
        }
    }

    pub(super) fn has_answered(&self, call: &StructuredCall) -> bool {
        let known = self.answered.get(&call.call_id);
        let is_same =
            |(name, input): &(String, CallInput)| *name == call.name && *input == call.input;
        known.is_some_and(|known| known.iter().any(is_same))
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        // A server that gives no ids repeats none.
        for call in open.turn.calls().filter(|call| !call.call_id.is_empty()) {
            let known = self.answered.entry(call.call_id.clone()).or_default();
            known.push((call.name.clone(), call.input.clone()));
        }
    }
}
