//! Steps that are not executed although the model wrote them: what was begun before, and what repeats an earlier call.

use ringfence_dialect::provider::{CallResult, Feedback};

use super::entry::Outcome;
use super::journal::{Journal, JournalError};
use super::plan::{Plan, Step, call_item};
use super::steps::{call_outcome, not_run};

impl Journal {
    /// Settles what is not to be executed: what was begun before, and what repeats an earlier call.
    pub(super) fn settle(&mut self, plan: &Plan) -> Result<Vec<bool>, JournalError> {
        let mut settled = Vec::new();
        for (number, step) in plan.steps.iter().enumerate() {
            let open = self.open_turn();
            let known = open.is_some_and(|open| open.outcomes.contains_key(&number));
            let begun = open.is_some_and(|open| open.begun.contains(&number));
            let outcome = if known {
                None
            } else if begun {
                Some(not_run(
                    step,
                    "it was begun before the program ended, and what came of it is not known. It was not run again: \
                     look how far it came",
                ))
            } else {
                self.repeated(plan, number)
            };
            settled.push(known || outcome.is_some());
            if let Some(outcome) = outcome {
                self.outcome(number, outcome)?;
            }
        }
        Ok(settled)
    }

    /// What is told of a call that was made before.
    fn repeated(&self, plan: &Plan, number: usize) -> Option<Outcome> {
        let Step::Call(call) = &plan.steps[number] else {
            return None;
        };
        let id = &call.call_id;
        let has_id = |step: &Step| matches!(step, Step::Call(other) if other.call_id == *id);
        if !id.is_empty() && plan.steps[..number].iter().any(has_id) {
            // There is one result for an id.
            let note = format!(
                "[the call id `{id}` is there twice in one turn: the second call was not executed]"
            );
            return Some(Outcome {
                feedback: vec![Feedback::Note(note)],
                items: vec![call_item(call)],
            });
        }
        self.has_answered(call).then(|| {
            let why = "this call has the id, the tool and the arguments of one that was answered before: it was not \
                       executed again, and that answer holds";
            call_outcome(call, CallResult::error(call, why))
        })
    }
}
