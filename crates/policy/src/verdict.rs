//! What comes out of judging: a permit, a question for a person, or a refusal, and the grounds.

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::classify::{Class, Reason};
use crate::facts::Facts;
use crate::permit::{Confinement, Permit};
use crate::propose::Proposal;

/// The outcome of judging an action.
#[derive(Debug)]
pub enum Verdict {
    /// It may happen.
    Allow(Permit),
    /// Somebody has to be asked.
    Ask(Question),
    /// It may not happen.
    Deny(Denial),
}

impl Verdict {
    /// The name used on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Allow(_) => "allow",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
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
    /// The fence refused something; may the command run again without it?
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
        }
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
pub struct Denial {
    /// A stable name for programs to look at.
    pub code: DenialCode,
    /// What was refused and why.
    pub reason: String,
    /// What one could do about it.
    pub hint: Option<String>,
}

/// Who or what refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialCode {
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

impl DenialCode {
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

impl std::fmt::Display for Denial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{}; {hint}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}
