//! The directories that a command may be in, as `cd` changes them on the walk.

use super::{Spot, Walker};
use crate::facts::word::{Piece, Word};

/// How many directories a command may be in before they count as unknown.
const MAX_DIRECTORIES: usize = 6;

impl Walker {
    pub(super) fn change_directory(&mut self, words: &[Word], _spot: &Spot) {
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
    pub(in crate::facts) fn enter(&mut self, target: &Word) {
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
}
