//! The index of a rule set: which rules may be about a program, a path, a host or a tool.

use std::collections::HashMap;

use crate::{
    facts::base_name,
    rule::{Rule, Selector},
};

/// Positions of rules by what they are about.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    programs: HashMap<String, Vec<usize>>,
    /// Rules about text that may begin with any program.
    pub(super) texts: Vec<usize>,
    pub(super) paths: Vec<usize>,
    pub(super) hosts: Vec<usize>,
    pub(super) tools: Vec<usize>,
}

impl Index {
    pub(super) fn of(rules: &[Rule]) -> Self {
        let mut index = Self::default();
        for (at, rule) in rules.iter().enumerate() {
            index.add(at, rule);
        }
        index
    }

    pub(super) fn add(&mut self, at: usize, rule: &Rule) {
        match &rule.selector {
            Selector::Prefix(prefix) => {
                for word in &prefix.words[0].alternatives {
                    let rules = self.programs.entry(base_name(word).to_owned()).or_default();
                    if rules.last() != Some(&at) {
                        rules.push(at);
                    }
                }
            }
            Selector::Text(pattern) => match pattern.first_word() {
                Some(word) => self.programs.entry(word.to_owned()).or_default().push(at),
                None => self.texts.push(at),
            },
            Selector::Path(_) => self.paths.push(at),
            Selector::Host(_) => self.hosts.push(at),
            Selector::Tool => self.tools.push(at),
        }
    }

    /// The rules that may be about a program by its first word.
    pub(super) fn of_program(&self, program: &str) -> &[usize] {
        self.programs
            .get(base_name(program))
            .map_or(&[], Vec::as_slice)
    }
}
