//! A set of rules from several layers, and how they decide together.
//!
//! Deny wins from any layer. Otherwise the most specific rule wins, and the strictest among
//! equals. What an untrusted project brings may only tighten. The set is indexed by the first word,
//! so that its size hardly matters.

mod command;
mod denied_paths;
mod granted;
mod index;

use std::path::Path;

use serde::Serialize;

use crate::{
    classify::Class,
    facts::{CommandText, Facts, understand},
    ground::Ground,
    host::{Host, Protocol},
    rule::{Access, Decision, Grant, Layer, Rule, RuleError, Selector, Source, read_rules},
    shell::ShellKind,
};
use index::Index;

pub use denied_paths::{DeniedPaths, PatternStep, step};
pub(crate) use granted::needs_a_grant;

/// Rules from any number of layers. The default is empty.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<Rule>,
    index: Index,
}

/// What the rules decide about an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleDecision {
    /// Allow, ask or deny. Passthrough never gets here: it means that no rule decides.
    pub decision: Decision,
    /// What is granted if it is allowed.
    pub grant: Grant,
    /// The rule that decided.
    pub rule: RuleCitation,
    /// With allow: the class of what no rule speaks about. Read-only means that everything is
    /// allowed; anything else still has to be decided by its class.
    pub rest: Class,
    /// The part of the command that the rule decided about.
    pub part: String,
}

/// Which rule decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleCitation {
    /// Where it stands.
    pub source: Source,
    /// What it is about.
    pub subject: String,
    /// The reason it gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl RuleCitation {
    fn of(rule: &Rule) -> Self {
        Self {
            source: rule.source.clone(),
            subject: rule.subject(),
            reason: rule.reason.clone(),
        }
    }
}

impl RuleSet {
    /// Reads one file of rules, and checks every rule against its examples.
    pub fn parse(layer: Layer, source_name: &str, text: &str) -> Result<Self, RuleError> {
        let rules = read_rules(layer, source_name, text)?;
        for rule in &rules {
            check_examples(rule)?;
        }
        Ok(Self::of(rules))
    }

    /// The same rules with relative paths below a folder other than the workspace.
    #[must_use]
    pub fn below(mut self, root: &Path) -> Self {
        for rule in &mut self.rules {
            if let Selector::Path(pattern) = &mut rule.selector
                && !pattern.written.starts_with(['/', '~'])
            {
                pattern.written = format!("{}/{}", root.display(), pattern.written);
            }
        }
        self
    }

    /// A set of rules that were made rather than read.
    pub fn of(rules: Vec<Rule>) -> Self {
        let index = Index::of(&rules);
        Self { rules, index }
    }

    /// Adds the rules of another set.
    pub fn extend(&mut self, other: Self) {
        self.rules.extend(other.rules);
        self.index = Index::of(&self.rules);
    }

    /// Adds one rule.
    pub fn push(&mut self, rule: Rule) {
        self.index.add(self.rules.len(), &rule);
        self.rules.push(rule);
    }

    /// All rules, in the order in which they were added.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What the rules say about a command that a tool wants to run.
    pub fn decide(&self, facts: &Facts, ground: &Ground, tool: &str) -> Option<RuleDecision> {
        command::decide(self, facts, ground, tool)
    }

    /// What the rules say about reading or writing an absolute path.
    pub fn decide_path(
        &self,
        path: &Path,
        access: Access,
        ground: &Ground,
        tool: &str,
    ) -> Option<RuleDecision> {
        let rules = self.index.paths.iter().map(|at| &self.rules[*at]);
        let matching = rules.filter(|rule| match &rule.selector {
            Selector::Path(pattern) => pattern.is_match(path, access, ground),
            _ => false,
        });
        choose(matching, tool, &path.to_string_lossy())
    }

    /// What the rules say about a connection.
    pub fn decide_host(
        &self,
        host: &Host,
        port: u16,
        protocol: Protocol,
        tool: &str,
    ) -> Option<RuleDecision> {
        let rules = self.index.hosts.iter().map(|at| &self.rules[*at]);
        let matching = rules.filter(|rule| match &rule.selector {
            Selector::Host(pattern) if rule.decision == Decision::Allow => {
                pattern.covers(host, port, protocol)
            }
            Selector::Host(pattern) => pattern.is_match(host, port, protocol),
            _ => false,
        });
        choose(matching, tool, &format!("{host}:{port}"))
    }

    /// Whether any host is denied by a rule.
    pub fn denies_any_host(&self) -> bool {
        let mut rules = self.index.hosts.iter().map(|at| &self.rules[*at]);
        rules.any(|rule| rule.decision == Decision::Deny)
    }

    /// What the rules say about the use of a tool as such.
    pub fn decide_tool(&self, tool: &str) -> Option<RuleDecision> {
        let rules = self.index.tools.iter().map(|at| &self.rules[*at]);
        choose(rules, tool, tool)
    }
}

/// The rule that wins among those that match.
fn choose<'r>(
    matching: impl Iterator<Item = &'r Rule>,
    tool: &str,
    part: &str,
) -> Option<RuleDecision> {
    let candidates: Vec<&Rule> = matching
        .filter(|rule| rule.is_active() && rule.concerns(tool))
        .collect();
    let rule = winner(candidates)?;
    Some(RuleDecision {
        decision: rule.decision,
        grant: rule.grant.clone(),
        rule: RuleCitation::of(rule),
        rest: Class::ReadOnly,
        part: part.to_owned(),
    })
}

/// The rule that wins: a refusal; otherwise the most specific, and the strictest among equals. A
/// passthrough that wins takes its whole layer out.
fn winner(mut candidates: Vec<&Rule>) -> Option<&Rule> {
    loop {
        if let Some(refusal) = candidates
            .iter()
            .find(|rule| rule.decision == Decision::Deny)
        {
            return Some(refusal);
        }
        let best = *candidates
            .iter()
            .max_by_key(|rule| (rule.specificity(), rule.decision.strictness()))?;
        if best.decision != Decision::Passthrough {
            return Some(best);
        }
        candidates.retain(|rule| rule.source.layer != best.source.layer);
    }
}

/// Checks that a rule matches what its author says.
fn check_examples(rule: &Rule) -> Result<(), RuleError> {
    for (examples, expected) in [(&rule.matches, true), (&rule.not_matches, false)] {
        for example in examples {
            let facts = understand(CommandText::Shell {
                kind: ShellKind::Bash,
                text: example,
            });
            let matched = command::is_about(rule, &facts, example);
            if matched != expected {
                return Err(RuleError::Example {
                    file: rule.source.file.clone(),
                    line: rule.source.line,
                    example: example.clone(),
                    matched,
                });
            }
        }
    }
    Ok(())
}
