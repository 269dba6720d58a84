//! The walk over a syntax tree that collects facts.
//!
//! Each construct is treated explicitly; what a wrapper runs is followed in `follow`. Nothing is
//! judged here.

use std::collections::BTreeMap;

mod directory;
mod redirect;
mod simple;
mod spot;
mod words;

use super::{
    Facts,
    bash::{
        self, Budget, Trouble,
        tree::{Body, Link, Script, Stage, Statement},
    },
    builtin,
    command::{Directory, Function, SimpleCommand},
    number::Numbers,
    suppose::MAX_SUPPOSED,
    unclear::{Obstacle, Unclear},
};
use crate::shell::ShellKind;

pub(in crate::facts) use spot::Spot;

/// How often reading starts again behind something that was not understood.
const MAX_RESTARTS: usize = 16;
/// How many commands are followed.
const MAX_COMMANDS: usize = 1000;

/// Collects facts; owns the budget.
pub(in crate::facts) struct Walker {
    pub(in crate::facts) facts: Facts,
    pub(in crate::facts) budget: Budget,
    pub(in crate::facts) kind: ShellKind,
    values: BTreeMap<String, Vec<String>>,
    /// The commands whose output a variable may hold.
    flows: BTreeMap<String, Vec<usize>>,
    pub(in crate::facts) directory: Directory,
    /// Which variables certainly hold numbers.
    pub(in crate::facts) numbers: Numbers,
    pipelines: usize,
    /// Loops and functions: a `cd` there may happen any number of times.
    repeating: usize,
}

impl Walker {
    pub(in crate::facts) fn new(kind: ShellKind) -> Self {
        Self {
            facts: Facts::default(),
            budget: Budget::new(),
            kind,
            values: BTreeMap::new(),
            flows: BTreeMap::new(),
            directory: Directory {
                chains: vec![Vec::new()],
                unknown: false,
            },
            numbers: Numbers::default(),
            pipelines: 0,
            repeating: 0,
        }
    }

    /// Reads a text and walks what was read.
    pub(in crate::facts) fn text(&mut self, text: &str, kind: ShellKind, spot: &Spot) {
        let outer = std::mem::replace(&mut self.kind, kind);
        self.of_kind(text, spot);
        self.kind = outer;
    }

    fn of_kind(&mut self, text: &str, spot: &Spot) {
        let kind = self.kind;
        if spot.depth > bash::MAX_DEPTH {
            return self.unclear(Obstacle::TooDeep, text);
        }
        let (mut rest, mut spot) = (text, spot.clone());
        for _ in 0..MAX_RESTARTS {
            let (script, trouble) = bash::parse(rest, kind, spot.depth, &mut self.budget);
            self.script(&script, &spot);
            let Some(Trouble { why, at }) = trouble else {
                return;
            };
            let start = rest
                .char_indices()
                .map(|(i, _)| i)
                .take_while(|i| *i <= at)
                .last();
            let at = start.unwrap_or(0);
            self.unclear(why, &rest[at..]);
            // What follows is read as well, only to find what is worse.
            let Some(next) = rest[at..].find(['\n', ';', '&', '|', '(', ')']) else {
                return;
            };
            rest = &rest[at + next + 1..];
            spot.supposed = true;
        }
    }

    pub(in crate::facts) fn unclear(&mut self, why: Obstacle, part: &str) {
        let found = Unclear::new(why, part);
        if self.facts.not_understood.len() < 32 && !self.facts.not_understood.contains(&found) {
            self.facts.not_understood.push(found);
        }
    }

    /// Notes something that may do more than it shows, though it is understood.
    pub(in crate::facts) fn doubtful(&mut self, why: Obstacle, part: &str) {
        let found = Unclear::new(why, part);
        if self.facts.doubtful.len() < 32 && !self.facts.doubtful.contains(&found) {
            self.facts.doubtful.push(found);
        }
    }

    fn script(&mut self, script: &Script, spot: &Spot) {
        for statement in &script.statements {
            self.statement(statement, spot);
        }
    }

    fn statement(&mut self, statement: &Statement, spot: &Spot) {
        if self.budget.spend(1).is_err() {
            return self.unclear(Obstacle::TooMuchWork, "");
        }
        self.facts.shape.push(match statement.link {
            Link::First => '^',
            Link::And => '&',
            Link::Or => '|',
            Link::Next => ';',
        });
        if statement.prefixed {
            self.facts.shape.push('!');
        }
        self.pipelines += 1;
        let pipeline = self.pipelines;
        let before = self.facts.commands.len();
        for (stage, part) in statement.stages.iter().enumerate() {
            let mut ancestry = spot.ancestry.clone();
            ancestry.push((pipeline, stage));
            let spot = Spot {
                pipeline,
                stage,
                ancestry,
                background: spot.background || statement.background,
                chained: spot.chained || statement.link != Link::First,
                via: spot.via,
                ..spot.clone()
            };
            self.stage(part, &spot);
        }
        crate::facts::stdin::standard_input(self, statement, pipeline, before, spot);
    }

    fn stage(&mut self, stage: &Stage, spot: &Spot) {
        let before = self.facts.commands.len();
        self.body(&stage.body, spot);
        let simple = matches!(&stage.body, Body::Simple { words, .. } if !words.is_empty());
        let command = (simple && self.facts.commands.len() > before).then_some(before);
        for redirect in &stage.redirects {
            self.redirect(redirect, command, spot);
        }
    }

    fn body(&mut self, body: &Body, spot: &Spot) {
        let sign = match body {
            Body::Simple { .. } => None,
            Body::Group(_) => Some('{'),
            Body::Loop { .. } => Some('L'),
            Body::Branches(_) => Some('I'),
            Body::Case { .. } => Some('C'),
            Body::Function { .. } => Some('F'),
            Body::Arithmetic(_) => Some('A'),
            Body::Test(_) => Some('T'),
            Body::Coprocess(_) => Some('P'),
        };
        self.facts.shape.extend(sign);
        self.construct(body, spot);
        self.facts.shape.extend(sign.map(|_| '}'));
    }

    fn construct(&mut self, body: &Body, spot: &Spot) {
        match body {
            Body::Simple { assignments, words } => self.simple(assignments, words, spot),
            Body::Group(script) => self.script(script, spot),
            Body::Loop {
                words,
                variable,
                parts,
            } => {
                let texts = words;
                let words = self.words(words, spot);
                if let Some(name) = variable {
                    self.sets(name);
                    self.numbers.loops_over(name, texts);
                    let values = self.values.entry(name.clone()).or_default();
                    values.extend(
                        words
                            .iter()
                            .filter_map(|w| w.literal.clone())
                            .take(MAX_SUPPOSED),
                    );
                }
                self.repeat(|walker| {
                    for part in parts {
                        walker.script(part, spot);
                    }
                });
            }
            Body::Branches(parts) => {
                for part in parts {
                    self.script(part, spot);
                }
            }
            Body::Case { words, arms } => {
                self.words(words, spot);
                for arm in arms {
                    self.script(arm, spot);
                }
            }
            Body::Function { name, body } => self.function(name, body, spot),
            Body::Arithmetic(text) => _ = self.word(text, spot),
            Body::Test(texts) => {
                let words = self.words(texts, spot);
                builtin::compared(self, texts, &words);
            }
            Body::Coprocess(stage) => {
                self.stage(
                    stage,
                    &Spot {
                        background: true,
                        ..spot.clone()
                    },
                );
            }
        }
    }

    fn repeat(&mut self, walk: impl FnOnce(&mut Self)) {
        self.repeating += 1;
        walk(self);
        self.repeating -= 1;
    }

    fn function(&mut self, name: &str, body: &Stage, spot: &Spot) {
        let commands = self.facts.commands.len();
        let inside = Spot {
            function: Some(name.to_owned()),
            ..spot.clone()
        };
        self.repeat(|walker| walker.stage(body, &inside));
        let found = &self.facts.commands[commands..];
        let calls = found
            .iter()
            .filter_map(SimpleCommand::program)
            .map(str::to_owned)
            .collect();
        let multiplies = found.iter().any(|c| c.background || c.stage > 0);
        self.facts.functions.push(Function {
            name: name.to_owned(),
            calls,
            multiplies,
        });
    }
}
