//! Connecting: connections are judged within the bounds of the run that wants them, and go through the
//! door as its children. Each host is one passage, which lasts as long as the run.

use std::sync::{Arc, PoisonError};

use ringfence_policy::Verdict;
use ringfence_policy::action::{Action, Connect};
use ringfence_policy::judge::{Premises, SessionApprovals, judge_advised};
use ringfence_policy::permissions::SandboxPolicy;
use ringfence_policy::verdict::{Grounds, Judgement, Question, Refusal};

use crate::audit::Outcome;
use crate::engine::Call;
use crate::engine::account::End;
use crate::engine::desk::{Desk, tell_judged};
use crate::engine::door::Passage;
use crate::engine::record::Decided;
use crate::error::CallError;

impl Desk {
    /// Looks at something with everything that a verdict depends on in a run: its own bounds, and
    /// what was approved for it besides what was for the session.
    pub(crate) fn on_premises<T>(
        &self,
        sandbox: &SandboxPolicy,
        approved: &SessionApprovals,
        look: impl FnOnce(&Premises<'_>) -> T,
    ) -> T {
        let approvals = {
            let session = self
                .approvals
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            session.with(approved)
        };
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        look(&Premises {
            sandbox,
            ..self.premises(&rules, &approvals)
        })
    }

    /// Says what would become of an action in a run.
    pub(crate) fn check_in(
        &self,
        action: Action,
        sandbox: &SandboxPolicy,
        approved: &SessionApprovals,
    ) -> Judgement {
        let advice = self.advisers.advice(&action, &self.ground);
        self.on_premises(sandbox, approved, |premises| {
            judge_advised(action, premises, &advice)
        })
    }

    /// Takes a connection through the door that nobody has to be asked about. It has passed for as
    /// long as the passage is kept.
    pub(crate) fn pass(
        self: &Arc<Self>,
        call: &Call,
        connect: &Connect,
        judged: &Judgement,
    ) -> Result<Option<Passage>, CallError> {
        let passage = Passage::begin(self, call, &Action::Connect(connect.clone()));
        tell_judged(passage.account(), &judged.verdict, &judged.grounds, None);
        match &judged.verdict {
            Verdict::Allow(permit) => {
                let decided = Decided::by_policy(permit, &judged.grounds);
                passage.account().intend(decided)?;
                Ok(Some(passage))
            }
            Verdict::Refuse(refusal) => {
                let decided = Decided::refused(refusal, &judged.grounds);
                passage.account().intend(decided)?;
                passage.close(&End::because(Outcome::Refused, refusal.code.name()))?;
                Ok(None)
            }
            Verdict::Ask(_) => Ok(None),
        }
    }

    /// Takes a connection through the door that somebody is asked about.
    pub(crate) async fn ask_to_pass(
        self: &Arc<Self>,
        call: &Call,
        question: Question,
        grounds: &Grounds,
    ) -> Result<Result<Passage, Refusal>, CallError> {
        let passage = Passage::begin(self, call, question.action());
        let asked = self.ask(passage.account(), question, grounds).await;
        match asked {
            Ok(Ok(_)) => Ok(Ok(passage)),
            Ok(Err(refusal)) => {
                passage.close(&End::because(Outcome::Refused, refusal.code.name()))?;
                Ok(Err(refusal))
            }
            Err(error) => {
                passage.close(&End::of_error(&error))?;
                Err(error)
            }
        }
    }
}

impl Passage {
    /// The connections that it let through have ended with their run.
    pub(crate) fn over(self) -> Result<(), CallError> {
        self.close(&End::new(Outcome::Ok))
    }
}
