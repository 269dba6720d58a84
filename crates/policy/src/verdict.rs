//! What comes out of judging: a permit, a question for a person, or a refusal, and the grounds.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::classify::{Class, Reason};
use crate::facts::Facts;
use crate::narrow_grant::NarrowGrant;
use crate::permissions::SandboxPolicy;
use crate::permit::{Confinement, Permit};
use crate::propose::Proposal;

/// The outcome of judging an action.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and it is taken apart at once"
)]
pub enum Verdict {
    /// It may happen.
    Allow(Permit),
    /// Somebody has to be asked.
    Ask(Question),
    /// It may not happen.
    Refuse(Refusal),
}

impl Verdict {
    /// The name used on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Allow(_) => "allow",
            Self::Ask(_) => "ask",
            Self::Refuse(_) => "deny",
        }
    }
}

/// A verdict with everything it rests on.
#[derive(Debug)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The grounds.
    pub grounds: Grounds,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Grounds {
    /// The class of a command.
    pub class: Option<Class>,
    /// Why it is of that class.
    pub reasons: Vec<Reason>,
    /// What is known about a command.
    pub facts: Option<Facts>,
    /// The rule that decided, as file and line.
    pub rule: Option<String>,
    /// The deciding sentence.
    pub because: String,
    /// The line of a script that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptLine>,
}

/// The line of a script that asks for something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptLine {
    /// The script's id.
    pub script: String,
    /// The line, from 1.
    pub line: u32,
    /// Its text.
    pub text: String,
}

/// Why a person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionKind {
    /// The action needs a yes before it happens.
    Run,
    /// A command asks to leave the fence.
    LeaveFence,
    /// The fence refused something; may the command run again with it, inside?
    RetryGranted {
        /// What was refused.
        denied: Vec<String>,
    },
    /// The fence refused something that nothing inside it allows; may the command run again without the fence?
    RetryUnfenced {
        /// What was refused.
        denied: Vec<String>,
    },
}

/// A question for a person. It holds what a yes would permit, out of anyone's reach.
#[derive(Debug)]
pub struct Question {
    kind: QuestionKind,
    because: String,
    action: Action,
    if_approved: Confinement,
    proposals: Vec<Proposal>,
    only_once: Option<&'static str>,
    grants: Vec<NarrowGrant>,
    /// The bounds without the grants.
    before: Option<SandboxPolicy>,
    outside: Option<Confinement>,
}

impl QuestionKind {
    /// What the fence refused, where it is about running again.
    pub fn denied(&self) -> Option<&[String]> {
        match self {
            Self::RetryGranted { denied } | Self::RetryUnfenced { denied } => Some(denied),
            Self::Run | Self::LeaveFence => None,
        }
    }
}

impl Question {
    pub(crate) fn new(
        kind: QuestionKind,
        because: String,
        action: Action,
        if_approved: Confinement,
    ) -> Self {
        Self {
            kind,
            because,
            action,
            if_approved,
            proposals: Vec::new(),
            only_once: None,
            grants: Vec::new(),
            before: None,
            outside: None,
        }
    }

    /// The same with things that a yes grants besides, inside the fence.
    pub(crate) fn granting(mut self, grants: Vec<NarrowGrant>) -> Self {
        if let Confinement::Fenced { sandbox, .. } = &mut self.if_approved {
            let before = self.before.get_or_insert_with(|| sandbox.clone());
            let mut wider = before.clone();
            for grant in &grants {
                grant.widen(&mut wider);
            }
            *sandbox = wider;
            self.grants = grants;
        }
        self
    }

    /// The same with one of its grants only.
    pub(crate) fn narrowed(mut self, grant: usize) -> Option<Self> {
        let chosen = vec![self.grants.get(grant)?.clone()];
        let in_a_rule = NarrowGrant::all_in_a_rule(&chosen);
        let proposals = std::mem::take(&mut self.proposals).into_iter();
        self.proposals = match in_a_rule {
            Some(grant) => proposals.map(|known| known.granting(&grant)).collect(),
            None => Vec::new(),
        };
        Some(self.granting(chosen))
    }

    /// The same with leaving the fence as the last thing that is offered.
    pub(crate) fn or_outside(mut self, outside: Option<Confinement>) -> Self {
        self.outside = outside;
        self
    }

    /// What a yes grants besides, inside the fence.
    pub fn grants(&self) -> &[NarrowGrant] {
        &self.grants
    }

    /// Whether leaving the fence can be answered instead.
    pub fn offers_outside(&self) -> bool {
        self.outside.is_some()
    }

    pub(crate) fn into_outside(self) -> Option<(Action, Confinement)> {
        Some((self.action, self.outside?))
    }

    pub(crate) fn proposing(self, proposals: Vec<Proposal>) -> Self {
        Self { proposals, ..self }
    }

    pub(crate) fn withdraw_proposals(&mut self) {
        self.proposals.clear();
    }

    /// With the reason, if there is one, why a yes is not kept; whoever is asked reads it too.
    pub(crate) fn only_once(mut self, why: Option<&'static str>) -> Self {
        if let Some(why) = why {
            self.because = format!("{}; a yes holds for once: {why}", self.because);
        }
        self.only_once = why;
        self
    }

    /// Why a yes holds for once, and neither for the session nor as a rule.
    pub fn holds_once(&self) -> Option<&'static str> {
        self.only_once
    }

    /// Rules that a yes could be kept as, from narrow to broad.
    pub fn proposals(&self) -> &[Proposal] {
        &self.proposals
    }

    /// What sort of question it is.
    pub fn kind(&self) -> &QuestionKind {
        &self.kind
    }

    /// Why it is asked.
    pub fn because(&self) -> &str {
        &self.because
    }

    /// What it is about.
    pub fn action(&self) -> &Action {
        &self.action
    }

    /// The bounds that a yes would set.
    pub fn if_approved(&self) -> &Confinement {
        &self.if_approved
    }

    pub(crate) fn into_parts(self) -> (Action, Confinement) {
        (self.action, self.if_approved)
    }
}

/// Why something may not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// A stable name for programs to look at.
    pub code: RefusalCode,
    /// What was refused and why.
    pub reason: String,
    /// What one could do about it.
    pub hint: Option<String>,
    /// The class of the command that was refused, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// What would let it happen, narrowly and inside the fence.
    #[serde(default, skip)]
    pub grants: Vec<NarrowGrant>,
}

impl Refusal {
    /// A refusal without a hint.
    pub fn new(code: RefusalCode, reason: impl Into<String>) -> Self {
        Self {
            code,
            reason: reason.into(),
            hint: None,
            class: None,
            grants: Vec::new(),
        }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hinting(mut self, hint: Option<&str>) -> Self {
        self.hint = hint.map(str::to_owned);
        self
    }

    /// The same with what would let it happen.
    #[must_use]
    pub fn unless(self, grants: Vec<NarrowGrant>) -> Self {
        Self { grants, ..self }
    }

    /// The same about a command of this class.
    #[must_use]
    pub fn of_class(self, class: Option<Class>) -> Self {
        Self { class, ..self }
    }
}

/// Who or what refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalCode {
    /// The class of the command is never run.
    Dangerous,
    /// A question would be needed, and nobody may be asked.
    ApprovalNotPossible,
    /// A rule denies it.
    DeniedByRule,
    /// Leaving the fence is switched off.
    EscalationNotAllowed,
    /// The sandbox policy writes nowhere.
    ReadOnly,
    /// The path is protected.
    ProtectedPath,
    /// The path may not even be read.
    DeniedRead,
    /// A person said no.
    DeniedByUser,
    /// A person stopped the whole turn.
    Aborted,
    /// Nobody answered in time.
    ApprovalTimedOut,
    /// An address that is not an ordinary one is reached only where a rule names it.
    AddressNotNamed,
}

impl RefusalCode {
    /// The name used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dangerous => "dangerous",
            Self::ApprovalNotPossible => "approval_not_possible",
            Self::DeniedByRule => "denied_by_rule",
            Self::EscalationNotAllowed => "escalation_not_allowed",
            Self::ReadOnly => "read_only",
            Self::ProtectedPath => "protected_path",
            Self::DeniedRead => "denied_read",
            Self::DeniedByUser => "denied_by_user",
            Self::Aborted => "aborted",
            Self::ApprovalTimedOut => "approval_timed_out",
            Self::AddressNotNamed => "address_not_named",
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{}; {hint}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}
