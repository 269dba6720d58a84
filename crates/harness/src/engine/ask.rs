//! Asking a person, with everything that belongs to it: the limit on their time, the clock of the
//! call that stands still, the record of both sides, the rule that is kept.

use std::time::Instant;

use ringfence_policy::action::Action;
use ringfence_policy::judge::{ApprovalKey, judge_retry};
use ringfence_policy::propose::Proposal;
use ringfence_policy::rule::Layer;
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::settle::{Answer, settle};
use ringfence_policy::verdict::{Denial as Refusal, Grounds, Question};
use ringfence_policy::{Permit, Verdict};

use std::sync::PoisonError;

use super::record::{ActionRecord, Decided, millis, recorded};
use super::{Call, Engine};
use crate::audit::{self, Clock, SystemClock};
use crate::denial::Denial;
use crate::error::CallError;
use crate::rules;

impl Engine {
    /// Asks whether a command that the fence refused something may run again without it.
    pub(super) async fn permit_retry(
        &self,
        call: &Call,
        action: Action,
        denials: &[Denial],
    ) -> Result<Result<Permit, Refusal>, CallError> {
        let record = ActionRecord::of(&action);
        let denied = denials.iter().map(Denial::line).collect();
        let verdict = {
            let remembered = self
                .remembered
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
            judge_retry(action, denied, &self.bench(&rules, &remembered))
        };
        match verdict {
            Verdict::Ask(question) => self.ask(call, &record, question, &Grounds::default()).await,
            Verdict::Allow(permit) => Ok(Ok(permit)),
            Verdict::Deny(refusal) => Ok(Err(refusal)),
        }
    }

    /// Puts a question to the approver, with a limit on its time, and records both sides.
    pub(super) async fn ask(
        &self,
        call: &Call,
        record: &ActionRecord,
        question: Question,
        grounds: &Grounds,
    ) -> Result<Result<Permit, Refusal>, CallError> {
        let asked = Instant::now();
        self.recorder.record(|session| {
            audit::Record::ApprovalAsked(audit::ApprovalAsked {
                call: call.id.clone(),
                session,
                command: record.command.clone(),
                reason: question.because().to_owned(),
                proposed_rule: question.proposals().first().map(Proposal::summary),
                justification: record.justification.clone(),
            })
        })?;
        let answer = self.answer(call, &question, grounds).await?;
        self.recorder.record(|session| {
            audit::Record::ApprovalAnswered(audit::ApprovalAnswered {
                call: call.id.clone(),
                session,
                answer: recorded(&answer),
                by: self.approver.name().to_owned(),
                waited_ms: millis(asked.elapsed()),
                rule: match &answer {
                    Answer::ApprovedWithRule(rule) => Some(rule.clone()),
                    _ => None,
                },
            })
        })?;
        let because = question.because().to_owned();
        let key = ApprovalKey::of(&question);
        let settled = settle(question, &answer);
        match &settled {
            Ok(permit) => {
                if let Answer::ApprovedWithRule(rule) = &answer {
                    self.keep_rule(call, rule, &because)?;
                } else if answer == Answer::ApprovedForSession {
                    let mut remembered = self
                        .remembered
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    remembered.insert(key);
                }
                let by = Some(self.approver.name());
                let decided = Decided::approved(permit, &because, by);
                self.recorder.intent(call, record, decided)?;
            }
            Err(refusal) => {
                let decided = Decided::denied(refusal, grounds);
                self.recorder.intent(call, record, decided)?;
            }
        }
        Ok(settled)
    }

    /// The approver's answer. The call's own time stands still meanwhile.
    async fn answer(
        &self,
        call: &Call,
        question: &Question,
        grounds: &Grounds,
    ) -> Result<Answer, CallError> {
        let _thinking = call.clock.pause();
        let limit = self.config.approval.timeout;
        tokio::select! {
            answer = tokio::time::timeout(limit, self.approver.ask(question, grounds)) => {
                Ok(answer.unwrap_or(Answer::TimedOut))
            }
            () = call.cancel.cancelled() => Err(CallError::Cancelled),
        }
    }

    /// Keeps an approved rule: in the file, and for the calls that follow.
    fn keep_rule(&self, call: &Call, rule: &str, because: &str) -> Result<(), CallError> {
        let layer = if self.rules_file.is_some() {
            Layer::User
        } else {
            Layer::Session
        };
        if let Some(path) = &self.rules_file {
            rules::add(path, rule, because, SystemClock.now())?;
        } else {
            self.notice(call, "the rule holds for this session only".to_owned());
        }
        let kept = RuleSet::parse(layer, "the approved rule", rule)
            .map_err(rules::RulesFileError::from)?;
        self.rules
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(kept);
        Ok(())
    }
}
