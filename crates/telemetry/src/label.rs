//! The words that labels have for what events tell.

use ringfence::audit::{Answer, Decision, Outcome};
use ringfence::{DenialKind, Ending};

pub(crate) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Failed => "failed",
        Outcome::Refused => "refused",
        Outcome::TimedOut => "timed_out",
        Outcome::Cancelled => "cancelled",
        Outcome::Abandoned => "abandoned",
    }
}

pub(crate) fn verdict(verdict: Decision) -> &'static str {
    match verdict {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

pub(crate) fn answer(answer: Option<Answer>) -> &'static str {
    match answer {
        Some(Answer::Approved) => "approved",
        Some(Answer::ApprovedForSession) => "approved_for_session",
        Some(Answer::ApprovedWithRule) => "approved_with_rule",
        Some(Answer::Denied) => "denied",
        Some(Answer::Aborted) => "aborted",
        Some(Answer::TimedOut) => "timed_out",
        None => "withdrawn",
    }
}

pub(crate) fn ending(ending: Option<Ending>) -> &'static str {
    match ending {
        Some(Ending::Exited) => "exited",
        Some(Ending::TimedOut) => "timed_out",
        Some(Ending::FellSilent) => "fell_silent",
        Some(Ending::Cancelled) => "cancelled",
        None => "lost",
    }
}

pub(crate) fn denial(kind: DenialKind) -> &'static str {
    match kind {
        DenialKind::Write => "write",
        DenialKind::Read => "read",
        DenialKind::Network => "network",
        DenialKind::Host => "host",
        DenialKind::Socket => "socket",
        DenialKind::SystemCall => "system_call",
        DenialKind::GitSetup => "git_setup",
    }
}
