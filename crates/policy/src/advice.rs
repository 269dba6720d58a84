//! What others than the tables and the rules say about an action: plain data, handed in.
//!
//! A program that embeds this may have classifiers and permission layers of its own. What they say
//! is asked for before judging and weighed here, so that judging stays a pure function.

use crate::classify::{Class, Reason};
use crate::judge::{ApprovalKey, Premises, runs};
use crate::permissions::ApprovalPolicy;
use crate::permit::{Basis, Permit};
use crate::rule::Decision;
use crate::verdict::{Judgement, Question, QuestionKind, Refusal, RefusalCode, Verdict};

/// Everything that was said about an action.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advice {
    /// What classifiers found about a command.
    pub findings: Vec<Finding>,
    /// What layers say, with their names.
    pub opinions: Vec<(String, Opinion)>,
}

/// What a classifier found about a command. It makes the command worse or leaves it as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The part of the command that it is about, for a person.
    pub part: String,
    /// How bad that is.
    pub class: Class,
    /// Why, for a person.
    pub why: String,
}

impl Finding {
    /// A finding.
    pub fn new(class: Class, part: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            part: part.into(),
            class,
            why: why.into(),
        }
    }
}

/// What a layer says about an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opinion {
    /// Allow, ask, deny, or nothing.
    pub decision: Decision,
    /// Why, for a person.
    pub reason: String,
}

impl Opinion {
    /// It may happen without a question.
    pub fn allow(reason: impl Into<String>) -> Self {
        Self::new(Decision::Allow, reason)
    }

    /// Somebody is asked.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::new(Decision::Ask, reason)
    }

    /// It may not happen.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new(Decision::Deny, reason)
    }

    /// Whatever the others say.
    pub fn passthrough() -> Self {
        Self::new(Decision::Passthrough, "")
    }

    fn new(decision: Decision, reason: impl Into<String>) -> Self {
        Self {
            decision,
            reason: reason.into(),
        }
    }
}

impl Advice {
    /// The worst that was found.
    pub(crate) fn worst(&self) -> Class {
        let classes = self.findings.iter().map(|finding| finding.class);
        classes.max().unwrap_or(Class::ReadOnly)
    }

    /// The findings as reasons. They are about the whole: no rule about a part lifts them.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = Reason> {
        self.findings.iter().map(|finding| Reason {
            part: finding.part.clone(),
            class: finding.class,
            why: finding.why.clone(),
            whole: true,
        })
    }

    /// Weighs what layers say against a judgement.
    pub(crate) fn weigh(&self, judged: Judgement, premises: &Premises<'_>) -> Judgement {
        let heard = self.opinions.iter();
        let heard = heard.filter(|(_, opinion)| opinion.decision != Decision::Passthrough);
        let Some((layer, opinion)) = heard.max_by_key(|(_, opinion)| opinion.decision.strictness())
        else {
            return judged;
        };
        let Judgement {
            verdict,
            mut grounds,
        } = judged;
        let because = |does: &str| format!("the layer `{layer}` {does} it: {}", opinion.reason);
        let verdict = match (opinion.decision, verdict) {
            (Decision::Deny, Verdict::Allow(_) | Verdict::Ask(_)) => {
                grounds.because = because("denies");
                Verdict::Refuse(Refusal {
                    code: RefusalCode::DeniedByRule,
                    reason: grounds.because.clone(),
                    hint: None,
                    class: None,
                    grants: Vec::new(),
                })
            }
            (Decision::Ask, Verdict::Allow(permit)) => {
                grounds.because = because("asks about");
                question(permit, grounds.because.clone(), premises)
            }
            (Decision::Allow, Verdict::Ask(asked)) => {
                let whole = grounds.reasons.iter().filter(|reason| reason.whole);
                let whole = whole.map(|reason| reason.class).max();
                let lifted = *asked.kind() == QuestionKind::Run
                    && grounds.rule.is_none()
                    && runs(whole.unwrap_or(Class::ReadOnly), premises);
                if lifted {
                    grounds.because = because("allows");
                    let (action, confinement) = asked.into_parts();
                    let basis = Basis::Rule(format!("the layer `{layer}`"));
                    Verdict::Allow(Permit::new(action, confinement, basis))
                } else {
                    Verdict::Ask(asked)
                }
            }
            (_, verdict) => verdict,
        };
        Judgement { verdict, grounds }
    }
}

/// Asks about what would have run, unless that was answered for the session.
fn question(permit: Permit, because: String, premises: &Premises<'_>) -> Verdict {
    if premises.approval == ApprovalPolicy::Never {
        return Verdict::Refuse(Refusal {
            code: RefusalCode::ApprovalNotPossible,
            reason: format!("{because}, and approval policy never asks nobody"),
            hint: None,
            class: None,
            grants: Vec::new(),
        });
    }
    let (action, confinement) = permit.redeem();
    let key = ApprovalKey::new(&QuestionKind::Run, &action, &confinement);
    if premises.approvals.contains(&key) {
        return Verdict::Allow(Permit::new(action, confinement, Basis::SessionApproval));
    }
    Verdict::Ask(Question::new(
        QuestionKind::Run,
        because,
        action,
        confinement,
    ))
}
