//! Compound commands: groups, loops, branches, cases, functions, tests.

use super::End;
use crate::{
    facts::{
        bash::{
            Build, Parsed, Parser,
            tree::{Body, Script, Text},
            words::Until,
        },
        unclear::Obstacle,
    },
    shell::ShellKind,
};

impl Parser<'_, '_> {
    pub(super) fn subshell(&mut self) -> Parsed<Body> {
        if self.looking_at("((") {
            let start = self.at;
            if self.kind == ShellKind::Sh {
                // Arithmetic for some of these shells, two subshells for the others.
                self.doubt();
                self.at += 1;
                if let Ok(script) = self.parenthesised() {
                    return Ok(Body::Group(script));
                }
                self.at = start;
            }
            self.at += 2;
            let mut build = Build::default();
            match self.arithmetic(&mut build, false) {
                Ok(()) => return Ok(Body::Arithmetic(build.finish(&self.text[start..self.at]))),
                Err(trouble) if trouble.why == Obstacle::Syntax => {
                    self.at = start;
                }
                Err(trouble) => return Err(trouble),
            }
        }
        self.at += 1;
        let script = self.parenthesised()?;
        Ok(Body::Group(self.filled(script)?))
    }

    pub(super) fn compound(&mut self, word: &str) -> Parsed<Body> {
        match word {
            "{" => Ok(Body::Group(self.until(&["}"])?)),
            "if" => self.branches(),
            "while" | "until" => {
                let condition = self.until(&["do"])?;
                let body = self.until(&["done"])?;
                Ok(Body::Loop {
                    words: Vec::new(),
                    variable: None,
                    parts: vec![condition, body],
                })
            }
            "for" | "select" => self.for_loop(),
            "case" => self.case(),
            "function" => {
                self.blanks()?;
                let Some(name) = self.separate_word()? else {
                    return self.syntax();
                };
                let Some(name) = name.word.literal else {
                    return self.syntax();
                };
                self.blanks()?;
                if self.eat("(") {
                    self.blanks()?;
                    self.expect(")")?;
                }
                self.function(name)
            }
            "[[" => self.test(),
            "coproc" => {
                // Whether the next word is a name or a program depends on what follows it.
                self.doubt();
                self.blanks()?;
                Ok(Body::Coprocess(Box::new(self.stage()?)))
            }
            _ => self.syntax(),
        }
    }

    /// A list up to one of these words, which is consumed.
    fn until(&mut self, words: &[&str]) -> Parsed<Script> {
        let mut script = Script::default();
        self.list(&mut script, End::Words(words))?;
        match self.reserved() {
            Some(found) if words.contains(&found) => self.at += found.len(),
            _ => return self.syntax(),
        }
        self.filled(script)
    }

    /// A list that must not be empty.
    fn filled(&self, script: Script) -> Parsed<Script> {
        if script.statements.is_empty() {
            return self.syntax();
        }
        Ok(script)
    }

    fn branches(&mut self) -> Parsed<Body> {
        let mut parts = vec![self.until(&["then"])?];
        loop {
            let mut part = Script::default();
            self.list(&mut part, End::Words(&["elif", "else", "fi"]))?;
            parts.push(self.filled(part)?);
            match self.reserved() {
                Some("elif") => {
                    self.at += 4;
                    parts.push(self.until(&["then"])?);
                }
                Some("else") => {
                    self.at += 4;
                    parts.push(self.until(&["fi"])?);
                    return Ok(Body::Branches(parts));
                }
                Some("fi") => {
                    self.at += 2;
                    return Ok(Body::Branches(parts));
                }
                _ => return self.syntax(),
            }
        }
    }

    fn for_loop(&mut self) -> Parsed<Body> {
        self.blanks()?;
        let (mut words, mut variable) = (Vec::new(), None);
        if self.eat("((") {
            let mut build = Build::default();
            let start = self.at;
            self.arithmetic(&mut build, true)?;
            words.push(build.finish(&self.text[start..self.at]));
            self.blanks()?;
            self.eat(";");
        } else {
            let name = self.name()?;
            if name.is_empty() {
                return self.syntax();
            }
            variable = Some(name);
            self.empty_lines()?;
            if self.reserved() == Some("in") {
                self.at += 2;
                loop {
                    self.blanks()?;
                    let Some(word) = self.separate_word()? else {
                        break;
                    };
                    words.push(word);
                }
                if !self.eat(";") && self.peek() != Some(b'\n') {
                    return self.syntax();
                }
            } else {
                self.eat(";");
            }
        }
        self.empty_lines()?;
        let body = match self.reserved() {
            Some("do") => {
                self.at += 2;
                self.until(&["done"])?
            }
            Some("{") => {
                self.at += 1;
                self.until(&["}"])?
            }
            _ => return self.syntax(),
        };
        Ok(Body::Loop {
            words,
            variable,
            parts: vec![body],
        })
    }

    fn case(&mut self) -> Parsed<Body> {
        self.blanks()?;
        let Some(subject) = self.separate_word()? else {
            return self.syntax();
        };
        let (mut words, mut arms) = (vec![subject], Vec::new());
        self.empty_lines()?;
        if self.reserved() != Some("in") {
            return self.syntax();
        }
        self.at += 2;
        loop {
            self.empty_lines()?;
            if self.reserved() == Some("esac") {
                self.at += 4;
                return Ok(Body::Case { words, arms });
            }
            self.eat("(");
            loop {
                self.blanks()?;
                let Some(pattern) = self.separate_word()? else {
                    return self.syntax();
                };
                words.push(pattern);
                self.blanks()?;
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            let mut arm = Script::default();
            self.list(&mut arm, End::Arm)?;
            arms.push(arm);
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    pub(super) fn function(&mut self, name: String) -> Parsed<Body> {
        self.empty_lines()?;
        let body = self.deeper(Self::stage)?;
        if matches!(
            body.body,
            Body::Simple { .. } | Body::Function { .. } | Body::Coprocess(_)
        ) {
            return self.syntax();
        }
        Ok(Body::Function {
            name,
            body: Box::new(body),
        })
    }

    /// `[[ … ]]`, after the opening.
    fn test(&mut self) -> Parsed<Body> {
        let mut words: Vec<Text> = Vec::new();
        loop {
            self.blanks()?;
            match self.peek() {
                Some(b'\n') => self.newline()?,
                Some(b'(' | b')') => self.at += 1,
                Some(b'<' | b'>') if self.peek_at(1) != Some(b'(') => self.at += 1,
                Some(b'&') => self.expect("&&")?,
                Some(b'|') => self.expect("||")?,
                _ => {
                    let pattern = words.last().is_some_and(|w| w.word.is("=~"));
                    let until = if pattern {
                        Until::Pattern
                    } else {
                        Until::Blank
                    };
                    let Some(word) = self.separate(until)? else {
                        return self.syntax();
                    };
                    if word.word.is("]]") && !word.quoted {
                        return Ok(Body::Test(words));
                    }
                    words.push(word);
                }
            }
            self.budget.spend(1)?;
        }
    }
}
