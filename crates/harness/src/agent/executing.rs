//! A turn that has come in: it is executed, the model is told what came of it, and it is ended.

use std::pin::pin;
use std::sync::Mutex;

use ringfence_dialect::message::SourceLimits;
use ringfence_dialect::provider::{Feedback, Raw, StopReason, Turn, feedback_items};

use super::budget;
use super::entry::Outcome;
use super::event::AgentEvent;
use super::journal::{Journal, JournalError};
use super::limits::Ended;
use super::model::ModelClient;
use super::options::AgentError;
use super::plan::{Piece, Plan};
use super::run::{Agent, or_stopped};
use super::steps::{Steps, not_run, succeeded};
use super::tally::Tally;
use crate::event::TurnId;
use crate::execution::Cancel;
use crate::respond::Turn as ScriptTurn;
use crate::script::Conversation;

impl<C: ModelClient> Agent<'_, C> {
    /// Ends a turn that an earlier run left, without executing anything.
    pub(super) fn leave_open_turn(&mut self) -> Result<(), JournalError> {
        let Some(open) = self.journal.open_turn() else {
            return Ok(());
        };
        let plan = self.plan(&open.turn);
        if plan.steps.is_empty() {
            return Ok(());
        }
        let known = open.outcomes.clone();
        for (number, step) in plan
            .steps
            .iter()
            .enumerate()
            .filter(|(number, _)| !known.contains_key(number))
        {
            let outcome = not_run(
                step,
                "it was not run to its end: the conversation was interrupted",
            );
            self.journal.outcome(number, outcome)?;
        }
        let feedback = self
            .outcomes()
            .into_iter()
            .flat_map(|outcome| outcome.feedback)
            .collect();
        let items = self.worded(feedback);
        self.journal.told(items, Vec::new())
    }

    /// Executes a turn and tells the model what came of it; or says that it was the last.
    pub(super) async fn finish_turn(
        &mut self,
        tally: &mut Tally,
        cancel: &Cancel,
    ) -> Result<Option<Ended>, AgentError> {
        let Some(open) = self.journal.open_turn() else {
            return Ok(None);
        };
        let (plan, stop) = (self.plan(&open.turn), open.turn.stop.clone());
        if plan.steps.is_empty() {
            return Ok(self.finish_words(&stop)?);
        }
        let settled = self.journal.settle(&plan)?;
        self.workspace.ready().await;
        let turn_id = open_turn_id(&self.journal);
        let inner = Cancel::new();
        let turn = self.engine.begin_turn();
        let steps = Steps {
            engine: self.engine,
            tools: &self.options.tools,
            turn: self.script_turn(turn_id, turn.id().clone()),
            journal: Mutex::new(&mut self.journal),
            listener: &*self.listener,
            cancel: &inner,
            at_once: self.options.limits.max_concurrent_calls,
        };
        let ended = {
            let mut executed = pin!(steps.execute(&plan, &settled));
            match or_stopped(executed.as_mut(), cancel, tally.deadline).await {
                Ok(done) => {
                    done?;
                    None
                }
                Err(ended) => {
                    inner.cancel();
                    executed.await?;
                    Some(ended)
                }
            }
        };
        self.tell(&plan, tally, ended.as_ref()).await?;
        Ok(ended)
    }

    /// A turn in which nothing is to be executed is the last, unless the model could not say all it wanted.
    fn finish_words(&mut self, stop: &StopReason) -> Result<Option<Ended>, JournalError> {
        let note = match stop {
            StopReason::OutputLimit => {
                "[your answer was cut off at the limit of its length; go on where it ends]"
            }
            StopReason::Paused => "",
            StopReason::ContextLimit => return Ok(Some(Ended::ContextFull)),
            StopReason::Refused => return Ok(Some(Ended::Refused)),
            _ => return Ok(Some(Ended::Done)),
        };
        let feedback = (!note.is_empty()).then(|| Feedback::Note(note.to_owned()));
        let items = self.worded(feedback.into_iter().collect());
        self.journal.told(items, Vec::new())?;
        Ok(None)
    }

    fn plan(&self, turn: &Turn) -> Plan {
        let limits = SourceLimits {
            max_source_bytes: self.engine.config.script.limits.max_source_bytes,
        };
        Plan::of(turn, limits)
    }

    fn script_turn(&self, turn_id: String, id: TurnId) -> ScriptTurn {
        ScriptTurn {
            id: Some(id),
            conversation: Conversation {
                conversation_id: self.journal.id().to_owned(),
                turn_id,
                provider: self.options.vendor.clone(),
                model: self.options.request.model.clone(),
            },
            mode: self.options.script_mode,
        }
    }

    async fn tell(
        &mut self,
        plan: &Plan,
        tally: &mut Tally,
        stopped: Option<&Ended>,
    ) -> Result<(), JournalError> {
        let outcomes = self.outcomes();
        let all_failed = !outcomes.iter().any(succeeded);
        let failed = outcomes
            .iter()
            .filter(|outcome| !succeeded(outcome))
            .count();
        tally.take_steps(outcomes.len(), failed);
        if all_failed {
            tally.fail("nothing that the model called succeeded".to_owned());
        }
        let changes = self.workspace.look().await;
        tally.take_changes(&changes);
        let items = said_and_done(plan, &outcomes);
        self.listener.hear(&AgentEvent::TurnEnded {
            items: &items,
            changes: &changes,
        });
        let feedback = outcomes
            .into_iter()
            .flat_map(|outcome| outcome.feedback)
            .chain(stopped.map(who_stopped))
            .collect();
        let items = self.worded(feedback);
        self.journal.told(items, changes)
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let open = self.journal.open_turn();
        open.map(|open| open.outcomes.values().cloned().collect())
            .unwrap_or_default()
    }

    /// Results in the provider's form, within the budget.
    fn worded(&self, feedback: Vec<Feedback>) -> Vec<Raw> {
        let spill = self.engine.spill_options();
        let feedback = budget::fit(
            feedback,
            self.options.limits.max_turn_output_chars,
            spill.as_ref(),
        );
        feedback_items(self.journal.provider(), &feedback)
    }
}

/// Who stopped a turn, and what that means for its results.
fn who_stopped(ended: &Ended) -> Feedback {
    let who = match ended {
        Ended::Cancelled => "the user stopped this turn",
        _ => "the time for the task is over",
    };
    Feedback::Note(format!(
        "[{who}: what was running was killed before it was done, and what had not begun was not run]"
    ))
}

fn open_turn_id(journal: &Journal) -> String {
    journal
        .open_turn()
        .map(|open| open.turn.id.clone())
        .unwrap_or_default()
}

/// What was said and done in a turn, in order.
fn said_and_done(plan: &Plan, outcomes: &[Outcome]) -> Vec<ringfence_dialect::Item> {
    let mut items = Vec::new();
    for piece in &plan.pieces {
        match piece {
            Piece::Said(item) => items.push(item.clone()),
            Piece::Step(step) => items.extend(
                outcomes
                    .get(*step)
                    .into_iter()
                    .flat_map(|outcome| outcome.items.clone()),
            ),
        }
    }
    items
}
