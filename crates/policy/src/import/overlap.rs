//! Where the original lets the stricter rule win and we would let the more specific one.

use super::{Draft, Outcome};
use crate::rule::{Decision, Rule, Selector, TextPattern};

/// Drops every allowance that would here overtake a question of the original.
pub(super) fn drop_overtaking(draft: &mut Draft) {
    let mut dropped = Vec::new();
    for (index, drafted) in draft.rules.iter().enumerate() {
        let allow = &drafted.rule;
        if allow.decision != Decision::Allow {
            continue;
        }
        let overtaken = draft.rules.iter().find(|other| {
            other.rule.decision == Decision::Ask
                && other.rank >= drafted.rank
                && other.rule.specificity() < allow.specificity()
                && may_overlap(&other.rule, allow)
        });
        if let Some(other) = overtaken {
            dropped.push((index, draft.report[other.item].original.clone()));
        }
    }
    for (index, asking) in dropped.into_iter().rev() {
        let drafted = draft.rules.remove(index);
        let why = format!("`{asking}` asks about some of it, and asking wins in the original");
        draft.report[drafted.item].outcome = Outcome::Dropped(why);
    }
}

/// Whether two rules may be about the same thing; yes if in doubt.
fn may_overlap(ask: &Rule, allow: &Rule) -> bool {
    match (&ask.selector, &allow.selector) {
        (Selector::Prefix(a), Selector::Prefix(b)) => a.words.iter().zip(&b.words).all(|(x, y)| {
            x.alternatives
                .iter()
                .any(|word| y.alternatives.contains(word))
        }),
        (Selector::Text(a), Selector::Prefix(b)) => {
            first_of(a).is_none_or(|word| b.words[0].alternatives.iter().any(|w| w == word))
        }
        (Selector::Prefix(a), Selector::Text(b)) => {
            first_of(b).is_none_or(|word| a.words[0].alternatives.iter().any(|w| w == word))
        }
        (Selector::Text(a), Selector::Text(b)) => match (first_of(a), first_of(b)) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        },
        (Selector::Path(a), Selector::Path(b)) => a.access_includes(b.access),
        (Selector::Host(_), Selector::Host(_)) => true,
        (Selector::Tool, _) => {
            allow.tools.is_empty() || ask.tools.iter().any(|tool| allow.concerns(tool))
        }
        _ => false,
    }
}

fn first_of(pattern: &TextPattern) -> Option<&str> {
    match pattern {
        TextPattern::Glob(text) => {
            let first = text.split(' ').next()?;
            (!first.contains(['*', '?'])).then_some(first)
        }
        TextPattern::Regex { .. } => None,
    }
}
