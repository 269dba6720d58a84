//! How rules decide about a command: part by part.
//!
//! Every simple command, wrappers included, must be allowed for the whole to be allowed. A
//! redirection is a write to its target. No rule about a part lifts a danger of the whole, and none
//! lifts a dangerous part unless it names the whole of it.

use super::granted::granted_to_all;
use super::{RuleCitation, RuleDecision, RuleSet, winner};
use crate::{
    classify::{self, Class},
    facts::{Facts, Redirection, SimpleCommand, Word},
    ground::Ground,
    propose::{canonical, canonical_command},
    rule::{Access, Decision, Fence, Grant, Matched, PathPattern, Rule, Selector},
};

pub(super) fn decide(
    set: &RuleSet,
    facts: &Facts,
    ground: &Ground,
    tool: &str,
) -> Option<RuleDecision> {
    if set.is_empty() {
        return None;
    }
    let mut so_far = SoFar {
        strictest: None,
        allowed: Vec::new(),
        rest: classify::class_of_the_rest(facts, ground),
    };
    by_tool(set, tool, &mut so_far);
    by_text(set, facts, tool, &mut so_far);
    let mut covered: Vec<Option<Cover<'_>>> = vec![None; facts.commands.len()];
    for (index, command) in facts.commands.iter().enumerate() {
        let by_wrapper = command
            .via
            .and_then(|via| covered[via])
            .filter(|cover| cover.inner);
        covered[index] = part(set, command, by_wrapper, facts, ground, tool, &mut so_far);
    }
    let redirections = facts.redirections.iter();
    let opened: Vec<Option<RuleDecision>> = redirections
        .map(|it| redirection(set, it, ground, tool, &mut so_far))
        .collect();
    paths(set, facts, ground, tool, &mut so_far);
    so_far.finish(facts, &covered, &opened)
}

/// Whether a rule is about a command, for its examples.
pub(super) fn is_about(rule: &Rule, facts: &Facts, written: &str) -> bool {
    let loosens = rule.decision == Decision::Allow;
    let mut commands = facts.commands.iter().filter(|command| !command.supposed);
    match &rule.selector {
        Selector::Prefix(prefix) if loosens => commands.any(|command| prefix.allows(command)),
        Selector::Prefix(prefix) => commands.any(|command| prefix.refuses(command) == Matched::Yes),
        Selector::Text(pattern) if loosens => {
            commands.any(|command| pattern.is_whole(&canonical_command(command)))
        }
        Selector::Text(pattern) => {
            pattern.is_found(written)
                || commands.any(|command| pattern.is_found(&canonical_command(command)))
        }
        _ => false,
    }
}

/// What has been decided until now.
struct SoFar<'r> {
    /// A refusal, or else a question.
    strictest: Option<(&'r Rule, Decision, String)>,
    allowed: Vec<(&'r Rule, String)>,
    rest: Class,
}

/// How a command is covered by an allowance.
#[derive(Clone, Copy)]
pub(super) struct Cover<'r> {
    /// What the rule grants.
    pub(super) grant: &'r Grant,
    /// Whether the rule also names the program that this wrapper runs.
    inner: bool,
}

impl<'r> SoFar<'r> {
    fn note(&mut self, rule: &'r Rule, decision: Decision, part: &str) {
        let stricter = match &self.strictest {
            Some((_, known, _)) => decision.strictness() > known.strictness(),
            None => true,
        };
        if stricter {
            self.strictest = Some((rule, decision, part.to_owned()));
        }
    }

    fn finish(
        self,
        facts: &Facts,
        covered: &[Option<Cover<'_>>],
        opened: &[Option<RuleDecision>],
    ) -> Option<RuleDecision> {
        if let Some((rule, decision, part)) = self.strictest {
            return Some(RuleDecision {
                decision,
                grant: Grant::default(),
                rule: RuleCitation::of(rule),
                rest: Class::ReadOnly,
                part,
            });
        }
        let by_command = self.allowed.first();
        let by_command = by_command.map(|(rule, part)| (RuleCitation::of(rule), part.clone()));
        // One about a path says nothing of the commands, but what it grants it grants to them.
        let by_path = || {
            let mut granting = opened.iter().flatten().filter(|it| !it.grant.is_plain());
            granting.next().map(|it| (it.rule.clone(), it.part.clone()))
        };
        let (rule, part) = by_command.or_else(by_path)?;
        let mut grant = match self.rest {
            Class::ReadOnly | Class::Safe => granted_to_all(facts, covered, opened),
            _ => Grant::default(),
        };
        // What leaves the fence is one command that somebody saw, and nothing beside it.
        let only = facts
            .one_literal_command()
            .filter(|_| self.rest == Class::ReadOnly);
        let unfenced = only.is_some_and(|only| {
            let mut pairs = facts.commands.iter().zip(covered);
            let cover = pairs.find(|(command, _)| std::ptr::eq(*command, only));
            cover.is_some_and(|(_, cover)| {
                cover.is_some_and(|cover| cover.grant.fence == Fence::Unfenced)
            })
        });
        if unfenced {
            grant.fence = Fence::Unfenced;
        }
        Some(RuleDecision {
            decision: Decision::Allow,
            grant,
            rule,
            rest: self.rest,
            part,
        })
    }
}

fn by_tool<'r>(set: &'r RuleSet, tool: &str, so_far: &mut SoFar<'r>) {
    let rules = set.index.tools.iter().map(|at| &set.rules[*at]);
    let concerned: Vec<&Rule> = rules
        .filter(|rule| rule.is_active() && rule.concerns(tool))
        .collect();
    // That a tool is allowed says nothing about what it is asked to run.
    if let Some(rule) = winner(concerned).filter(|rule| rule.decision != Decision::Allow) {
        so_far.note(rule, rule.decision, tool);
    }
}

/// Patterns that refuse are also looked for in the whole.
fn by_text<'r>(set: &'r RuleSet, facts: &Facts, tool: &str, so_far: &mut SoFar<'r>) {
    let refusing = |rule: &&Rule| {
        matches!(rule.decision, Decision::Deny | Decision::Ask) && rule.concerns(tool)
    };
    let mut whole: Option<String> = None;
    for rule in set
        .index
        .texts
        .iter()
        .map(|at| &set.rules[*at])
        .filter(refusing)
    {
        let Selector::Text(pattern) = &rule.selector else {
            continue;
        };
        let text = whole.get_or_insert_with(|| canonical(facts));
        if pattern.is_found(text) || pattern.is_found(&facts.written) {
            so_far.note(rule, rule.decision, &facts.written);
        }
    }
}

/// Decides about one simple command.
fn part<'r>(
    set: &'r RuleSet,
    command: &SimpleCommand,
    by_wrapper: Option<Cover<'r>>,
    facts: &Facts,
    ground: &Ground,
    tool: &str,
    so_far: &mut SoFar<'r>,
) -> Option<Cover<'r>> {
    let program = command.program().unwrap_or_default();
    let texts = set.index.texts.iter();
    let mut text: Option<String> = None;
    let mut candidates: Vec<&Rule> = Vec::new();
    for at in set.index.of_program(program).iter().chain(texts) {
        let rule = &set.rules[*at];
        if !rule.is_active() || !rule.concerns(tool) {
            continue;
        }
        let refuses = matches!(rule.decision, Decision::Deny | Decision::Ask);
        if command.supposed && !refuses {
            continue;
        }
        let matched = match &rule.selector {
            Selector::Prefix(prefix) if refuses => match prefix.refuses(command) {
                // One word of many may be just a word.
                Matched::Yes if command.lurking && prefix.words.len() == 1 => {
                    so_far.note(rule, Decision::Ask, &canonical_command(command));
                    Matched::No
                }
                Matched::Maybe => {
                    so_far.note(rule, Decision::Ask, &canonical_command(command));
                    Matched::No
                }
                other => other,
            },
            Selector::Prefix(prefix) => Matched::of(prefix.allows(command)),
            Selector::Text(pattern) => {
                let text = text.get_or_insert_with(|| canonical_command(command));
                let literal = command.words.iter().all(|word| word.literal().is_some());
                Matched::of(if refuses {
                    pattern.is_found(text)
                } else {
                    literal && pattern.is_whole(text)
                })
            }
            _ => Matched::No,
        };
        if matched == Matched::Yes {
            candidates.push(rule);
        }
    }
    if command.supposed {
        if let Some(rule) = winner(candidates) {
            so_far.note(rule, rule.decision, &canonical_command(command));
        }
        return None;
    }
    settle(
        command,
        winner(candidates),
        by_wrapper,
        facts,
        ground,
        so_far,
    )
}

/// Takes the rule that won for a command into account.
fn settle<'r>(
    command: &SimpleCommand,
    rule: Option<&'r Rule>,
    by_wrapper: Option<Cover<'r>>,
    facts: &Facts,
    ground: &Ground,
    so_far: &mut SoFar<'r>,
) -> Option<Cover<'r>> {
    let class = || classify::class_of_part(command, facts, ground);
    match rule {
        Some(rule) if rule.decision == Decision::Allow => {
            let class = class();
            if class == Class::Dangerous && !names_everything(rule, command) {
                so_far.rest = so_far.rest.max(class);
                return None;
            }
            // The rule is about the words; what is set for them is judged by itself.
            so_far.rest = so_far
                .rest
                .max(classify::class_of_assignments(command, facts, ground));
            so_far.allowed.push((rule, canonical_command(command)));
            let inner = command.wrapper && reaches_inner(rule, command);
            Some(Cover {
                grant: &rule.grant,
                inner,
            })
        }
        Some(rule) => {
            so_far.note(rule, rule.decision, &canonical_command(command));
            None
        }
        None if by_wrapper.is_some() && class() < Class::Dangerous => by_wrapper,
        None => {
            so_far.rest = so_far.rest.max(class());
            None
        }
    }
}

/// Whether a rule names every word of a command.
fn names_everything(rule: &Rule, command: &SimpleCommand) -> bool {
    match &rule.selector {
        Selector::Prefix(prefix) => prefix.words.len() >= command.words.len(),
        Selector::Text(pattern) => pattern.is_fixed(),
        _ => false,
    }
}

/// Whether a rule's words reach the program that a wrapper runs.
fn reaches_inner(rule: &Rule, command: &SimpleCommand) -> bool {
    let own = classify::own_words(command).len();
    match &rule.selector {
        Selector::Prefix(prefix) => prefix.words.len() > own && own < command.words.len(),
        Selector::Text(pattern) => pattern.is_fixed(),
        _ => false,
    }
}

/// A redirection is a write to its target, or a read of it. Comes back with what allows it.
fn redirection<'r>(
    set: &'r RuleSet,
    redirection: &Redirection,
    ground: &Ground,
    tool: &str,
    so_far: &mut SoFar<'r>,
) -> Option<RuleDecision> {
    let class = classify::class_of_redirection(redirection, ground);
    if class == Class::ReadOnly || class == Class::Dangerous {
        so_far.rest = so_far.rest.max(class);
        return None;
    }
    let access = if redirection.direction.writes() {
        Access::Write
    } else {
        Access::Read
    };
    let spread = classify::spread(&redirection.target, &redirection.directory, ground);
    let allowed = spread.fixed().and_then(|paths| {
        let mut allowed: Option<RuleDecision> = None;
        for path in paths {
            let found = set.decide_path(&path, access, ground, tool);
            let found = found.filter(|found| found.decision == Decision::Allow)?;
            match &mut allowed {
                Some(allowed) => allowed.grant.keep_common(&found.grant),
                None => allowed = Some(found),
            }
        }
        allowed
    });
    if allowed.is_none() {
        so_far.rest = so_far.rest.max(class);
    }
    allowed
}

/// Rules about paths that refuse are held against every word that may be such a path.
fn paths<'r>(set: &'r RuleSet, facts: &Facts, ground: &Ground, tool: &str, so_far: &mut SoFar<'r>) {
    let refusing: Vec<(&Rule, &PathPattern, Vec<String>)> = set
        .index
        .paths
        .iter()
        .map(|at| &set.rules[*at])
        .filter(|rule| {
            matches!(rule.decision, Decision::Deny | Decision::Ask) && rule.concerns(tool)
        })
        .filter_map(|rule| match &rule.selector {
            Selector::Path(pattern) => Some((rule, pattern, pattern.parts(ground)?)),
            _ => None,
        })
        .collect();
    if refusing.is_empty() {
        return;
    }
    let mut check = |word: &Word, directory, access: Access| {
        for candidate in path_words(word) {
            let spread = classify::spread(&candidate, directory, ground);
            for (rule, pattern, parts) in &refusing {
                if !pattern.access_includes(access) {
                    continue;
                }
                match spread.may_be_in(parts) {
                    Matched::Yes => so_far.note(rule, rule.decision, &word.text),
                    Matched::Maybe => so_far.note(rule, Decision::Ask, &word.text),
                    Matched::No => {}
                }
            }
        }
    };
    for command in &facts.commands {
        for word in command.words.iter().skip(1) {
            check(word, &command.directory, Access::Any);
        }
    }
    for redirection in &facts.redirections {
        let access = if redirection.direction.writes() {
            Access::Write
        } else {
            Access::Read
        };
        check(&redirection.target, &redirection.directory, access);
    }
}

/// A word, and the value of an option such as `--file=path` or `if=path` in it.
fn path_words(word: &Word) -> Vec<Word> {
    let mut all = vec![word.clone()];
    if let Some(value) = word.literal() {
        if let Some((_, path)) = value.split_once('=') {
            all.push(Word::of(path));
        }
        if let Some(path) = value
            .strip_prefix('-')
            .and_then(|rest| rest.get(1..))
            .filter(|rest| rest.starts_with(['/', '~']))
        {
            all.push(Word::of(path));
        }
    }
    all
}
