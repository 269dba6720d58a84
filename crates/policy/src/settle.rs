//! From a person's answer to a permit or a refusal.

use serde::{Deserialize, Serialize};

use crate::permit::{Basis, Permit};
use crate::verdict::{Denial, DenialCode, Question};

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

/// Turns an answer into a permit, or into the refusal that it is.
pub fn settle(question: Question, answer: &Answer) -> Result<Permit, Denial> {
    let refuse = |code, reason: String, hint: Option<&str>| {
        Err(Denial {
            code,
            reason,
            hint: hint.map(str::to_owned),
        })
    };
    match answer {
        Answer::Approved | Answer::ApprovedForSession | Answer::ApprovedWithRule(_) => {
            let (action, confinement) = question.into_parts();
            Ok(Permit::new(action, confinement, Basis::Approval))
        }
        Answer::Denied { message } => refuse(
            DenialCode::DeniedByUser,
            match message {
                Some(message) => format!("the user said no: {message}"),
                None => "the user said no".to_owned(),
            },
            None,
        ),
        Answer::NobodyToAsk(why) => refuse(
            DenialCode::ApprovalNotPossible,
            format!("nobody can be asked: {why}"),
            Some("approve with --approve all, or allow it by a rule"),
        ),
        Answer::Abort => refuse(
            DenialCode::Aborted,
            "the user stopped the turn".to_owned(),
            None,
        ),
        Answer::TimedOut => refuse(
            DenialCode::ApprovalTimedOut,
            "nobody answered the question in time".to_owned(),
            Some("`approval.timeout_ms` sets how long a question waits"),
        ),
    }
}
