//! Simple commands on the walk: noted, followed to what they run, and supposed in other forms.

use super::{MAX_COMMANDS, Spot, Walker};
use crate::facts::{
    bash::{self, tree::Text},
    builtin,
    command::{Assignment, SimpleCommand},
    suppose::supposed,
    unclear::Obstacle,
    word::Word,
};

impl Walker {
    pub(super) fn simple(
        &mut self,
        assignments: &[bash::tree::Assign],
        words: &[Text],
        spot: &Spot,
    ) {
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

    #[allow(
        clippy::needless_pass_by_value,
        reason = "the caller has no use for the words"
    )]
    /// Notes a command, what it stands for, and what it runs.
    pub(in crate::facts) fn command(
        &mut self,
        words: Vec<Word>,
        given: Vec<Assignment>,
        spot: &Spot,
    ) {
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
            position: spot.position,
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
        crate::facts::follow::wrapped(self, index, spot);
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
}
