//! What the desk does for the network's gate: connections are judged within the bounds of the run
//! that wants them, and go on record as its children.

use std::sync::PoisonError;

use ringfence_policy::action::Action;
use ringfence_policy::judge::{Bench, Remembered, judge_advised};
use ringfence_policy::permissions::SandboxPolicy;
use ringfence_policy::verdict::{Denial as Refusal, Grounds, Judgement, Question};
use ringfence_policy::{Permit, Verdict};

use super::Call;
use super::desk::Desk;
use super::record::{ActionRecord, Decided};
use crate::error::CallError;

impl Desk {
    /// Looks at something with everything that a verdict depends on in a run: its own bounds, and
    /// what was approved for it besides what was for the session.
    pub(crate) fn on_bench<T>(
        &self,
        sandbox: &SandboxPolicy,
        approved: &Remembered,
        look: impl FnOnce(&Bench<'_>) -> T,
    ) -> T {
        let remembered = {
            let session = self
                .remembered
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            session.with(approved)
        };
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        look(&Bench {
            sandbox,
            ..self.bench(&rules, &remembered)
        })
    }

    /// Says what would become of an action in a run.
    pub(crate) fn check_in(
        &self,
        action: Action,
        sandbox: &SandboxPolicy,
        approved: &Remembered,
    ) -> Judgement {
        let advice = self.advisers.advice(&action, &self.ground);
        self.on_bench(sandbox, approved, |bench| {
            judge_advised(action, bench, &advice)
        })
    }

    /// Puts a question that a run of another call has raised.
    pub(crate) async fn ask_about(
        &self,
        call: &Call,
        question: Question,
        grounds: &Grounds,
    ) -> Result<Result<Permit, Refusal>, CallError> {
        let record = ActionRecord::of(question.action());
        self.ask(call, &record, question, grounds).await
    }

    /// Puts a verdict on record that nobody had to be asked for.
    pub(crate) fn record_verdict(
        &self,
        call: &Call,
        action: &Action,
        judged: &Judgement,
    ) -> Result<(), CallError> {
        let record = ActionRecord::of(action);
        match &judged.verdict {
            Verdict::Allow(permit) => {
                self.record_intent(call, &record, Decided::by_policy(permit, &judged.grounds))
            }
            Verdict::Deny(refusal) => {
                self.record_intent(call, &record, Decided::denied(refusal, &judged.grounds))
            }
            Verdict::Ask(_) => Ok(()),
        }
    }
}
