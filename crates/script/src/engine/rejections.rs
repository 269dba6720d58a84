//! Rejections that nobody has handled yet, and where values were thrown that know no place themselves.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};

use super::fault;
use super::quickjs::{Kind, Val};
use super::run_state::RunState;
use super::stack;
use crate::protocol::{Fault, Place};

/// Rejections that are told one by one.
const MOST_TOLD: usize = 20;
/// Bytes of a text of one that is told.
const LONGEST_TEXT: usize = 2 << 10;
/// Thrown values whose places are remembered.
const MOST_PLACES: usize = 16;

/// The rejections of one run.
#[derive(Default)]
pub(crate) struct Rejections {
    numbers: RefCell<HashMap<usize, u64>>,
    open: RefCell<BTreeMap<u64, (Val, Val)>>,
    next: Cell<u64>,
    places: RefCell<VecDeque<(Val, Place)>>,
}

impl Rejections {
    /// A promise was rejected, and somebody waits for it or not.
    pub(crate) fn tell(&self, run: &RunState, promise: Val, reason: Val, is_handled: bool) {
        let address = promise.address();
        if is_handled {
            let number = self.numbers.borrow_mut().remove(&address);
            let known = number.and_then(|number| self.open.borrow_mut().remove(&number));
            drop(known);
            return;
        }
        self.note(run, &reason);
        let number = self.next.get();
        self.next.set(number + 1);
        self.numbers.borrow_mut().insert(address, number);
        self.open.borrow_mut().insert(number, (promise, reason));
    }

    /// Remembers where a value that is no error was thrown.
    pub(crate) fn note(&self, run: &RunState, thrown: &Val) {
        let trace = run.realm.take_back_trace();
        if thrown.is_error() {
            return;
        }
        let Some(place) = run.place_of_throw(&trace) else {
            return;
        };
        let mut places = self.places.borrow_mut();
        if places.iter().any(|(known, _)| known.is_same(thrown)) {
            return;
        }
        if places.len() == MOST_PLACES {
            places.pop_front();
        }
        places.push_back((thrown.clone(), place));
    }

    /// A value is about to be thrown; one that is no error is remembered with its place, the last one if it is thrown again.
    pub(crate) fn thrown_here(&self, run: &RunState, value: &Val) {
        if value.is_error() {
            return;
        }
        let here = run.stack_here();
        let place = here.and_then(|text| stack::top(&text, &run.graph.borrow()));
        if let Some(place) = place {
            let mut places = self.places.borrow_mut();
            places.retain(|(known, _)| !known.is_same(value));
            if places.len() == MOST_PLACES {
                places.pop_front();
            }
            places.push_back((value.clone(), place));
        }
    }

    /// Where a value was thrown.
    pub(crate) fn place_of(&self, thrown: &Val) -> Option<Place> {
        let places = self.places.borrow();
        let found = places.iter().rev().find(|(known, _)| known.is_same(thrown));
        found.map(|(_, place)| place.clone())
    }

    /// Takes those that are still open, but for that of `failed`, in the order in which they happened: the first
    /// ones, and how many more there are.
    pub(crate) fn take(
        &self,
        run: &RunState,
        failed: Option<&Val>,
        mark: impl Fn(&Val) -> u64,
    ) -> (Vec<Fault>, u64) {
        self.numbers.borrow_mut().clear();
        let open = std::mem::take(&mut *self.open.borrow_mut());
        let mut told = Vec::new();
        let mut left_out = 0;
        let mut last: Option<Val> = None;
        for (_, reason) in open.into_values() {
            // A reason that is passed on from promise to promise is one failure.
            let again = last.as_ref().is_some_and(|last| last.is_same(&reason));
            if again || failed.is_some_and(|failed| failed.is_same(&reason)) {
                continue;
            }
            let number = mark(&reason);
            if number >= 2 && was_cancelled(&reason) {
                continue;
            }
            if told.len() < MOST_TOLD {
                let mut fault = fault::describe(&reason, run).cut_to(LONGEST_TEXT);
                fault.mark = number;
                told.push(fault);
            } else {
                left_out += 1;
            }
            last = Some(reason);
        }
        (told, left_out)
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.numbers.borrow_mut().clear();
        drop(std::mem::take(&mut *self.open.borrow_mut()));
        drop(std::mem::take(&mut *self.places.borrow_mut()));
    }
}

/// Whether it is the error of a call that the realm cancelled itself.
fn was_cancelled(reason: &Val) -> bool {
    reason.kind() == Kind::Object
        && reason
            .get(c"name")
            .ok()
            .and_then(|name| name.string())
            .as_deref()
            == Some("AbortError")
}

impl RunState {
    /// Where a value was thrown, from the trace of the last exception. A trace that does not end at a `throw` is of an
    /// error that was made before; then it is where the engine is now, if something is rejected there. A place that is
    /// only near is worse than none.
    fn place_of_throw(&self, trace: &Val) -> Option<Place> {
        let graph = self.graph.borrow();
        let thrown = trace.string().and_then(|text| stack::top(&text, &graph));
        if let Some(place) = thrown.filter(|place| graph.is_thrown_at(place)) {
            return Some(place);
        }
        drop(graph);
        let here = self.stack_here()?;
        let graph = self.graph.borrow();
        stack::top(&here, &graph).filter(|place| graph.line_of(place).contains("reject"))
    }

    /// The engine's text of the stack as it is now.
    pub(crate) fn stack_here(&self) -> Option<String> {
        let error = self.realm.here()?;
        // It was made only to be asked; nothing was thrown here.
        drop(self.realm.take_back_trace());
        self.primordials.stack.call(&error, &[]).ok()?.string()
    }
}
