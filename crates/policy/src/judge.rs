//! May this happen? The verdict table, and what comes before it.
//!
//! For a command, in this order: what it asks of the fence, what it does (facts and class), what
//! the rules say, what the table says. Pure: everything it looks at is handed in.

mod connect;
mod files;
mod offered;
mod retry;
mod running;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::action::{Action, FenceRequest, RunCommand};
use crate::advice::Advice;
use crate::classify::{self, Class, Classification};
use crate::ground::Ground;
use crate::leave;
use crate::permissions::{ApprovalPolicy, Limits, SandboxMode, SandboxPolicy};
use crate::permit::{Basis, Confinement, Permit};
use crate::propose::propose;
use crate::rule::{Access, Decision, Fence, Grant};
use crate::ruleset::{RuleDecision, RuleSet};
use crate::session_approvals::understood;
use crate::verdict::{Grounds, Judgement, Question, QuestionKind, Refusal, RefusalCode, Verdict};

/// Everything that a verdict depends on besides the action.
#[derive(Debug, Clone, Copy)]
pub struct Premises<'a> {
    /// Facts about the machine.
    pub ground: &'a Ground,
    /// How far commands reach.
    pub sandbox: &'a SandboxPolicy,
    /// How much they use.
    pub limits: &'a Limits,
    /// When a person is asked.
    pub approval: ApprovalPolicy,
    /// Whether a command may ask to leave the fence.
    pub escalation: Escalation,
    /// The rules, of all layers.
    pub rules: &'a RuleSet,
    /// What was approved for the session.
    pub approvals: &'a SessionApprovals,
}

/// Whether a call may ask to leave the fence at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Escalation {
    /// It is refused without a question.
    Off,
    /// It becomes a question.
    Askable,
}

pub use crate::session_approvals::{ApprovalKey, SessionApprovals};
pub(crate) use connect::in_words as connection_in_words;
pub use connect::{how_to_allow, judge_address, protocol_of_tunnel};
pub use offered::offered;
pub use retry::{Denied, judge_retry};

/// Judges an action.
pub fn judge(action: Action, premises: &Premises<'_>) -> Judgement {
    judge_advised(action, premises, &Advice::default())
}

/// Judges an action about which others than the tables and the rules were heard.
pub fn judge_advised(action: Action, premises: &Premises<'_>, advice: &Advice) -> Judgement {
    advice.weigh(judge_by_rules(action, premises, advice), premises)
}

fn judge_by_rules(action: Action, premises: &Premises<'_>, advice: &Advice) -> Judgement {
    match action {
        Action::RunCommand(command) => {
            let ground = ground_of(&command, premises);
            let ground = ground.as_ref();
            judge_command(
                command,
                &Premises {
                    ground,
                    ..*premises
                },
                advice,
            )
        }
        Action::ApplyPatch(patch) => files::judge_patch(patch, premises),
        Action::SearchFiles(search) => files::judge_search(search, premises),
        Action::Connect(connect) => connect::judge(connect, premises),
        Action::SendHttp(request) => connect::judge_request(request, premises),
        Action::RunScript(script) => running::judge_script(script, premises),
        Action::TypeInput(input) => running::judge_input(input, premises),
        Action::StopProcess(stop) => running::judge_stop(stop, premises),
    }
}

/// The ground that a command stands on: what is relative in it is so to its own folder.
fn ground_of<'b>(command: &RunCommand, premises: &Premises<'b>) -> Cow<'b, Ground> {
    if command.cwd == premises.ground.cwd {
        return Cow::Borrowed(premises.ground);
    }
    Cow::Owned(Ground {
        cwd: command.cwd.clone(),
        ..premises.ground.clone()
    })
}

fn judge_command(command: RunCommand, premises: &Premises<'_>, advice: &Advice) -> Judgement {
    let facts = understood(&command);
    let mut found = classify::classify(&facts, premises.ground);
    if is_typed_into(&command) {
        found = classify::on_a_terminal(&facts, found);
    }
    let Classification { class, reasons } = found.advised(advice);
    let mut rule = premises
        .rules
        .decide(&facts, premises.ground, &command.tool);
    if let Some(rule) = &mut rule
        && advice.worst() > rule.rest
    {
        // What leaves the fence is what nobody has anything against.
        rule.rest = advice.worst();
        rule.grant.fence = Fence::Fenced;
    }
    let mut grounds = Grounds {
        class: Some(class),
        reasons,
        facts: Some(facts),
        rule: rule.as_ref().map(|rule| rule.rule.source.to_string()),
        because: String::new(),
        script: None,
    };
    let mut verdict = decide(command, class, rule, premises, &mut grounds);
    // A rule would not lift what was found: it is not offered.
    if let Verdict::Ask(question) = &mut verdict
        && !runs(advice.worst(), premises)
    {
        question.withdraw_proposals();
    }
    Judgement { verdict, grounds }
}

/// Whether the table runs a command of a class.
pub(crate) fn runs(class: Class, premises: &Premises<'_>) -> bool {
    cell(class, premises.approval, premises.sandbox.mode) == Cell::Run
}

/// Whether a model types into the command: on a pipe `TERM` says that there is no terminal.
fn is_typed_into(command: &RunCommand) -> bool {
    let term = command.environment.get("TERM");
    command.tool == "exec_command" && term.is_some_and(|term| term != "dumb")
}

/// The table's answer for a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Run,
    Ask,
    Deny,
}

/// The verdict table for a command that no rule decides.
#[allow(clippy::match_same_arms, reason = "a line per row of the table")]
fn cell(class: Class, approval: ApprovalPolicy, mode: SandboxMode) -> Cell {
    use ApprovalPolicy::{Never, OnFailure, OnRequest, UnlessTrusted};
    match (class, approval) {
        (Class::ReadOnly, _) => Cell::Run,
        (Class::Safe, UnlessTrusted) => Cell::Ask,
        (Class::Safe, _) => Cell::Run,
        (Class::Unknown, Never | OnFailure) => Cell::Run,
        // Without a fence of ours there is nothing that an early question would protect.
        (Class::Unknown, OnRequest) if !mode.is_fenced() => Cell::Run,
        (Class::Unknown, OnRequest | UnlessTrusted) => Cell::Ask,
        (Class::Suspicious, Never) => Cell::Deny,
        (Class::Suspicious, _) => Cell::Ask,
        (Class::Dangerous, _) => Cell::Deny,
    }
}

fn decide(
    command: RunCommand,
    class: Class,
    rule: Option<RuleDecision>,
    premises: &Premises<'_>,
    grounds: &mut Grounds,
) -> Verdict {
    let (rule, granted) = match rule {
        Some(rule) if rule.decision == Decision::Deny => {
            grounds.because = in_words(&rule, "denies");
            return deny(RefusalCode::DeniedByRule, grounds.because.clone(), None);
        }
        Some(rule) if rule.decision == Decision::Allow => {
            let grant = rule.grant.clone();
            (Some(rule), Some(grant))
        }
        other => (other, None),
    };
    // What a rule allows is not judged by its class again; what it leaves over is.
    let class = match (&rule, &granted) {
        (Some(rule), Some(_)) => rule.rest,
        _ => class,
    };
    let what = class_in_words(class, grounds);
    if class == Class::Dangerous {
        grounds.because.clone_from(&what);
        return deny(
            RefusalCode::Dangerous,
            what,
            Some("commands like this are never run"),
        );
    }
    let leaves = command.fence == FenceRequest::Leave && premises.sandbox.mode.is_fenced();
    if leaves
        && granted
            .as_ref()
            .is_none_or(|grant| grant.fence == Fence::Fenced)
    {
        return decide_leaving(command, premises, grounds);
    }
    let asked_about = confinement(premises, granted.as_ref());
    let confinement = premises.approvals.widened(&command, asked_about.clone());
    match &rule {
        Some(rule) if granted.is_some() && class == Class::ReadOnly => {
            grounds.because = in_words(rule, "allows");
            let basis = Basis::Rule(rule.rule.source.to_string());
            return Verdict::Allow(Permit::new(Action::RunCommand(command), confinement, basis));
        }
        Some(rule) if rule.decision == Decision::Ask => {
            grounds.because = in_words(rule, "asks about");
            return match premises.approval {
                ApprovalPolicy::Never => deny(
                    RefusalCode::ApprovalNotPossible,
                    format!("{}, and approval policy never asks nobody", grounds.because),
                    None,
                ),
                _ => ask(QuestionKind::Run, command, asked_about, premises, grounds),
            };
        }
        _ => {}
    }
    match cell(class, premises.approval, premises.sandbox.mode) {
        Cell::Run => {
            grounds.because = format!("{what}, which approval policy {} runs", premises.approval);
            Verdict::Allow(Permit::new(
                Action::RunCommand(command),
                confinement,
                Basis::Policy,
            ))
        }
        Cell::Ask => {
            grounds.because = format!(
                "{what}, which approval policy {} asks about",
                premises.approval
            );
            ask(QuestionKind::Run, command, asked_about, premises, grounds)
        }
        Cell::Deny => {
            grounds.because = format!(
                "{what}, and approval policy {} asks nobody",
                premises.approval
            );
            deny(
                RefusalCode::ApprovalNotPossible,
                grounds.because.clone(),
                Some("allow it by a rule, or use an approval policy that asks"),
            )
        }
    }
}

fn in_words(rule: &RuleDecision, does: &str) -> String {
    let because = match &rule.rule.reason {
        Some(reason) => format!(": {reason}"),
        None => String::new(),
    };
    format!(
        "the rule at {} {does} `{}`{because}",
        rule.rule.source, rule.part
    )
}

fn decide_leaving(command: RunCommand, premises: &Premises<'_>, grounds: &mut Grounds) -> Verdict {
    let (because, denied) = match (premises.escalation, premises.approval) {
        (Escalation::Off, _) => (
            "the call asks to leave the fence, which is switched off",
            Some(RefusalCode::EscalationNotAllowed),
        ),
        (Escalation::Askable, ApprovalPolicy::Never) => (
            "the call asks to leave the fence, and approval policy never asks nobody",
            Some(RefusalCode::ApprovalNotPossible),
        ),
        (Escalation::Askable, _) => ("the call asks to leave the fence", None),
    };
    because.clone_into(&mut grounds.because);
    if let Some(code) = denied {
        let hint = (code == RefusalCode::EscalationNotAllowed)
            .then_some("`sandbox.allow_disable_sandbox = true` lets such calls ask");
        return deny(code, because.to_owned(), hint);
    }
    let unfenced = Confinement::Unfenced {
        limits: premises.limits.clone(),
    };
    ask(
        QuestionKind::LeaveFence,
        command,
        unfenced,
        premises,
        grounds,
    )
}

/// A question, unless it was answered for the session already.
fn ask(
    kind: QuestionKind,
    command: RunCommand,
    confinement: Confinement,
    premises: &Premises<'_>,
    grounds: &Grounds,
) -> Verdict {
    let leaves =
        premises.sandbox.mode.is_fenced() && matches!(confinement, Confinement::Unfenced { .. });
    let action = Action::RunCommand(command);
    let once = leaves
        .then(|| leave::only_once(&action, premises.ground))
        .flatten();
    let approved = premises
        .approvals
        .contains(&ApprovalKey::new(&kind, &action, &confinement));
    let confinement = match &action {
        Action::RunCommand(command) => premises.approvals.widened(command, confinement),
        _ => confinement,
    };
    if once.is_none() && approved {
        return Verdict::Allow(Permit::new(action, confinement, Basis::SessionApproval));
    }
    let grant = Grant {
        fence: match confinement {
            Confinement::Fenced { .. } => Fence::Fenced,
            Confinement::Unfenced { .. } => Fence::Unfenced,
        },
        ..Grant::default()
    };
    let proposals = match &grounds.facts {
        Some(facts) if once.is_none() => propose(facts, premises.ground, &grant),
        _ => Vec::new(),
    };
    let question = Question::new(kind, grounds.because.clone(), action, confinement);
    Verdict::Ask(question.proposing(proposals).only_once(once))
}

fn deny(code: RefusalCode, reason: String, hint: Option<&str>) -> Verdict {
    Verdict::Refuse(Refusal {
        code,
        reason,
        hint: hint.map(str::to_owned),
        class: None,
        grants: Vec::new(),
    })
}

/// The bounds of what runs without leaving the fence, with what a rule adds to them.
fn confinement(premises: &Premises<'_>, granted: Option<&Grant>) -> Confinement {
    let limits = premises.limits.clone();
    let unfenced = granted.is_some_and(|grant| grant.fence == Fence::Unfenced);
    if unfenced || !premises.sandbox.mode.is_fenced() {
        return Confinement::Unfenced { limits };
    }
    let mut sandbox = premises.sandbox.clone();
    if let Some(grant) = granted {
        let mut grant = grant.below_home(premises.ground);
        // What a rule denies stays so whatever another grants.
        let access = Access::Read;
        let rule = |path: &Path| {
            premises
                .rules
                .decide_path(path, access, premises.ground, "")
        };
        let is_denied = |path: &PathBuf| rule(path).is_some_and(|it| it.decision == Decision::Deny);
        grant.readable.retain(|path| !is_denied(path));
        grant.widen(&mut sandbox);
    }
    Confinement::Fenced { sandbox, limits }
}

fn class_in_words(class: Class, grounds: &Grounds) -> String {
    let name = match class {
        Class::ReadOnly => "it only reads",
        Class::Safe => "it is a safe command",
        Class::Unknown => "what it does is not certain",
        Class::Suspicious => "it is suspicious",
        Class::Dangerous => "it is dangerous",
    };
    match grounds.reasons.first() {
        // A rule may have taken care of the weightiest: then it is not what is left to decide.
        Some(reason) if class >= Class::Unknown && reason.class == class => {
            format!("{name} (`{}`: {})", reason.part, reason.why)
        }
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
