//! What the fence has to hold because rules about paths deny it, and not only the judgement: a
//! program that is allowed to run opens what it likes.

use std::path::PathBuf;

use super::RuleSet;
use crate::ground::Ground;
use crate::rule::{Access, Decision, Selector, glob};

/// Paths that a rule denies to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedPaths {
    /// The part that is fixed.
    pub base: PathBuf,
    /// What follows it, part by part; nothing if the path is fixed altogether. `**` stands for any
    /// number of parts.
    pub rest: Vec<String>,
    /// What is denied.
    pub access: Access,
}

/// How a name of a folder stands to the patterns that its folder is looked at with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatternStep<'p> {
    /// Whether it is one of the paths that are meant.
    pub meant: bool,
    /// What is still to be matched below it.
    pub below: Vec<&'p [String]>,
}

impl RuleSet {
    /// What is denied to the commands of a tool, whatever they look like.
    pub fn denied_paths(&self, ground: &Ground, tool: &str) -> Vec<DeniedPaths> {
        let rules = self.index.paths.iter().map(|at| &self.rules[*at]);
        let denying = rules.filter(|rule| {
            rule.decision == Decision::Deny && rule.is_active() && rule.concerns(tool)
        });
        denying
            .filter_map(|rule| match &rule.selector {
                Selector::Path(pattern) => Some((pattern.parts(ground)?, pattern.access)),
                _ => None,
            })
            .map(|(parts, access)| DeniedPaths::of(parts, access))
            .collect()
    }
}

impl DeniedPaths {
    fn of(mut parts: Vec<String>, access: Access) -> Self {
        // A rule about a folder is about everything in it.
        while parts.last().is_some_and(|part| part == "**") {
            parts.pop();
        }
        let open = |part: &String| part.contains(['*', '?']);
        let fixed = parts.iter().position(open).unwrap_or(parts.len());
        let rest = parts.split_off(fixed);
        Self {
            base: PathBuf::from("/").join(parts.join("/")),
            rest,
            access,
        }
    }
}

/// Takes one step down with patterns: which of them a name ends, and which go on below it.
pub fn step<'p>(patterns: &[&'p [String]], name: &str) -> PatternStep<'p> {
    let mut stepped = PatternStep::default();
    for pattern in patterns {
        one(pattern, name, &mut stepped);
    }
    stepped
}

fn one<'p>(pattern: &'p [String], name: &str, stepped: &mut PatternStep<'p>) {
    let Some((first, rest)) = pattern.split_first() else {
        return;
    };
    if first == "**" {
        stepped.below.push(pattern);
        one(rest, name, stepped);
    } else if glob(first, name) {
        if rest.is_empty() {
            stepped.meant = true;
        } else {
            stepped.below.push(rest);
        }
    }
}
