//! The desk: where actions are judged, asked about and put on record.
//!
//! Commands come here through the engine and connections through the network's gate, which live
//! apart from each other: the desk is what they share. It starts nothing.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use ringfence_jail::Mended;
use ringfence_policy::action::Action;
use ringfence_policy::judge::{
    ApprovalKey, Bench, Escalation, Remembered, judge_advised, judge_retry,
};
use ringfence_policy::permissions::{ApprovalPolicy, Limits, SandboxPolicy};
use ringfence_policy::propose::Proposal;
use ringfence_policy::rule::Layer;
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::settle::{Answer, settle};
use ringfence_policy::verdict::{Denial as Refusal, Grounds, Judgement, Question};
use ringfence_policy::{Ground, Permit, Verdict};

use super::Call;
use super::account::{Account, Accounts};
use super::advisers::Advisers;
use super::held::held;
use super::record::{ActionRecord, Decided, mended_lines, millis, recorded};
use crate::approval::{Answered, Approver};
use crate::audit::{self, AuditLog, CallId, Clock, SessionId, SystemClock};
use crate::denial::Denial;
use crate::error::CallError;
use crate::event::{Event, EventSink};
use crate::execution::{Cancel, Latch, Stopwatch};
use crate::rules;
use crate::script::ScriptPlace;

/// The desk of a session.
pub(crate) struct Desk {
    pub(crate) ground: Ground,
    pub(crate) sandbox: SandboxPolicy,
    pub(crate) limits: Limits,
    pub(crate) approval: ApprovalPolicy,
    /// How long a question waits for its answer.
    pub(crate) patience: Duration,
    pub(crate) escalation: Escalation,
    pub(crate) rules: RwLock<RuleSet>,
    pub(crate) rules_file: Option<PathBuf>,
    pub(crate) remembered: Mutex<Remembered>,
    pub(crate) audit: Option<AuditLog>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) advisers: Advisers,
    pub(crate) events: EventSink,
    pub(crate) session: SessionId,
    pub(crate) calls: AtomicU64,
    pub(crate) accounts: Accounts,
}

impl Desk {
    /// A new call.
    pub(crate) fn new_call(&self) -> Call {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        Call {
            id: CallId(format!("{}-{number}", self.session.0)),
            parent: None,
            cancel: Cancel::new(),
            to_background: Latch::new(),
            clock: Stopwatch::start(),
            place: None,
        }
    }

    /// How many calls there have been.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Says what would become of an action, and does nothing.
    pub(crate) fn check(&self, action: Action) -> Judgement {
        self.judged(action).0
    }

    /// The judgement, and what of the rules about paths the fence cannot hold.
    fn judged(&self, action: Action) -> (Judgement, Option<String>) {
        let advice = self.advisers.advice(&action, &self.ground);
        let remembered = self
            .remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let (sandbox, not_held) = held(&self.sandbox, &action, &rules, &self.ground);
        let bench = Bench {
            sandbox: &sandbox,
            ..self.bench(&rules, &remembered)
        };
        (judge_advised(action, &bench, &advice), not_held)
    }

    /// Judges an action and, if need be, asks about it. The intent goes on its account.
    pub(super) async fn permit(
        &self,
        account: &Account,
        action: Action,
    ) -> Result<Permit, CallError> {
        let (Judgement { verdict, grounds }, not_held) = self.judged(action);
        if let Some(not_held) = not_held {
            self.notice(account.call(), not_held);
        }
        match verdict {
            Verdict::Allow(permit) => {
                account.intend(Decided::by_policy(&permit, &grounds))?;
                Ok(permit)
            }
            Verdict::Deny(refusal) => {
                account.intend(Decided::denied(&refusal, &grounds))?;
                Err(CallError::Denied(refusal))
            }
            Verdict::Ask(question) => match self.ask(account, question, &grounds).await? {
                Ok(permit) => Ok(permit),
                Err(refusal) => Err(CallError::Denied(refusal)),
            },
        }
    }

    /// Asks whether a command that the fence refused something may run again without it. A second
    /// try has an account of its own.
    pub(super) async fn permit_retry(
        &self,
        first: &Account,
        action: Action,
        denials: &[Denial],
    ) -> Result<Result<(Permit, Account), Refusal>, CallError> {
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
            Verdict::Deny(refusal) => Ok(Err(refusal)),
            Verdict::Allow(permit) => {
                let account = first.again();
                let because = permit.basis().to_string();
                account.intend(Decided::approved(&permit, &because, None))?;
                Ok(Ok((permit, account)))
            }
            Verdict::Ask(question) => {
                let account = first.again();
                let asked = self.ask(&account, question, &Grounds::default()).await;
                account.conclude_unless_permitted(&asked)?;
                Ok(asked?.map(|permit| (permit, account)))
            }
        }
    }

    /// Puts a question to the approver, with a limit on its time, and records both sides.
    pub(super) async fn ask(
        &self,
        account: &Account,
        question: Question,
        grounds: &Grounds,
    ) -> Result<Result<Permit, Refusal>, CallError> {
        let (call, record) = (account.call(), account.action());
        let asked = Instant::now();
        self.record(|| {
            audit::Record::ApprovalAsked(audit::ApprovalAsked {
                call: call.id.clone(),
                session: self.session.clone(),
                command: record.command.clone(),
                reason: question.because().to_owned(),
                proposed_rule: question.proposals().first().map(Proposal::summary),
                justification: record.justification.clone(),
            })
        })?;
        let Answered { answer, by } = self.answer(call, &question, grounds).await?;
        self.record(|| {
            audit::Record::ApprovalAnswered(audit::ApprovalAnswered {
                call: call.id.clone(),
                session: self.session.clone(),
                answer: recorded(&answer),
                by: by.to_owned(),
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
                } else if answer == Answer::ApprovedForSession
                    && let Some(key) = key
                {
                    let mut remembered = self
                        .remembered
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    remembered.insert(key);
                }
                account.intend(Decided::approved(permit, &because, Some(by)))?;
            }
            Err(refusal) => {
                account.intend(Decided::denied(refusal, grounds))?;
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
    ) -> Result<Answered, CallError> {
        let _thinking = call.clock.pause();
        let place = call.place.as_deref();
        // The script waits as well.
        let _parked = place.map(|place| place.clock.pause());
        let grounds = &Grounds {
            script: place.map(|place| place.line.clone()),
            ..grounds.clone()
        };
        tokio::select! {
            answered = tokio::time::timeout(self.patience, self.approver.answer(question, grounds)) => {
                Ok(answered.unwrap_or_else(|_| Answered {
                    answer: Answer::TimedOut,
                    by: self.approver.name(),
                }))
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

    pub(super) fn bench<'a>(&'a self, rules: &'a RuleSet, remembered: &'a Remembered) -> Bench<'a> {
        Bench {
            ground: &self.ground,
            sandbox: &self.sandbox,
            limits: &self.limits,
            approval: self.approval,
            escalation: self.escalation,
            rules,
            remembered,
        }
    }

    pub(crate) fn tell(&self, event: &Event<'_>) {
        (self.events)(event);
    }

    pub(crate) fn notice(&self, call: &Call, text: String) {
        (self.events)(&Event::Notice {
            call: call.id.clone(),
            text,
        });
    }

    pub(crate) fn record(&self, record: impl FnOnce() -> audit::Record) -> Result<(), CallError> {
        match &self.audit {
            Some(log) => Ok(log.record(record())?),
            None => Ok(()),
        }
    }

    pub(super) fn record_intent(
        &self,
        call: &Call,
        action: &ActionRecord,
        decided: Decided<'_>,
    ) -> Result<(), CallError> {
        self.record(|| {
            audit::Record::Intent(audit::Intent {
                call: call.id.clone(),
                session: self.session.clone(),
                parent: call.parent.clone(),
                script: call.place.as_deref().map(ScriptPlace::recorded),
                tool: action.tool.clone(),
                command: action.command.clone(),
                shell: action.shell.clone(),
                cwd: action
                    .cwd
                    .clone()
                    .unwrap_or_else(|| self.ground.cwd.clone()),
                sandbox: decided.sandbox,
                verdict: decided.verdict,
                reason: decided.reason,
                rule: decided.rule,
                approved_by: decided.by.map(str::to_owned),
                justification: action.justification.clone(),
            })
        })
    }

    /// Tells, and puts on record, what was put back of git's set-up after the last call.
    pub(crate) fn tell_settled(&self, mended: &[Mended]) {
        if mended.is_empty() {
            return;
        }
        let call = CallId(self.session.0.clone());
        for line in mended_lines(mended) {
            self.tell(&Event::Notice {
                call: call.clone(),
                text: format!("a command changed {line}"),
            });
        }
        // Nobody waits for this; a log that cannot be written refuses the next call.
        let _ = self.record(|| {
            audit::Record::Outcome(audit::CallEnded {
                denied_by_sandbox: true,
                mended: mended_lines(mended),
                ..audit::CallEnded::new(call, self.session.clone(), audit::Outcome::Ok)
            })
        });
    }
}
