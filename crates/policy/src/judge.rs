//! May this happen? The verdict table, and what comes before it.
//!
//! For a command, in this order: what it asks of the fence, what it does (facts and class), what
//! the rules say, what the table says. Pure: everything it looks at is handed in.

mod connect;
mod files;
mod running;

use std::borrow::Cow;

use crate::action::{Action, FenceRequest, RunCommand};
use crate::advice::Advice;
use crate::classify::{self, Class, Classification};
use crate::ground::Ground;
use crate::leave;
use crate::permissions::{ApprovalPolicy, Limits, Network, SandboxMode, SandboxPolicy};
use crate::permit::{Basis, Confinement, Permit};
use crate::propose::propose;
use crate::remembered::understood;
use crate::rule::{Decision, Fence, Grant};
use crate::ruleset::{RuleDecision, RuleSet};
use crate::verdict::{Denial, DenialCode, Grounds, Judgement, Question, QuestionKind, Verdict};

/// Everything that a verdict depends on besides the action.
#[derive(Debug, Clone, Copy)]
pub struct Bench<'a> {
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
    pub remembered: &'a Remembered,
}

/// Whether a call may ask to leave the fence at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Escalation {
    /// It is refused without a question.
    Off,
    /// It becomes a question.
    Askable,
}

pub use crate::remembered::{ApprovalKey, Remembered};
pub(crate) use connect::in_words as connection_in_words;
pub use connect::{judge_address, protocol_of_tunnel};

/// Judges an action.
pub fn judge(action: Action, bench: &Bench<'_>) -> Judgement {
    judge_advised(action, bench, &Advice::default())
}

/// Judges an action about which others than the tables and the rules were heard.
pub fn judge_advised(action: Action, bench: &Bench<'_>, advice: &Advice) -> Judgement {
    advice.weigh(judge_by_rules(action, bench, advice), bench)
}

fn judge_by_rules(action: Action, bench: &Bench<'_>, advice: &Advice) -> Judgement {
    match action {
        Action::RunCommand(command) => {
            let ground = ground_of(&command, bench);
            let ground = ground.as_ref();
            judge_command(command, &Bench { ground, ..*bench }, advice)
        }
        Action::ApplyPatch(patch) => files::judge_patch(patch, bench),
        Action::SearchFiles(search) => files::judge_search(search, bench),
        Action::Connect(connect) => connect::judge(connect, bench),
        Action::RunScript(script) => running::judge_script(script, bench),
        Action::TypeInput(input) => running::judge_input(input, bench),
        Action::StopProcess(stop) => running::judge_stop(stop, bench),
    }
}

/// The ground that a command stands on: what is relative in it is so to its own folder.
fn ground_of<'b>(command: &RunCommand, bench: &Bench<'b>) -> Cow<'b, Ground> {
    if command.cwd == bench.ground.cwd {
        return Cow::Borrowed(bench.ground);
    }
    Cow::Owned(Ground {
        cwd: command.cwd.clone(),
        ..bench.ground.clone()
    })
}

/// Judges whether a command that the fence refused something may run again without it.
pub fn judge_retry(action: Action, denied: Vec<String>, bench: &Bench<'_>) -> Verdict {
    if let Action::RunCommand(command) = &action
        && !bench.rules.held(bench.ground, &command.tool).is_empty()
    {
        return deny(
            DenialCode::DeniedByRule,
            "a rule denies paths, which only the fence holds: nothing runs again outside"
                .to_owned(),
            Some("grant inside what it needs, or run it yourself"),
        );
    }
    let because = "the fence refused something that the command needs".to_owned();
    let kind = QuestionKind::RetryUnfenced { denied };
    let unfenced = Confinement::Unfenced {
        limits: bench.limits.clone(),
    };
    match bench.approval {
        ApprovalPolicy::OnFailure | ApprovalPolicy::UnlessTrusted => {
            let key = ApprovalKey::new(&kind, &action, &unfenced);
            let once = match &action {
                Action::RunCommand(command) => {
                    leave::only_once(&action, &ground_of(command, bench))
                }
                _ => None,
            };
            if once.is_none() && bench.remembered.contains(&key) {
                return Verdict::Allow(Permit::new(action, unfenced, Basis::Remembered));
            }
            let question = Question::new(kind, because, action, unfenced);
            Verdict::Ask(question.only_once(once))
        }
        ApprovalPolicy::Never | ApprovalPolicy::OnRequest => Verdict::Deny(Denial {
            code: DenialCode::ApprovalNotPossible,
            reason: because,
            hint: Some(format!("approval policy {} does not retry", bench.approval)),
        }),
    }
}

fn judge_command(command: RunCommand, bench: &Bench<'_>, advice: &Advice) -> Judgement {
    let facts = understood(&command);
    let mut found = classify::classify(&facts, bench.ground);
    if is_typed_into(&command) {
        found = classify::on_a_terminal(&facts, found);
    }
    let Classification { class, reasons } = found.advised(advice);
    let mut rule = bench.rules.decide(&facts, bench.ground, &command.tool);
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
    let mut verdict = decide(command, class, rule, bench, &mut grounds);
    // A rule would not lift what was found: it is not offered.
    if let Verdict::Ask(question) = &mut verdict
        && !runs(advice.worst(), bench)
    {
        question.withdraw_proposals();
    }
    Judgement { verdict, grounds }
}

/// Whether the table runs a command of a class.
pub(crate) fn runs(class: Class, bench: &Bench<'_>) -> bool {
    cell(class, bench.approval, bench.sandbox.mode) == Cell::Run
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
    bench: &Bench<'_>,
    grounds: &mut Grounds,
) -> Verdict {
    let (rule, granted) = match rule {
        Some(rule) if rule.decision == Decision::Deny => {
            grounds.because = in_words(&rule, "denies");
            return deny(DenialCode::DeniedByRule, grounds.because.clone(), None);
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
            DenialCode::Dangerous,
            what,
            Some("commands like this are never run"),
        );
    }
    let leaves = command.fence == FenceRequest::Leave && bench.sandbox.mode.is_fenced();
    if leaves
        && granted
            .as_ref()
            .is_none_or(|grant| grant.fence == Fence::Fenced)
    {
        return decide_leaving(command, bench, grounds);
    }
    let confinement = confinement(bench, granted.as_ref());
    match &rule {
        Some(rule) if granted.is_some() && class == Class::ReadOnly => {
            grounds.because = in_words(rule, "allows");
            let basis = Basis::Rule(rule.rule.source.to_string());
            return Verdict::Allow(Permit::new(Action::RunCommand(command), confinement, basis));
        }
        Some(rule) if rule.decision == Decision::Ask => {
            grounds.because = in_words(rule, "asks about");
            return match bench.approval {
                ApprovalPolicy::Never => deny(
                    DenialCode::ApprovalNotPossible,
                    format!("{}, and approval policy never asks nobody", grounds.because),
                    None,
                ),
                _ => ask(QuestionKind::Run, command, confinement, bench, grounds),
            };
        }
        _ => {}
    }
    match cell(class, bench.approval, bench.sandbox.mode) {
        Cell::Run => {
            grounds.because = format!("{what}, which approval policy {} runs", bench.approval);
            Verdict::Allow(Permit::new(
                Action::RunCommand(command),
                confinement,
                Basis::Policy,
            ))
        }
        Cell::Ask => {
            grounds.because = format!(
                "{what}, which approval policy {} asks about",
                bench.approval
            );
            ask(QuestionKind::Run, command, confinement, bench, grounds)
        }
        Cell::Deny => {
            grounds.because = format!("{what}, and approval policy {} asks nobody", bench.approval);
            deny(
                DenialCode::ApprovalNotPossible,
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

fn decide_leaving(command: RunCommand, bench: &Bench<'_>, grounds: &mut Grounds) -> Verdict {
    let (because, denied) = match (bench.escalation, bench.approval) {
        (Escalation::Off, _) => (
            "the call asks to leave the fence, which is switched off",
            Some(DenialCode::EscalationNotAllowed),
        ),
        (Escalation::Askable, ApprovalPolicy::Never) => (
            "the call asks to leave the fence, and approval policy never asks nobody",
            Some(DenialCode::ApprovalNotPossible),
        ),
        (Escalation::Askable, _) => ("the call asks to leave the fence", None),
    };
    because.clone_into(&mut grounds.because);
    if let Some(code) = denied {
        let hint = (code == DenialCode::EscalationNotAllowed)
            .then_some("`sandbox.allow_disable_sandbox = true` lets such calls ask");
        return deny(code, because.to_owned(), hint);
    }
    let unfenced = Confinement::Unfenced {
        limits: bench.limits.clone(),
    };
    ask(QuestionKind::LeaveFence, command, unfenced, bench, grounds)
}

/// A question, unless it was answered for the session already.
fn ask(
    kind: QuestionKind,
    command: RunCommand,
    confinement: Confinement,
    bench: &Bench<'_>,
    grounds: &Grounds,
) -> Verdict {
    let leaves =
        bench.sandbox.mode.is_fenced() && matches!(confinement, Confinement::Unfenced { .. });
    let action = Action::RunCommand(command);
    let once = leaves
        .then(|| leave::only_once(&action, bench.ground))
        .flatten();
    let remembered = bench
        .remembered
        .contains(&ApprovalKey::new(&kind, &action, &confinement));
    if once.is_none() && remembered {
        return Verdict::Allow(Permit::new(action, confinement, Basis::Remembered));
    }
    let grant = Grant {
        fence: match confinement {
            Confinement::Fenced { .. } => Fence::Fenced,
            Confinement::Unfenced { .. } => Fence::Unfenced,
        },
        ..Grant::default()
    };
    let proposals = match &grounds.facts {
        Some(facts) if once.is_none() => propose(facts, bench.ground, &grant),
        _ => Vec::new(),
    };
    let question = Question::new(kind, grounds.because.clone(), action, confinement);
    Verdict::Ask(question.proposing(proposals).only_once(once))
}

fn deny(code: DenialCode, reason: String, hint: Option<&str>) -> Verdict {
    Verdict::Deny(Denial {
        code,
        reason,
        hint: hint.map(str::to_owned),
    })
}

/// The bounds of what runs without leaving the fence, with what a rule adds to them.
fn confinement(bench: &Bench<'_>, granted: Option<&Grant>) -> Confinement {
    let limits = bench.limits.clone();
    let unfenced = granted.is_some_and(|grant| grant.fence == Fence::Unfenced);
    if unfenced || !bench.sandbox.mode.is_fenced() {
        return Confinement::Unfenced { limits };
    }
    let mut sandbox = bench.sandbox.clone();
    if let Some(grant) = granted.filter(|grant| !grant.writable.is_empty()) {
        sandbox.mode = SandboxMode::WorkspaceWrite;
        if bench.sandbox.mode == SandboxMode::ReadOnly {
            sandbox.writable_roots.clear();
        }
        sandbox
            .writable_roots
            .extend(grant.writable.iter().cloned());
    }
    if let Some(grant) = granted.filter(|grant| !grant.hosts.is_empty()) {
        sandbox.granted_hosts.extend(grant.hosts.iter().cloned());
        if sandbox.network == Network::Off {
            sandbox.network = Network::AllowList;
        }
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
