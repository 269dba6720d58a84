//! The desk: where actions are judged, asked about and put on record.
//!
//! Commands come here through the engine and connections through the network's gate, which live
//! apart from each other: the desk is what they share. It starts nothing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use ringfence_jail::Repair;
use ringfence_policy::action::Action;
use ringfence_policy::judge::{ApprovalKey, Escalation, Premises, SessionApprovals, judge_advised};
use ringfence_policy::permissions::{ApprovalPolicy, Limits, SandboxPolicy};
use ringfence_policy::propose::Proposal;
use ringfence_policy::rule::Layer;
use ringfence_policy::ruleset::RuleSet;
use ringfence_policy::settle::{Answer, narrow, settle};
use ringfence_policy::verdict::{Grounds, Judgement, Question, Refusal, RefusalCode};
use ringfence_policy::{Ground, NarrowGrant, Permit, Verdict};

use super::Call;
use super::account::{Account, Accounts};
use super::advisers::Advisers;
use super::denied_paths::with_denied_paths;
use super::record::{ActionRecord, Decided, mended_lines, millis, recorded};
use crate::approval::{Answered, Approver};
use crate::audit::{self, AuditLog, CallId, Clock, SessionId, SystemClock};
use crate::engine::CallSite;
use crate::error::CallError;
use crate::event::{Event, EventSink, TurnId};
use crate::execution::{Cancel, Latch, Stopwatch};
use crate::grant;
use crate::rules;

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
    /// Folders of the harness's own, which nobody is asked about.
    pub(crate) own_folders: Vec<PathBuf>,
    /// Where the user's own shell looks for programs.
    pub(crate) search_path: Option<String>,
    pub(crate) approvals: Mutex<SessionApprovals>,
    pub(crate) audit: Option<AuditLog>,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) advisers: Advisers,
    pub(crate) events: EventSink,
    pub(crate) session: SessionId,
    pub(crate) calls: AtomicU64,
    pub(crate) turns: AtomicU64,
    pub(crate) accounts: Accounts,
}

impl Desk {
    /// A new call.
    pub(crate) fn new_call(&self) -> Call {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        Call {
            id: CallId(format!("{}-{number}", self.session.0)),
            parent: None,
            turn: None,
            cancel: Cancel::new(),
            to_background: Latch::new(),
            clock: Stopwatch::start(),
            call_site: None,
            #[cfg(feature = "scripts")]
            bridge: None,
            grants: Vec::new(),
        }
    }

    /// A new turn.
    pub(super) fn new_turn(&self) -> TurnId {
        let number = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        TurnId(format!("{}-turn-{number}", self.session.0))
    }

    /// The session, for what is told of it as a whole.
    pub(crate) fn session_as_call(&self) -> CallId {
        CallId(self.session.0.clone())
    }

    /// How many calls there have been.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Says what would become of an action, and does nothing.
    pub(crate) fn check(&self, action: Action) -> Judgement {
        self.judged(action, &[]).0
    }

    /// The judgement, and what of the rules about paths the fence cannot hold.
    fn judged(&self, action: Action, grants: &[NarrowGrant]) -> (Judgement, Option<String>) {
        let advice = self.advisers.advice(&action, &self.ground);
        let approvals = self
            .approvals
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let (sandbox, not_held) = with_denied_paths(&self.sandbox, &action, &rules, &self.ground);
        let mut sandbox = sandbox;
        for grant in grants {
            grant.widen(sandbox.to_mut());
        }
        let premises = Premises {
            sandbox: &sandbox,
            ..self.premises(&rules, &approvals)
        };
        (judge_advised(action, &premises, &advice), not_held)
    }

    /// Judges an action and, if need be, asks about it. The intent goes on its account.
    pub(super) async fn permit(
        &self,
        account: &Account,
        action: Action,
    ) -> Result<Permit, CallError> {
        let granted = &account.call().grants;
        account.tell(|call| Event::Judging { call });
        let judging = Instant::now();
        let (judged, not_held) = self.judged(action, granted);
        tell_judged(account, &judged.verdict, &judged.grounds, Some(judging));
        let Judgement {
            verdict,
            mut grounds,
        } = judged;
        if !granted.is_empty() {
            let words: Vec<String> = granted.iter().map(ToString::to_string).collect();
            let (because, by) = (&grounds.because, self.approver.name());
            grounds.because = format!("{because}; {by} lets it {}", words.join(", and "));
        }
        if let Some(not_held) = not_held {
            self.notice(account.call(), not_held);
        }
        match verdict {
            Verdict::Allow(permit) => {
                account.intend(Decided::by_policy(&permit, &grounds))?;
                Ok(permit)
            }
            Verdict::Refuse(refusal) => {
                account.intend(Decided::refused(&refusal, &grounds))?;
                Err(CallError::Refused(refusal.of_class(grounds.class)))
            }
            Verdict::Ask(question) => match self.ask(account, question, &grounds).await? {
                Ok(permit) => Ok(permit),
                Err(refusal) => Err(CallError::Refused(refusal.of_class(grounds.class))),
            },
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
                reason: asked_because(&question),
                proposed_rule: question.proposals().first().map(Proposal::summary),
                justification: record.justification.clone(),
            })
        })?;
        account.tell(|call| Event::Asked { call });
        let answered = self.answer(call, &question, grounds).await;
        account.tell(|call| Event::Answered {
            call,
            answer: answered.as_ref().ok().map(|it| recorded(&it.answer)),
            waited: asked.elapsed(),
        });
        let Answered { answer, by } = answered?;
        let (question, answer) = narrow(question, answer);
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
        let because = asked_because(&question);
        let key = ApprovalKey::of(&question);
        let granted = (question.action().clone(), question.grants().to_vec());
        let settled = match grant::moved(&granted.1) {
            Some(path) if answer != Answer::Outside => Err(gone_elsewhere(path)),
            _ => settle(question, &answer),
        };
        match &settled {
            Ok(permit) => {
                if let Answer::ApprovedWithRule(rule) = &answer {
                    self.keep_rule(call, rule, &because)?;
                } else if answer == Answer::ApprovedForSession
                    && let Some(key) = key
                {
                    let mut approvals = self
                        .approvals
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    approvals.insert(key);
                    approvals.grant(&granted.0, &granted.1);
                }
                account.intend(Decided::approved(permit, grounds.class, &because, Some(by)))?;
            }
            Err(refusal) => {
                account.intend(Decided::refused(refusal, grounds))?;
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
        let call_site = call.call_site.as_deref();
        // The script waits as well.
        let _parked = call_site.map(|site| site.clock.pause());
        let grounds = &Grounds {
            script: call_site.map(|site| site.line.clone()),
            ..grounds.clone()
        };
        tokio::select! {
            answered = tokio::time::timeout(self.patience, self.approver.answer_call(call, question, grounds)) => {
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

    pub(super) fn premises<'a>(
        &'a self,
        rules: &'a RuleSet,
        approvals: &'a SessionApprovals,
    ) -> Premises<'a> {
        Premises {
            ground: &self.ground,
            sandbox: &self.sandbox,
            limits: &self.limits,
            approval: self.approval,
            escalation: self.escalation,
            rules,
            approvals,
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
                script: call.call_site.as_deref().map(CallSite::recorded),
                tool: action.tool.clone(),
                command: action.command.clone(),
                shell: action.shell.clone(),
                cwd: action
                    .cwd
                    .clone()
                    .unwrap_or_else(|| self.ground.cwd.clone()),
                sandbox: decided.sandbox,
                verdict: decided.verdict,
                class: decided.class.map(|class| class.to_string()),
                reason: decided.reason,
                rule: decided.rule,
                approved_by: decided.by.map(str::to_owned),
                justification: action.justification.clone(),
            })
        })
    }

    /// Tells, and puts on record, what was put back of git's set-up after the last call.
    pub(crate) fn tell_settled(&self, mended: &[Repair]) {
        if mended.is_empty() {
            return;
        }
        let call = self.session_as_call();
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

/// Tells what came of judging, which began at that moment.
pub(super) fn tell_judged(
    account: &Account,
    verdict: &Verdict,
    grounds: &Grounds,
    began: Option<Instant>,
) {
    account.tell(|call| Event::Judged {
        call,
        verdict: match verdict {
            Verdict::Allow(_) => audit::Decision::Allow,
            Verdict::Ask(_) => audit::Decision::Ask,
            Verdict::Refuse(_) => audit::Decision::Deny,
        },
        class: grounds.class,
        rule: grounds.rule.clone(),
        took: began.map(|began| began.elapsed()),
    });
}

/// What was granted is not what it was when somebody was asked.
fn gone_elsewhere(path: &Path) -> Refusal {
    Refusal::new(
        RefusalCode::DeniedByRule,
        format!("{} leads elsewhere by now", path.display()),
    )
}

/// Why a question is asked, with what a yes would grant besides.
fn asked_because(question: &Question) -> String {
    let grants: Vec<String> = question.grants().iter().map(ToString::to_string).collect();
    if grants.is_empty() {
        return question.because().to_owned();
    }
    format!(
        "{}; a yes lets it {}",
        question.because(),
        grants.join(", and ")
    )
}
