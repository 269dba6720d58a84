//! The walk over a syntax tree that collects facts.
//!
//! Each construct is treated explicitly; what a wrapper runs is followed in `follow`. Nothing is
//! judged here.

use std::collections::BTreeMap;

use super::{
    Facts,
    bash::{
        self, Budget, Trouble,
        tree::{Body, Link, Redirect, Script, Stage, Statement, Text},
    },
    builtin,
    command::{Assignment, Directory, Function, HereDocument, Place, Redirection, SimpleCommand},
    number::Numbers,
    suppose::{MAX_SUPPOSED, give_printed, supposed, with_marks},
    unclear::{Obstacle, Unclear},
    word::{Piece, Word},
};
use crate::shell::ShellKind;

/// How often reading starts again behind something that was not understood.
const MAX_RESTARTS: usize = 16;
/// How many commands are followed.
const MAX_COMMANDS: usize = 1000;
/// How many directories a command may be in before they count as unknown.
const MAX_DIRECTORIES: usize = 6;

/// Collects facts; owns the budget.
pub(super) struct Walker {
    pub(super) facts: Facts,
    pub(super) budget: Budget,
    pub(super) kind: ShellKind,
    values: BTreeMap<String, Vec<String>>,
    /// The commands whose output a variable may hold.
    flows: BTreeMap<String, Vec<usize>>,
    pub(super) directory: Directory,
    /// Which variables certainly hold numbers.
    pub(super) numbers: Numbers,
    pipelines: usize,
    /// Loops and functions: a `cd` there may happen any number of times.
    repeating: usize,
}

/// Where the walk stands.
#[derive(Clone)]
pub(super) struct Spot {
    pub(super) place: Place,
    pub(super) depth: u8,
    /// How many wrappers stand around it.
    pub(super) wrapped: u8,
    pub(super) via: Option<usize>,
    pub(super) supposed: bool,
    pub(super) lurking: bool,
    pub(super) supplied: bool,
    pub(super) pipeline: usize,
    pub(super) stage: usize,
    pub(super) background: bool,
    pub(super) chained: bool,
    pub(super) function: Option<String>,
    pub(super) ancestry: Vec<(usize, usize)>,
    pub(super) holds: Vec<usize>,
}

impl Spot {
    pub(super) fn start() -> Self {
        Self {
            place: Place::Text,
            depth: 0,
            wrapped: 0,
            via: None,
            supposed: false,
            lurking: false,
            supplied: false,
            pipeline: 0,
            stage: 0,
            background: false,
            chained: false,
            function: None,
            ancestry: Vec::new(),
            holds: Vec::new(),
        }
    }
}

impl Walker {
    pub(super) fn new(kind: ShellKind) -> Self {
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
    pub(super) fn text(&mut self, text: &str, kind: ShellKind, spot: &Spot) {
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

    pub(super) fn unclear(&mut self, why: Obstacle, part: &str) {
        let found = Unclear::new(why, part);
        if self.facts.not_understood.len() < 32 && !self.facts.not_understood.contains(&found) {
            self.facts.not_understood.push(found);
        }
    }

    /// Notes something that may do more than it shows, though it is understood.
    pub(super) fn doubtful(&mut self, why: Obstacle, part: &str) {
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
        super::stdin::standard_input(self, statement, pipeline, before, spot);
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

    /// Notes quoted text that a builtin would evaluate as an expression.
    pub(super) fn hidden(&mut self, words: &[Word]) {
        for word in words {
            let suspect = |part: &str| part.contains("$(") || part.contains('`');
            let found = match &word.literal {
                Some(value) => suspect(value),
                None => word
                    .pieces
                    .iter()
                    .any(|p| matches!(p, Piece::Text(t) if suspect(t))),
            };
            if found {
                self.unclear(Obstacle::HiddenSubstitution, &word.text);
            }
        }
    }

    fn words(&mut self, texts: &[Text], spot: &Spot) -> Vec<Word> {
        texts.iter().map(|text| self.word(text, spot)).collect()
    }

    /// Walks the scripts inside a word, and gives its parameters the values seen so far.
    fn word(&mut self, text: &Text, spot: &Spot) -> Word {
        for inner in &text.inner {
            let place = if inner.process {
                Place::ProcessSubstitution
            } else {
                Place::Substitution
            };
            let inside = Spot {
                place,
                chained: false,
                via: None,
                holds: Vec::new(),
                ..spot.clone()
            };
            self.script(&inner.script, &inside);
        }
        for evaluated in &text.evaluated {
            self.numbers.evaluates(evaluated, &text.word.text);
        }
        for name in &text.sets {
            self.sets(name);
            self.numbers.is_computed(name);
        }
        let mut word = text.word.clone();
        give_printed(&mut word.pieces, text);
        self.give_values(&mut word.pieces);
        word
    }

    /// Notes that a variable gets a value that is not known.
    pub(super) fn sets(&mut self, name: &str) {
        let value = Word::from_pieces(String::new(), vec![Piece::Supplied]);
        let name = name.to_owned();
        if self.facts.assignments.len() < MAX_COMMANDS {
            self.facts.assignments.push(Assignment { name, value });
        }
    }

    fn give_values(&self, pieces: &mut [Piece]) {
        for piece in pieces {
            match piece {
                Piece::Parameter { name, values } => {
                    if let Some(seen) = self.values.get(name) {
                        values.extend(seen.iter().take(MAX_SUPPOSED).cloned());
                    }
                }
                Piece::Choice(options) => {
                    for option in options {
                        self.give_values(&mut option.pieces);
                    }
                }
                _ => {}
            }
        }
    }

    /// Notes a value that a variable may have.
    pub(super) fn assign(&mut self, name: &str, value: &Word) {
        let value = &with_marks(value);
        for words in value.supposed(MAX_SUPPOSED) {
            let parts: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
            let Some(parts) = parts else { continue };
            let values = self.values.entry(name.to_owned()).or_default();
            let value = parts.join(" ");
            if values.len() < MAX_SUPPOSED * 2 && value.len() < 4096 && !values.contains(&value) {
                values.insert(0, value);
            }
        }
    }

    fn simple(&mut self, assignments: &[bash::tree::Assign], words: &[Text], spot: &Spot) {
        let before = self.facts.commands.len();
        let words = self.words(words, spot);
        let mut holds: Vec<usize> = (before..self.facts.commands.len()).collect();
        for word in &words {
            holds.extend(self.flowing(word));
        }
        let mut given = Vec::new();
        for assign in assignments {
            let before = self.facts.commands.len();
            let value = self.word(&assign.value, spot);
            self.assign(&assign.name, &value);
            self.numbers.gets(&assign.name, &assign.value);
            let mut flow: Vec<usize> = (before..self.facts.commands.len()).collect();
            flow.extend(self.flowing(&value));
            if !flow.is_empty() {
                self.flows
                    .entry(assign.name.clone())
                    .or_default()
                    .extend(flow);
            }
            given.push(Assignment {
                name: assign.name.clone(),
                value,
            });
        }
        self.hidden_values(&given);
        if words.is_empty() {
            self.facts.assignments.extend(given);
            return;
        }
        if words[0].literal().is_some_and(builtin::declares) {
            self.facts.assignments.extend(given.iter().cloned());
        }
        self.command(
            words,
            given,
            &Spot {
                holds,
                ..spot.clone()
            },
        );
    }

    /// The commands whose output the variables in a word may hold.
    fn flowing(&self, word: &Word) -> Vec<usize> {
        if self.flows.is_empty() {
            return Vec::new();
        }
        let names = word.pieces.iter().filter_map(|piece| match piece {
            Piece::Parameter { name, .. } => self.flows.get(name),
            _ => None,
        });
        names.flatten().copied().take(64).collect()
    }

    /// A quoted substitution in a value is harmless until something evaluates the value.
    fn hidden_values(&mut self, given: &[Assignment]) {
        for assignment in given {
            let value = &assignment.value;
            let suspect =
                |part: &str| part.contains("$(") || part.contains('`') || part.ends_with('$');
            let found = match &value.literal {
                Some(text) => suspect(text),
                None => value
                    .pieces
                    .iter()
                    .any(|p| matches!(p, Piece::Text(t) if suspect(t))),
            };
            if found {
                self.unclear(Obstacle::HiddenSubstitution, &value.text);
            }
        }
    }

    #[allow(
        clippy::needless_pass_by_value,
        reason = "the caller has no use for the words"
    )]
    /// Notes a command, what it stands for, and what it runs.
    pub(super) fn command(&mut self, words: Vec<Word>, given: Vec<Assignment>, spot: &Spot) {
        if self.budget.spend(words.len() * 4 + 8).is_err()
            || self.facts.commands.len() >= MAX_COMMANDS
        {
            return self.unclear(Obstacle::TooMuchWork, "");
        }
        let Some(first) = words.first() else { return };
        if first.literal.is_none() && !spot.supposed {
            let why = Obstacle::ComputedProgram;
            let text = first.text.clone();
            self.unclear(why, &text);
        }
        let index = self.facts.commands.len();
        let mut variants = Vec::new();
        if !spot.supposed {
            variants = supposed(&words);
            if first.literal.is_none() && words.len() > 1 {
                // It may expand to nothing, and then the next word is the program.
                variants.push(words[1..].to_vec());
            }
        }
        self.facts.commands.push(SimpleCommand {
            words: words.clone(),
            assignments: given,
            place: spot.place,
            via: spot.via,
            wrapper: false,
            supplied: spot.supplied,
            supposed: spot.supposed,
            lurking: spot.lurking,
            pipeline: spot.pipeline,
            stage: spot.stage,
            background: spot.background,
            chained: spot.chained,
            function: spot.function.clone(),
            directory: self.directory.clone(),
            ancestry: spot.ancestry.clone(),
            holds: spot.holds.clone(),
        });
        if !spot.lurking {
            builtin::look(self, index);
        }
        super::follow::wrapped(self, index, spot);
        if !spot.lurking {
            self.change_directory(&words, spot);
        }
        if !spot.supposed && !self.facts.commands[index].wrapper {
            self.lurking(&words, index, spot);
        }
        for variant in variants {
            self.command(
                variant,
                Vec::new(),
                &Spot {
                    supposed: true,
                    ..spot.clone()
                },
            );
        }
    }

    /// Notes the commands that an unknown program may find among its words.
    fn lurking(&mut self, words: &[Word], index: usize, spot: &Spot) {
        let functions = &self.facts.functions;
        if functions.iter().any(|function| words[0].is(&function.name)) {
            return;
        }
        let spot = Spot {
            supposed: true,
            lurking: true,
            via: Some(index),
            ..spot.clone()
        };
        // What is not understood of a command that may not be one is of no interest.
        let (unclear, doubtful) = (self.facts.not_understood.len(), self.facts.doubtful.len());
        for at in crate::classify::may_hold_a_command(words) {
            self.command(words[at..].to_vec(), Vec::new(), &spot);
        }
        self.facts.not_understood.truncate(unclear);
        self.facts.doubtful.truncate(doubtful);
    }

    fn change_directory(&mut self, words: &[Word], _spot: &Spot) {
        let Some(name) = words[0].literal() else {
            return;
        };
        match name {
            "cd" | "chdir" => {}
            "pushd" | "popd" => {
                self.directory.unknown = true;
                return;
            }
            _ => return,
        }
        let target = words[1..].iter().find(|word| {
            !word
                .literal()
                .is_some_and(|w| w.len() > 1 && w.starts_with('-'))
        });
        let target = match target {
            Some(word) => word.clone(),
            None => Word::from_pieces("~".into(), vec![Piece::Home(None)]),
        };
        if self.repeating > 0 || target.is("-") {
            self.directory.unknown = true;
        }
        self.enter(&target);
    }

    /// Notes that what follows may run in another directory.
    pub(super) fn enter(&mut self, target: &Word) {
        let mut reached: Vec<Vec<Word>> = Vec::new();
        for chain in &self.directory.chains {
            if chain.len() >= MAX_DIRECTORIES {
                self.directory.unknown = true;
                continue;
            }
            let mut chain = chain.clone();
            chain.push(target.clone());
            reached.push(chain);
        }
        self.directory.chains.extend(reached);
        if self.directory.chains.len() > MAX_DIRECTORIES {
            // The latest directories matter most.
            let surplus = self.directory.chains.len() - MAX_DIRECTORIES;
            self.directory.chains.drain(..surplus);
            self.directory.unknown = true;
        }
    }

    fn redirect(&mut self, redirect: &Redirect, command: Option<usize>, spot: &Spot) {
        match redirect {
            Redirect::Descriptor => {}
            Redirect::File { direction, target } => {
                let target = self.word(target, spot);
                let (direction, directory) = (*direction, self.directory.clone());
                let pipeline = spot.pipeline;
                self.facts.redirections.push(Redirection {
                    direction,
                    target,
                    command,
                    directory,
                    pipeline,
                });
            }
            Redirect::Here(body) => match body.get() {
                Some(body) => {
                    let before = self.facts.commands.len();
                    let body = self.word(body, spot);
                    let mut flow: Vec<usize> = (before..self.facts.commands.len()).collect();
                    flow.extend(self.flowing(&body));
                    if let Some(command) = command {
                        for reader in &mut self.facts.commands[command..before] {
                            reader.holds.extend(&flow);
                        }
                    }
                    self.facts.here_documents.push(HereDocument {
                        command,
                        body,
                        pipeline: spot.pipeline,
                        stage: spot.stage,
                    });
                }
                None => self.unclear(Obstacle::Syntax, "<<"),
            },
        }
    }
}
