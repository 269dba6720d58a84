//! From a person's answer to a permit or a refusal.

use serde::{Deserialize, Serialize};

use crate::action::{Action, Connect};
use crate::narrow_grant::NarrowGrant;
use crate::permit::{Basis, Permit};
use crate::propose::host_pattern;
use crate::verdict::{Question, Refusal, RefusalCode};

/// What a person decided about a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Yes, this once.
    Approved,
    /// Yes, and do not ask again in this session.
    ApprovedForSession,
    /// Yes, and this rule shall be kept (TOML, as it was proposed).
    ApprovedWithRule(String),
    /// Yes, with one of the things that are offered inside the fence, and no other.
    Granted {
        /// Which of them, from 0.
        grant: usize,
        /// For how long.
        holds: Holds,
    },
    /// Yes, once, outside the fence instead.
    Outside,
    /// No.
    Denied {
        /// A word for whoever asked.
        message: Option<String>,
    },
    /// There is nobody to ask, and why.
    NobodyToAsk(String),
    /// No, and stop altogether.
    Abort,
    /// Nobody answered in time.
    TimedOut,
}

/// For how long something is granted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// This once.
    #[default]
    Once,
    /// For the session.
    Session,
    /// As the narrowest rule that is proposed.
    Rule,
}

/// A question and its answer, with an answer about one of several grants turned into one about all of fewer. What was not offered
/// is a no.
pub fn narrow(question: Question, answer: Answer) -> (Question, Answer) {
    let no = |why: &str| Answer::Denied {
        message: Some(why.to_owned()),
    };
    let Answer::Granted { grant, holds } = answer else {
        return match answer {
            Answer::Outside if !question.offers_outside() => {
                (question, no("leaving the fence was not offered"))
            }
            answer => (question, answer),
        };
    };
    if grant >= question.grants().len() {
        return (question, no("there is no such grant"));
    }
    let Some(question) = question.narrowed(grant) else {
        unreachable!("there is one");
    };
    let answer = match holds {
        Holds::Once => Answer::Approved,
        Holds::Session if question.holds_once().is_some() => Answer::Approved,
        Holds::Session => Answer::ApprovedForSession,
        Holds::Rule => match question.proposals().first() {
            Some(proposal) => Answer::ApprovedWithRule(proposal.to_toml()),
            None => no("no rule was offered for it"),
        },
    };
    (question, answer)
}

/// Turns an answer into a permit, or into the refusal that it is.
pub fn settle(question: Question, answer: &Answer) -> Result<Permit, Refusal> {
    let grants = match question.action() {
        Action::Connect(connect) => vec![host_of(connect)],
        Action::SendHttp(request) => vec![host_of(&request.connection())],
        _ => question.grants().to_vec(),
    };
    let refuse = |code, reason: String, hint: Option<&str>| {
        Err(Refusal::new(code, reason)
            .hinting(hint)
            .unless(grants.clone()))
    };
    let asked = format!("it was asked about because {}", question.because());
    match answer {
        Answer::Approved | Answer::ApprovedForSession | Answer::ApprovedWithRule(_) => {
            let (action, confinement) = question.into_parts();
            Ok(Permit::new(action, confinement, Basis::Approval))
        }
        Answer::Outside => match question.into_outside() {
            Some((action, outside)) => Ok(Permit::new(action, outside, Basis::Approval)),
            None => refuse(
                RefusalCode::EscalationNotAllowed,
                "leaving the fence was not offered".to_owned(),
                None,
            ),
        },
        Answer::Granted { .. } => match narrow(question, answer.clone()) {
            (question, Answer::Denied { message }) => settle(question, &Answer::Denied { message }),
            (question, _) => settle(question, &Answer::Approved),
        },
        Answer::Denied { message } => refuse(
            RefusalCode::DeniedByUser,
            match message {
                Some(message) => format!("the user said no: {message}"),
                None => "the user said no".to_owned(),
            },
            Some(&asked),
        ),
        Answer::NobodyToAsk(why) => refuse(
            RefusalCode::ApprovalNotPossible,
            format!("nobody can be asked: {why}; {asked}"),
            Some("approve with --approve all, or allow it by a rule"),
        ),
        Answer::Abort => refuse(
            RefusalCode::Aborted,
            "the user stopped the turn".to_owned(),
            None,
        ),
        Answer::TimedOut => refuse(
            RefusalCode::ApprovalTimedOut,
            format!("nobody answered the question in time; {asked}"),
            Some("`approval.timeout_ms` sets how long a question waits"),
        ),
    }
}

/// The host of a connection, as what would be granted.
fn host_of(connect: &Connect) -> NarrowGrant {
    NarrowGrant::Host {
        host: host_pattern(connect),
    }
}
