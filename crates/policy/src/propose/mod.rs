//! Proposing rules after an approval, and the canonical text that approvals are remembered by.
//!
//! A proposal generalises as a person would: `npm test`, not the exact string; never a bare
//! interpreter, a bare wrapper or a bare `git`. At most three are made, from narrow to broad.

mod canonical;
mod width;

pub(crate) use canonical::quoted;
pub use canonical::{canonical, canonical_command};

use crate::{
    action::Connect,
    classify::{self, Class},
    facts::{Facts, SimpleCommand},
    ground::Ground,
    host::Protocol,
    rule::{
        Access, Decision, Grant, HostPattern, Hosts, Layer, PathPattern, Prefix, Rule, Selector,
        Source, TextPattern,
    },
};
use width::widths;

/// How many proposals are made at most.
pub const MAX_PROPOSALS: usize = 3;

/// Rules that would let a command run without a question next time.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The rules; a compound command needs one per part.
    pub rules: Vec<Rule>,
}

impl Proposal {
    /// The rules as they would stand in a rules file.
    pub fn to_toml(&self) -> String {
        self.rules
            .iter()
            .map(Rule::to_toml)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The proposal in one line, for a person.
    pub fn summary(&self) -> String {
        let parts = self.rules.iter().map(|rule| match &rule.selector {
            Selector::Prefix(prefix) => format!("commands that begin with `{prefix}`"),
            Selector::Text(TextPattern::Glob(text)) => format!("`{text}`"),
            _ => rule.subject(),
        });
        let mut line = format!("allow {}", parts.collect::<Vec<_>>().join(", and "));
        if self
            .rules
            .iter()
            .any(|rule| rule.grant.fence == crate::rule::Fence::Unfenced)
        {
            line.push_str(", outside the fence");
        }
        line
    }

    fn key(&self) -> Vec<String> {
        self.rules.iter().map(Rule::subject).collect()
    }
}

/// The rule to offer for a connection that was asked about. It names the host and no more: how far
/// up its name one owner reaches cannot be told from the name.
pub(crate) fn propose_host(connect: &Connect) -> Proposal {
    let own_port = !matches!(connect.port, 80 | 443);
    let pattern = HostPattern {
        host: Hosts::One(connect.host.clone()),
        ports: own_port.then_some(connect.port).into_iter().collect(),
        protocols: match connect.protocol {
            Protocol::Tcp => vec![Protocol::Tcp],
            Protocol::Http | Protocol::Https => Vec::new(),
        },
    };
    Proposal {
        rules: vec![allowing(Selector::Host(pattern), &Grant::default())],
    }
}

/// Rules to offer for a command that was asked about, from narrow to broad; none if no rule should
/// be made from it.
pub fn propose(facts: &Facts, ground: &Ground, grant: &Grant) -> Vec<Proposal> {
    if classify::class_of_the_rest(facts, ground) > Class::Safe {
        return Vec::new();
    }
    if grant.fence == crate::rule::Fence::Unfenced {
        return exactly(facts, ground, grant).into_iter().collect();
    }
    let parts = parts_to_allow(facts, ground);
    let Some(paths) = path_rules(facts, ground) else {
        return Vec::new();
    };
    if parts.is_empty() && paths.is_empty() {
        return Vec::new();
    }
    let mut widths_of_parts: Vec<Vec<Prefix>> = Vec::new();
    for part in &parts {
        match widths(part) {
            widths if widths.is_empty() => return Vec::new(),
            widths => widths_of_parts.push(widths),
        }
    }
    let mut proposals: Vec<Proposal> = Vec::new();
    for step in 0..MAX_PROPOSALS {
        let mut rules: Vec<Rule> = Vec::new();
        for widths in &widths_of_parts {
            let prefix = &widths[step.min(widths.len() - 1)];
            let rule = allowing(Selector::Prefix(prefix.clone()), grant);
            if rules.iter().all(|known| known.subject() != rule.subject()) {
                rules.push(rule);
            }
        }
        rules.extend(paths.iter().cloned());
        let proposal = Proposal { rules };
        if proposals.iter().all(|known| known.key() != proposal.key()) {
            proposals.push(proposal);
        }
    }
    proposals
}

/// Outside the fence a rule names one command, whole: what a longer one does nobody was asked.
fn exactly(facts: &Facts, ground: &Ground, grant: &Grant) -> Option<Proposal> {
    let command = facts
        .one_literal_command()
        .filter(|_| crate::leave::not_kept(facts, ground).is_none())?;
    let pattern = TextPattern::Glob(canonical_command(command));
    let fixed = pattern.is_fixed();
    fixed.then(|| Proposal {
        rules: vec![allowing(Selector::Text(pattern), grant)],
    })
}

/// The commands that would still be asked about: not those that only look, nor wrappers that add
/// nothing.
fn parts_to_allow<'f>(facts: &'f Facts, ground: &Ground) -> Vec<&'f SimpleCommand> {
    let named = facts.commands.iter().filter(|command| !command.supposed);
    let classed: Vec<(&SimpleCommand, Class)> = named
        .map(|command| (command, classify::class_of_part(command, facts, ground)))
        .collect();
    if classed.iter().any(|(_, class)| *class == Class::Dangerous) {
        return Vec::new();
    }
    let asked = classed.iter().any(|(_, class)| *class > Class::Safe);
    let least = if asked { Class::Unknown } else { Class::Safe };
    classed
        .into_iter()
        .filter(|(_, class)| *class >= least)
        .map(|(command, _)| command)
        .collect()
}

/// Rules for what is redirected outside the workspace; nothing if a target is not fixed.
fn path_rules(facts: &Facts, ground: &Ground) -> Option<Vec<Rule>> {
    let mut rules = Vec::new();
    for redirection in &facts.redirections {
        match classify::class_of_redirection(redirection, ground) {
            Class::ReadOnly | Class::Safe => {}
            Class::Dangerous => return None,
            Class::Unknown | Class::Suspicious => {
                let spread = classify::spread(&redirection.target, &redirection.directory, ground);
                let writes = redirection.direction.writes();
                let access = if writes { Access::Write } else { Access::Read };
                for path in spread.fixed()? {
                    let written = path.to_string_lossy().into_owned();
                    rules.push(allowing(
                        Selector::Path(PathPattern { written, access }),
                        &Grant::default(),
                    ));
                }
            }
        }
    }
    Some(rules)
}

fn allowing(selector: Selector, grant: &Grant) -> Rule {
    Rule {
        selector,
        tools: Vec::new(),
        decision: Decision::Allow,
        grant: grant.clone(),
        reason: None,
        source: Source {
            layer: Layer::Session,
            file: "session".into(),
            line: 0,
        },
        matches: Vec::new(),
        not_matches: Vec::new(),
    }
}
