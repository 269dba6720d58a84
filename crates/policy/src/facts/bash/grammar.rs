//! The grammar above words: lists, pipelines, simple and compound commands, redirections.

use super::{
    Build, Parsed, Parser,
    tree::{Assign, Body, Link, Script, Stage, Statement, Text},
    words::Until,
};
use crate::shell::ShellKind;

/// Words that the grammar reserves where a command may begin.
const RESERVED: &[&str] = &[
    "if", "then", "elif", "else", "fi", "for", "while", "until", "select", "do", "done", "case",
    "esac", "function", "time", "coproc", "{", "}", "!", "[[", "]]", "in",
];

/// Words of Zsh that would be read as programs here.
const ZSH_RESERVED: &[&str] = &[
    "repeat",
    "foreach",
    "end",
    "nocorrect",
    "noglob",
    "always",
    "-",
];

/// Builtins whose arguments are assignments.
const DECLARING: &[&str] = &["export", "declare", "local", "readonly", "typeset"];

/// What ends a list.
#[derive(Clone, Copy)]
enum End<'e> {
    Text,
    Parenthesis,
    Arm,
    Words(&'e [&'e str]),
}

impl Parser<'_, '_> {
    /// The whole text as a list.
    pub(super) fn whole(&mut self, script: &mut Script) -> Parsed<()> {
        self.list(script, End::Text)?;
        if self.at < self.text.len() || !self.pending.is_empty() {
            return self.syntax();
        }
        Ok(())
    }

    /// A list and its closing parenthesis.
    pub(super) fn parenthesised(&mut self) -> Parsed<Script> {
        let mut script = Script::default();
        self.list(&mut script, End::Parenthesis)?;
        self.expect(")")?;
        Ok(script)
    }

    fn list(&mut self, script: &mut Script, end: End<'_>) -> Parsed<()> {
        let mut link = Link::First;
        loop {
            self.empty_lines()?;
            if self.at_end(end) {
                return Ok(());
            }
            let first = script.statements.len();
            self.and_or(script, link)?;
            link = Link::Next;
            self.blanks()?;
            match self.peek() {
                Some(b'&') => {
                    self.at += 1;
                    for statement in &mut script.statements[first..] {
                        statement.background = true;
                    }
                }
                Some(b';') if !matches!(self.peek_at(1), Some(b';' | b'&')) => self.at += 1,
                Some(b'\n' | b'#') | None => {}
                _ if self.at_end(end) => return Ok(()),
                _ => return self.syntax(),
            }
        }
    }

    fn at_end(&self, end: End<'_>) -> bool {
        match end {
            End::Text => self.at >= self.text.len(),
            End::Parenthesis => self.peek() == Some(b')'),
            End::Arm => {
                self.looking_at(";;") || self.looking_at(";&") || self.reserved() == Some("esac")
            }
            End::Words(words) => self.reserved().is_some_and(|found| words.contains(&found)),
        }
    }

    /// Skips blanks, newlines and comments.
    fn empty_lines(&mut self) -> Parsed<()> {
        loop {
            self.blanks()?;
            match self.peek() {
                Some(b'\n') => self.newline()?,
                Some(b'#') => {
                    let rest = &self.text[self.at..];
                    let length = rest.find('\n').unwrap_or(rest.len());
                    self.budget.spend(length)?;
                    self.at += length;
                }
                _ => return Ok(()),
            }
        }
    }

    fn and_or(&mut self, script: &mut Script, first: Link) -> Parsed<()> {
        let mut link = first;
        loop {
            let mut statement = Statement {
                stages: Vec::new(),
                link,
                background: false,
                prefixed: false,
            };
            let read = self.pipeline(&mut statement);
            script.statements.push(statement);
            read?;
            self.blanks()?;
            link = if self.eat("&&") {
                Link::And
            } else if self.eat("||") {
                Link::Or
            } else {
                return Ok(());
            };
            self.empty_lines()?;
        }
    }

    fn pipeline(&mut self, statement: &mut Statement) -> Parsed<()> {
        loop {
            self.blanks()?;
            match self.reserved() {
                Some("!") => {
                    statement.prefixed = true;
                    self.at += 1;
                }
                Some("time") => {
                    statement.prefixed = true;
                    self.at += 4;
                    self.blanks()?;
                    if self.looking_at("-p ") {
                        self.at += 2;
                    }
                }
                _ => break,
            }
        }
        loop {
            let stage = self.stage()?;
            statement.stages.push(stage);
            self.blanks()?;
            if self.looking_at("||") || !(self.eat("|&") || self.eat("|")) {
                return Ok(());
            }
            self.empty_lines()?;
        }
    }

    /// The reserved word that begins here, if one does.
    fn reserved(&self) -> Option<&'static str> {
        let rest = &self.text.as_bytes()[self.at..];
        let first = *rest.first()?;
        if !(first.is_ascii_lowercase() || matches!(first, b'{' | b'}' | b'!' | b'[' | b']' | b'-'))
        {
            return None;
        }
        let ends = |length: usize| {
            matches!(
                rest.get(length),
                None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
            ) || rest[length..].starts_with(b"\\\n")
        };
        let find = |words: &'static [&'static str]| {
            words
                .iter()
                .copied()
                .find(|w| rest.starts_with(w.as_bytes()) && ends(w.len()))
        };
        find(RESERVED).or_else(|| {
            if self.kind == ShellKind::Zsh {
                find(ZSH_RESERVED)
            } else {
                None
            }
        })
    }

    fn stage(&mut self) -> Parsed<Stage> {
        self.budget.spend(24)?;
        let body = match self.reserved() {
            None if self.peek() == Some(b'(') => Some(self.deeper(Self::subshell)?),
            // Behind a pipe `time` is the program of that name.
            None | Some("time") => None,
            Some(word) => {
                self.at += word.len();
                Some(self.deeper(|parser| parser.compound(word))?)
            }
        };
        match body {
            Some(body) => {
                let mut redirects = Vec::new();
                loop {
                    self.blanks()?;
                    let Some(redirect) = self.redirect()? else {
                        break;
                    };
                    redirects.push(redirect);
                }
                Ok(Stage { body, redirects })
            }
            None => self.simple(),
        }
    }

    fn subshell(&mut self) -> Parsed<Body> {
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
                Err(trouble) if trouble.why == crate::facts::unclear::Obstacle::Syntax => {
                    self.at = start;
                }
                Err(trouble) => return Err(trouble),
            }
        }
        self.at += 1;
        let script = self.parenthesised()?;
        Ok(Body::Group(self.filled(script)?))
    }

    fn compound(&mut self, word: &str) -> Parsed<Body> {
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

    fn function(&mut self, name: String) -> Parsed<Body> {
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

    fn simple(&mut self) -> Parsed<Stage> {
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
            let word = crate::facts::word::Word::of(&self.text[start..self.at]);
            words.push(Text {
                word,
                ..Text::default()
            });
        }
        Ok(true)
    }

    /// A word that stands by itself; `#` in front of it begins a comment.
    pub(super) fn separate_word(&mut self) -> Parsed<Option<Text>> {
        self.separate(Until::Blank)
    }

    fn separate(&mut self, until: Until) -> Parsed<Option<Text>> {
        if self.peek() == Some(b'#') {
            return Ok(None);
        }
        self.word(until)
    }
}
