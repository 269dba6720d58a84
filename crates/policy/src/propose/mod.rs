//! Proposing rules after an approval, and the canonical text that approvals are remembered by.
//!
//! A proposal generalises as a person would: `npm test`, not the exact string; never a bare
//! interpreter, a bare wrapper or a bare `git`. At most three are made, from narrow to broad.

mod canonical;
mod width;

use std::fmt::Write as _;
use std::path::PathBuf;

pub(crate) use canonical::quoted;
pub use canonical::{canonical, canonical_command};

use crate::ruleset::needs_a_grant;
use crate::{
    action::{Connect, SendHttp},
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
            Selector::Host(_) if !rule.tools.is_empty() => {
                format!("{} for {}", rule.subject(), rule.tools.join(", "))
            }
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
        if let Some(besides) = self.besides() {
            let _ = write!(line, ", with leave to {besides}");
        }
        line
    }

    /// What the rules grant besides, in words.
    fn besides(&self) -> Option<String> {
        let mut all = Grant::default();
        for rule in &self.rules {
            all.add(&rule.grant);
        }
        let path = |verb: &str, paths: &[PathBuf]| -> Vec<String> {
            let paths = paths.iter();
            paths
                .map(|path| format!("{verb} {}", path.display()))
                .collect()
        };
        let mut words = path("write in", &all.writable);
        words.extend(path("read", &all.readable));
        words.extend(path("connect to", &all.sockets));
        words.extend(all.hosts.iter().map(|host| format!("reach {host}")));
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// The same with other things granted besides.
    pub(crate) fn granting(mut self, grant: &Grant) -> Self {
        for rule in &mut self.rules {
            if !rule.grant.is_plain() {
                rule.grant = grant.clone();
            }
        }
        self
    }

    fn key(&self) -> Vec<String> {
        self.rules.iter().map(Rule::subject).collect()
    }
}

/// The rule to offer for a connection that was asked about. It names the host and no more: how far
/// up its name one owner reaches cannot be told from the name.
pub(crate) fn propose_host(connect: &Connect) -> Proposal {
    let pattern = host_pattern(connect);
    Proposal {
        rules: vec![allowing(Selector::Host(pattern), &Grant::default())],
    }
}

/// The host of a connection, and no more.
pub fn host_pattern(connect: &Connect) -> HostPattern {
    let own_port = !matches!(connect.port, 80 | 443);
    HostPattern {
        host: Hosts::One(connect.host.clone()),
        ports: own_port.then_some(connect.port).into_iter().collect(),
        protocols: match connect.protocol {
            Protocol::Tcp => vec![Protocol::Tcp],
            Protocol::Http | Protocol::Https => Vec::new(),
        },
    }
}

/// The rule to offer for a request that was asked about: it lets commands reach nothing.
pub(crate) fn propose_request(request: &SendHttp) -> Proposal {
    let mut proposal = propose_host(&request.connection());
    for rule in &mut proposal.rules {
        rule.tools = vec![request.tool.clone()];
    }
    proposal
}

/// Rules to offer for a command that was asked about, from narrow to broad; none if no rule should
/// be made from it.
pub fn propose(facts: &Facts, ground: &Ground, grant: &Grant) -> Vec<Proposal> {
    if classify::class_of_the_rest(facts, ground) > Class::Safe {
        return Vec::new();
    }
    if grant.fence == crate::rule::Fence::Unfenced || grant.is_grave() {
        return exactly(facts, ground, grant).into_iter().collect();
    }
    let parts = parts_to_allow(facts, ground, grant);
    let Some(paths) = path_rules(facts, ground, grant) else {
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
/// nothing. Where something is granted besides, those that have to be granted it too.
fn parts_to_allow<'f>(facts: &'f Facts, ground: &Ground, grant: &Grant) -> Vec<&'f SimpleCommand> {
    let named = facts.commands.iter().enumerate();
    let named = named.filter(|(_, command)| !command.supposed);
    let classed: Vec<(usize, Class)> = named
        .map(|(at, command)| (at, classify::class_of_part(command, facts, ground)))
        .collect();
    if classed.iter().any(|(_, class)| *class == Class::Dangerous) {
        return Vec::new();
    }
    let asked = classed.iter().any(|(_, class)| *class > Class::Safe);
    let least = if asked { Class::Unknown } else { Class::Safe };
    let grants = !grant.is_plain();
    classed
        .into_iter()
        .filter(|(at, class)| *class >= least || grants && needs_a_grant(*at, facts))
        .map(|(at, _)| &facts.commands[at])
        .collect()
}

/// Rules for what is redirected outside the workspace; nothing if a target is not fixed.
fn path_rules(facts: &Facts, ground: &Ground, grant: &Grant) -> Option<Vec<Rule>> {
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
                        grant,
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
