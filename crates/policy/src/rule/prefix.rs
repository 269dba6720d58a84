//! Matching a command by its first words.
//!
//! Words match whole: `git log` does not match `git logout`.

use std::fmt;

use crate::{
    classify,
    facts::{SimpleCommand, Word, base_name},
};

/// The words that a command begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// One entry per word.
    pub words: Vec<PrefixWord>,
    /// Whether an allowance holds only for the program exactly as it is written here, and not for
    /// the same name in a folder of the system.
    pub exact_program: bool,
}

/// A word of a prefix, with alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixWord {
    /// The words that may stand here; never empty.
    pub alternatives: Vec<String>,
}

/// Whether something matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Matched {
    /// It certainly does not.
    No,
    /// It may, depending on a word that is computed.
    Maybe,
    /// It does.
    Yes,
}

impl Matched {
    /// Certainty as a match.
    pub(crate) fn of(certain: bool) -> Self {
        if certain { Self::Yes } else { Self::No }
    }
}

impl Prefix {
    /// A prefix of fixed words.
    pub fn of<S: Into<String>>(words: impl IntoIterator<Item = S>) -> Self {
        let words = words.into_iter().map(|word| PrefixWord {
            alternatives: vec![word.into()],
        });
        Self {
            words: words.collect(),
            exact_program: false,
        }
    }

    /// Whether a command certainly begins with these words, as an allowance needs it. A program
    /// named by its path matches only from a folder of the system.
    pub(crate) fn allows(&self, command: &SimpleCommand) -> bool {
        let Some(program) = command.program() else {
            return false;
        };
        let by_path = program.contains('/') && !classify::is_system_program(program);
        let known = if self.exact_program || by_path {
            program
        } else {
            base_name(program)
        };
        let first = &self.words[0].alternatives;
        let program_matches = first.iter().any(|word| word == known || word == program);
        program_matches && self.rest(&command.words[1..]) == Matched::Yes
    }

    /// Whether a command may begin with these words, as a refusal needs it: a program matches by
    /// its name wherever it is, options before a subcommand are skipped.
    pub(crate) fn refuses(&self, command: &SimpleCommand) -> Matched {
        let Some(program) = command.program() else {
            return Matched::No;
        };
        let name = base_name(program);
        let first = &self.words[0].alternatives;
        if !first
            .iter()
            .any(|word| word == program || base_name(word) == name)
        {
            return Matched::No;
        }
        let direct = self.rest(&command.words[1..]);
        if direct == Matched::Yes {
            return direct;
        }
        match classify::without_global_options(&command.words) {
            Some(skeleton) => direct.max(self.rest(&skeleton[1..])),
            None => direct,
        }
    }

    fn rest(&self, words: &[Word]) -> Matched {
        let mut found = Matched::Yes;
        for (index, expected) in self.words[1..].iter().enumerate() {
            match words.get(index) {
                Some(word) => match word.literal() {
                    Some(value) if expected.alternatives.iter().any(|a| a == value) => {}
                    Some(_) => return Matched::No,
                    None => found = Matched::Maybe,
                },
                None => return Matched::No,
            }
        }
        found
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            if let [only] = word.alternatives.as_slice() {
                f.write_str(only)?;
            } else {
                write!(f, "({})", word.alternatives.join("|"))?;
            }
        }
        Ok(())
    }
}
