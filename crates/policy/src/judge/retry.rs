//! May a command that the fence refused something run again: inside with exactly that, or outside?

use super::offered::offered;
use super::{ApprovalKey, Premises, confinement, deny, ground_of};
use crate::action::{Action, RunCommand};
use crate::facts::Facts;
use crate::ground::Ground;
use crate::leave;
use crate::narrow_grant::NarrowGrant;
use crate::permissions::ApprovalPolicy;
use crate::permit::{Basis, Confinement, Permit};
use crate::propose::{Proposal, propose};
use crate::rule::{Decision, Grant, Rule, Selector};
use crate::ruleset::RuleSet;
use crate::session_approvals::understood;
use crate::verdict::{Question, QuestionKind, Refusal, RefusalCode, Verdict};

/// What the fence refused a command, in words, and what would have allowed it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Denied {
    /// In words.
    pub lines: Vec<String>,
    /// What would allow it inside. What has no place here, nothing inside allows.
    pub grants: Vec<NarrowGrant>,
    /// Whether leaving the fence would help where nothing inside does.
    pub needs_outside: bool,
}

/// Judges whether a command that the fence refused something may run again.
pub fn judge_retry(action: Action, denied: Denied, premises: &Premises<'_>) -> Verdict {
    let Action::RunCommand(command) = action else {
        return deny(
            RefusalCode::ApprovalNotPossible,
            "only commands run again".to_owned(),
            None,
        );
    };
    let grants = offered(&denied.grants, &command, premises);
    let because = "the fence refused something that the command needs".to_owned();
    if matches!(
        premises.approval,
        ApprovalPolicy::Never | ApprovalPolicy::OnRequest
    ) {
        let hint = format!("approval policy {} does not retry", premises.approval);
        let refusal = Refusal::new(RefusalCode::ApprovalNotPossible, because);
        return Verdict::Refuse(refusal.hinting(Some(&hint)).unless(grants));
    }
    let by_rule = premises.rules.denied_paths(premises.ground, &command.tool);
    let outside = by_rule.is_empty().then(|| Confinement::Unfenced {
        limits: premises.limits.clone(),
    });
    match outside {
        outside if !grants.is_empty() => inside(command, denied.lines, grants, outside, premises),
        Some(unfenced) if denied.needs_outside => {
            alone_outside(command, denied.lines, because, unfenced, premises)
        }
        Some(_) => deny(
            RefusalCode::ApprovalNotPossible,
            "nothing that can be granted would let it through".to_owned(),
            None,
        ),
        None => deny(
            RefusalCode::DeniedByRule,
            "a rule denies paths, which only the fence holds: nothing runs again outside"
                .to_owned(),
            Some("grant inside what it needs, or run it yourself"),
        ),
    }
}

/// Offers to run it again inside, with what was refused; leaving the fence is the last offer.
fn inside(
    command: RunCommand,
    denied: Vec<String>,
    grants: Vec<NarrowGrant>,
    outside: Option<Confinement>,
    premises: &Premises<'_>,
) -> Verdict {
    let ground = ground_of(&command, premises).into_owned();
    let facts = understood(&command);
    let rule = premises.rules.decide(&facts, &ground, &command.tool);
    let rule = rule.filter(|rule| rule.decision == Decision::Allow);
    // What it had the first time it has again.
    let bounds = confinement(premises, rule.as_ref().map(|rule| &rule.grant));
    let bounds = premises.approvals.widened(&command, bounds);
    let because = "the fence refused something that the command needs".to_owned();
    let tool = &command.tool.clone();
    let action = Action::RunCommand(command);
    let grave = grants.iter().any(NarrowGrant::is_grave);
    let once = grave.then(|| leave::only_once(&action, &ground)).flatten();
    let proposals = match NarrowGrant::all_in_a_rule(&grants) {
        Some(mut grant) if once.is_none() => {
            // The new rule takes the place of the one that it had something from.
            if let Some(rule) = &rule {
                grant.add(&rule.grant);
            }
            let mut proposals = propose(&facts, &ground, &grant);
            proposals.retain(|it| would_help(it, &grant, &facts, &ground, tool, premises));
            narrow_ones(proposals)
        }
        _ => Vec::new(),
    };
    let kind = QuestionKind::RetryGranted { denied };
    let question = Question::new(kind, because, action, bounds)
        .proposing(proposals)
        .granting(grants)
        .or_outside(outside)
        .only_once(once);
    Verdict::Ask(question)
}

/// Whether a command would have what it needs if the rules of a proposal were kept. One that would not help is not offered.
fn would_help(
    proposal: &Proposal,
    needed: &Grant,
    facts: &Facts,
    ground: &Ground,
    tool: &str,
    premises: &Premises<'_>,
) -> bool {
    let mut rules = premises.rules.clone();
    rules.extend(RuleSet::of(proposal.rules.clone()));
    let decided = rules.decide(facts, ground, tool);
    decided.is_some_and(|decided| {
        let mut common = needed.clone();
        common.keep_common(&decided.grant);
        decided.decision == Decision::Allow && common == *needed
    })
}

/// Proposals that do not give every use of a program what one needed, where there are others.
fn narrow_ones(proposals: Vec<Proposal>) -> Vec<Proposal> {
    let of_any_use =
        |rule: &Rule| matches!(&rule.selector, Selector::Prefix(prefix) if prefix.words.len() == 1);
    let (wide, narrow): (Vec<_>, Vec<_>) = proposals
        .into_iter()
        .partition(|proposal| proposal.rules.iter().any(of_any_use));
    if narrow.is_empty() { wide } else { narrow }
}

/// Offers to leave the fence where nothing inside would do.
fn alone_outside(
    command: RunCommand,
    denied: Vec<String>,
    because: String,
    unfenced: Confinement,
    premises: &Premises<'_>,
) -> Verdict {
    let ground = ground_of(&command, premises).into_owned();
    let action = Action::RunCommand(command);
    let kind = QuestionKind::RetryUnfenced { denied };
    let key = ApprovalKey::new(&kind, &action, &unfenced);
    let once = leave::only_once(&action, &ground);
    if once.is_none() && premises.approvals.contains(&key) {
        return Verdict::Allow(Permit::new(action, unfenced, Basis::SessionApproval));
    }
    Verdict::Ask(Question::new(kind, because, action, unfenced).only_once(once))
}
