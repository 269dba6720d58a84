//! Rules that would have spared questions, and what else they would have let through.
//!
//! Only what was approved every time becomes a rule, only inside the fence, and never one that
//! covers something that a person said no to or that was refused.

use std::collections::{BTreeMap, BTreeSet};

use ringfence_policy::classify::Class;
use ringfence_policy::facts::Facts;
use ringfence_policy::propose::{Proposal, propose};
use ringfence_policy::rule::{Decision, Grant, Rule};
use ringfence_policy::ruleset::RuleSet;
use serde::Serialize;

use super::{Decided, History, PastCall};

/// As many commands are listed with a suggestion.
const LISTED: usize = 20;

/// A rule, and what it would have meant in the period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The rule in one line.
    pub summary: String,
    /// The rule as it would stand in a rules file.
    pub rule: String,
    /// How many questions it would have spared.
    pub spares: u64,
    /// The commands that those were about.
    pub commands: Vec<String>,
    /// What else it would have let through without a question: commands that ran unasked anyway.
    pub also: Vec<String>,
}

/// A command with what it would do.
struct Replayed<'h> {
    call: &'h PastCall,
    facts: Facts,
}

/// Rules that would have spared questions, the most first. What the rules that there are allow
/// already needs none.
pub fn suggest(history: &History, rules: &RuleSet) -> Vec<Suggestion> {
    let replayed: Vec<Replayed<'_>> = history
        .calls
        .iter()
        .filter_map(|call| {
            let facts = call.facts()?;
            Some(Replayed { call, facts })
        })
        .collect();
    // Commands that the same broad rule would cover belong together; the narrowest rule that
    // covers all of them is the one to have.
    let mut groups: BTreeMap<String, Vec<Proposal>> = BTreeMap::new();
    for past in replayed.iter().filter(|past| past.is_open(rules)) {
        let proposals = propose(&past.facts, &past.call.ground, &Grant::default());
        if let Some(broadest) = proposals.last() {
            groups
                .entry(broadest.to_toml())
                .or_default()
                .extend(proposals);
        }
    }
    let mut found: Vec<Suggestion> = groups
        .into_values()
        .filter_map(|proposals| best(proposals, &replayed, rules))
        .collect();
    found.sort_by(|a, b| b.spares.cmp(&a.spares).then_with(|| a.rule.cmp(&b.rule)));
    let mut seen = BTreeSet::new();
    found.retain(|suggestion| seen.insert(suggestion.rule.clone()));
    found
}

/// The proposal that spares most, and of those that spare the same the narrowest.
fn best(
    proposals: Vec<Proposal>,
    replayed: &[Replayed<'_>],
    rules: &RuleSet,
) -> Option<Suggestion> {
    let mut best: Option<(u64, usize, Suggestion)> = None;
    for proposal in proposals {
        let Some(suggestion) = replay(&proposal, replayed, rules) else {
            continue;
        };
        let width: usize = proposal.rules.iter().map(Rule::specificity).sum();
        let better = best
            .as_ref()
            .is_none_or(|(spares, narrow, _)| (suggestion.spares, width) > (*spares, *narrow));
        if suggestion.spares > 0 && better {
            best = Some((suggestion.spares, width, suggestion));
        }
    }
    best.map(|(_, _, suggestion)| suggestion)
}

/// What a proposal would have meant; nothing if it covers what it should not.
fn replay(proposal: &Proposal, replayed: &[Replayed<'_>], rules: &RuleSet) -> Option<Suggestion> {
    let set = RuleSet::of(proposal.rules.clone());
    let (mut spares, mut commands, mut also) = (0, BTreeSet::new(), BTreeSet::new());
    for past in replayed.iter().filter(|past| past.is_allowed_by(&set)) {
        match past.call.decided {
            Decided::Declined | Decided::Refused => return None,
            Decided::Approved if past.is_open(rules) => {
                spares += 1;
                commands.insert(past.call.text());
            }
            Decided::Approved | Decided::Unasked => {
                also.insert(past.call.text());
            }
        }
    }
    also.retain(|text| !commands.contains(text));
    Some(Suggestion {
        summary: proposal.summary(),
        rule: proposal.to_toml(),
        spares,
        commands: commands.into_iter().take(LISTED).collect(),
        also: also.into_iter().take(LISTED).collect(),
    })
}

impl Replayed<'_> {
    /// Whether it is a question that a rule inside the fence could spare, and none does yet.
    fn is_open(&self, rules: &RuleSet) -> bool {
        self.call.decided == Decided::Approved && !self.call.outside && !self.is_allowed_by(rules)
    }

    /// Whether rules allow all of it.
    fn is_allowed_by(&self, rules: &RuleSet) -> bool {
        let decided = rules.decide(&self.facts, &self.call.ground, &self.call.intent.tool);
        decided
            .is_some_and(|found| found.decision == Decision::Allow && found.rest == Class::ReadOnly)
    }
}
