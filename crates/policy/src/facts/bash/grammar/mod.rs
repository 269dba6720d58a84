//! The grammar above words: lists and pipelines. Compound and simple commands are beside it.

mod compound;
mod simple;

use super::{
    Parsed, Parser,
    tree::{Link, Script, Stage, Statement, Text},
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
    pub(in crate::facts::bash) fn whole(&mut self, script: &mut Script) -> Parsed<()> {
        self.list(script, End::Text)?;
        if self.at < self.text.len() || !self.pending.is_empty() {
            return self.syntax();
        }
        Ok(())
    }

    /// A list and its closing parenthesis.
    pub(in crate::facts::bash) fn parenthesised(&mut self) -> Parsed<Script> {
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

    /// A word that stands by itself; `#` in front of it begins a comment.
    pub(in crate::facts::bash) fn separate_word(&mut self) -> Parsed<Option<Text>> {
        self.separate(Until::Blank)
    }

    fn separate(&mut self, until: Until) -> Parsed<Option<Text>> {
        if self.peek() == Some(b'#') {
            return Ok(None);
        }
        self.word(until)
    }
}
