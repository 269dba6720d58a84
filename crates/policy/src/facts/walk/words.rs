//! The words of a command on the walk: what stands in them, and what their variables may hold.

use super::{MAX_COMMANDS, Spot, Walker};
use crate::facts::{
    bash::tree::Text,
    command::{Assignment, Position},
    suppose::{MAX_SUPPOSED, give_printed, with_marks},
    unclear::Obstacle,
    word::{Piece, Word},
};

impl Walker {
    /// Notes quoted text that a builtin would evaluate as an expression.
    pub(in crate::facts) fn hidden(&mut self, words: &[Word]) {
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

    pub(super) fn words(&mut self, texts: &[Text], spot: &Spot) -> Vec<Word> {
        texts.iter().map(|text| self.word(text, spot)).collect()
    }

    /// Walks the scripts inside a word, and gives its parameters the values seen so far.
    pub(super) fn word(&mut self, text: &Text, spot: &Spot) -> Word {
        for inner in &text.inner {
            let position = if inner.process {
                Position::ProcessSubstitution
            } else {
                Position::Substitution
            };
            let inside = Spot {
                position,
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
    pub(in crate::facts) fn sets(&mut self, name: &str) {
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
    pub(in crate::facts) fn assign(&mut self, name: &str, value: &Word) {
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

    /// The commands whose output the variables in a word may hold.
    pub(super) fn flowing(&self, word: &Word) -> Vec<usize> {
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
    pub(super) fn hidden_values(&mut self, given: &[Assignment]) {
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
}
