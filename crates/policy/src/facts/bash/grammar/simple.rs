//! Simple commands: assignments, words and redirections in any order.

use crate::facts::{
    bash::{
        Parsed, Parser,
        tree::{Assign, Body, Stage, Text},
        words::Until,
    },
    word::Word,
};

/// Builtins whose arguments are assignments.
const DECLARING: &[&str] = &["export", "declare", "local", "readonly", "typeset"];

impl Parser<'_, '_> {
    pub(super) fn simple(&mut self) -> Parsed<Stage> {
        let (mut assignments, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.blanks()?;
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if self.peek() == Some(b'#') {
                break;
            }
            let declares = words.first().is_some_and(|word: &Text| {
                word.word
                    .literal()
                    .is_some_and(|name| DECLARING.contains(&name))
            });
            if (words.is_empty() || declares) && self.assignment(&mut assignments, &mut words)? {
                continue;
            }
            let Some(word) = self.separate_word()? else {
                break;
            };
            if words.is_empty() && assignments.is_empty() && redirects.is_empty() && !word.quoted {
                self.blanks()?;
                if self.peek() == Some(b'(') {
                    self.at += 1;
                    self.blanks()?;
                    self.expect(")")?;
                    let Some(name) = word.word.literal else {
                        return self.syntax();
                    };
                    let body = self.function(name)?;
                    return Ok(Stage { body, redirects });
                }
            }
            words.push(word);
        }
        if assignments.is_empty() && words.is_empty() && redirects.is_empty() {
            return self.syntax();
        }
        Ok(Stage {
            body: Body::Simple { assignments, words },
            redirects,
        })
    }

    /// `name=value`, `name+=value`, `name=(…)`. After `export` and its like the assignment is also
    /// kept as a word.
    fn assignment(&mut self, found: &mut Vec<Assign>, words: &mut Vec<Text>) -> Parsed<bool> {
        let start = self.at;
        let name = self.name()?;
        if name.is_empty() {
            return Ok(false);
        }
        // Bash reads up to the closing bracket here, blanks and all.
        let mut key = Text::default();
        if self.peek() == Some(b'[') {
            self.subscript(&mut key)?;
            if !matches!(self.peek(), Some(b'=' | b'+')) {
                return self.syntax();
            }
        }
        if !(self.eat("+=") || self.eat("=")) {
            self.at = start;
            return Ok(false);
        }
        if self.eat("(") {
            loop {
                self.empty_lines()?;
                if self.eat(")") {
                    break;
                }
                let mut element = Text::default();
                self.element_key(&mut element);
                let Some(mut value) = self.separate_word()? else {
                    return self.syntax();
                };
                value.evaluated.append(&mut element.evaluated);
                found.push(Assign {
                    name: name.clone(),
                    value,
                });
            }
            // Anything that follows directly still belongs to the assignment.
            if !matches!(
                self.peek(),
                None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>')
            ) {
                return self.syntax();
            }
        } else {
            let mut value = self.word(Until::Blank)?.unwrap_or_default();
            value.evaluated.append(&mut key.evaluated);
            found.push(Assign { name, value });
        }
        if !words.is_empty() {
            let word = Word::of(&self.text[start..self.at]);
            words.push(Text {
                word,
                ..Text::default()
            });
        }
        Ok(true)
    }
}
