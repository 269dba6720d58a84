//! Reading what begins with `$`, backticks, and process substitutions.

use std::{cell::Cell, rc::Rc};

use super::{
    Build, Parsed, Parser, Trouble,
    tree::{Inner, Script},
    words::Until,
};
use crate::{
    facts::{
        unclear::Obstacle,
        word::{Piece, Word},
    },
    shell::ShellKind,
};

impl Parser<'_, '_> {
    /// `$` and what follows it.
    pub(super) fn dollar(&mut self, build: &mut Build, quoted: bool) -> Parsed<()> {
        self.budget.spend(1)?;
        match self.peek_at(1) {
            Some(b'(') => self.dollar_parenthesis(build, quoted),
            Some(b'{') => self.deeper(|parser| parser.dollar_brace(build, quoted)),
            Some(b'[') => self.syntax(),
            // `$=x`, `$^x` and their like are expansions there.
            Some(b'=' | b'^' | b'~' | b'+') if self.kind == ShellKind::Zsh => self.syntax(),
            Some(b'\'') if !quoted => self.ansi(build),
            Some(b'"') if !quoted => {
                self.at += 1;
                self.double(build)
            }
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                let name = self.text[self.at + 1..self.at + 2].to_owned();
                self.at += 2;
                let values = Vec::new();
                build.expansion(Piece::Parameter { name, values }, quoted);
                Ok(())
            }
            Some(digit) if digit.is_ascii_digit() => {
                let name = self.text[self.at + 1..self.at + 2].to_owned();
                self.at += 2;
                let values = Vec::new();
                build.expansion(Piece::Parameter { name, values }, quoted);
                Ok(())
            }
            Some(next) if next.is_ascii_alphabetic() || next == b'_' => {
                self.at += 1;
                let name = self.name()?;
                if self.kind == ShellKind::Zsh && self.peek() == Some(b'[') {
                    // An index there, which is evaluated.
                    return self.syntax();
                }
                let values = Vec::new();
                build.expansion(Piece::Parameter { name, values }, quoted);
                Ok(())
            }
            _ => {
                self.at += 1;
                build.push('$');
                Ok(())
            }
        }
    }

    /// A variable's name; empty if none begins here.
    pub(super) fn name(&mut self) -> Parsed<String> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.first().is_some_and(u8::is_ascii_digit) {
            return Ok(String::new());
        }
        let length = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        self.budget.spend(length)?;
        let name = self.text[self.at..self.at + length].to_owned();
        self.at += length;
        Ok(name)
    }

    /// `$((…))` if it is arithmetic, otherwise `$(…)`.
    fn dollar_parenthesis(&mut self, build: &mut Build, quoted: bool) -> Parsed<()> {
        if self.looking_at("$((") {
            let (start, pieces, inner) = (self.at, build.pieces.len(), build.text.inner.len());
            let evaluated = build.text.evaluated.len();
            self.at += 3;
            match self.deeper(|parser| parser.arithmetic(build, false)) {
                Ok(()) => return Ok(()),
                Err(Trouble {
                    why: Obstacle::Syntax,
                    ..
                }) => {
                    build.pieces.truncate(pieces);
                    build.text.inner.truncate(inner);
                    build.text.evaluated.truncate(evaluated);
                    self.at = start;
                }
                Err(trouble) => return Err(trouble),
            }
        }
        self.at += 2;
        let script = self.substituted()?;
        build.text.inner.push(Rc::new(Inner {
            script,
            process: false,
            inside_arithmetic: Cell::new(false),
        }));
        build.expansion(Piece::Command, quoted);
        Ok(())
    }

    /// The script up to the closing parenthesis, which is consumed.
    fn substituted(&mut self) -> Parsed<Script> {
        if !self.pending.is_empty() {
            return self.syntax();
        }
        let script = self.deeper(Self::parenthesised)?;
        if self.pending.is_empty() {
            Ok(script)
        } else {
            self.syntax()
        }
    }

    /// `<(…)` or `>(…)`.
    pub(super) fn process(&mut self, build: &mut Build) -> Parsed<()> {
        if self.kind == ShellKind::Sh {
            self.doubt();
        }
        self.at += 2;
        let script = self.substituted()?;
        build.text.inner.push(Rc::new(Inner {
            script,
            process: true,
            inside_arithmetic: Cell::new(false),
        }));
        build.piece(Piece::Process);
        Ok(())
    }

    /// `${…}`.
    fn dollar_brace(&mut self, build: &mut Build, quoted: bool) -> Parsed<()> {
        self.at += 2;
        if self.peek() == Some(b'!') {
            return self.keys(build);
        }
        let length = self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}');
        if length {
            self.at += 1;
        }
        let name = self.parameter_name()?;
        let start = self.at;
        self.subscript(&mut build.text)?;
        build.several |= !length && (name == "@" || self.text[start..self.at].contains('@'));
        if self.eat("}") {
            let values = Vec::new();
            let value = Piece::Parameter { name, values };
            build.expansion(if length { Piece::Arithmetic } else { value }, quoted);
            return Ok(());
        }
        let index = build.pieces.len();
        let defaults = matches!(self.peek(), Some(b'-' | b'=' | b'+'))
            || (self.peek() == Some(b':') && matches!(self.peek_at(1), Some(b'-' | b'=' | b'+')));
        if defaults && self.peek() == Some(b':') {
            self.at += 1;
        }
        if self.peek() == Some(b'=') {
            build.text.sets.push(name.clone());
        }
        match self.peek() {
            Some(b':') if !matches!(self.peek_at(1), Some(b'-' | b'=' | b'?' | b'+')) => {
                self.substring(build)?;
            }
            Some(b':' | b'-' | b'=' | b'?' | b'+' | b'#' | b'%' | b'/' | b'^' | b',') => {
                self.at += 1;
                self.operand(build, quoted)?;
            }
            Some(b'@') => return Err(self.trouble(Obstacle::Reevaluated)),
            _ => return self.syntax(),
        }
        // A default is one value that it may have; after another operator it may have any.
        let operand: Vec<Piece> = build.pieces.drain(index..).collect();
        let values = Word::from_pieces(String::new(), operand)
            .literal
            .filter(|_| defaults);
        build.computed_default |= values.is_none();
        build.text.computed_default |= values.is_none();
        let name = if defaults { name } else { String::new() };
        let values = values.into_iter().collect();
        build.expansion(Piece::Parameter { name, values }, quoted);
        Ok(())
    }

    /// `${!name[@]}`, the keys of an array. Every other `${!…}` is evaluated again.
    fn keys(&mut self, build: &mut Build) -> Parsed<()> {
        let trouble = self.trouble(Obstacle::Reevaluated);
        self.at += 1;
        let name = self.name()?;
        let closes = self.eat("[@]}") || self.eat("[*]}");
        if name.is_empty() || !closes || self.kind != ShellKind::Bash {
            return Err(trouble);
        }
        build.several = true;
        build.piece(Piece::Parameter {
            name: String::new(),
            values: Vec::new(),
        });
        Ok(())
    }

    fn parameter_name(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$') => {
                self.at += 1;
                Ok(self.text[self.at - 1..self.at].to_owned())
            }
            Some(next) if next.is_ascii_digit() => {
                let start = self.at;
                while self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    self.at += 1;
                    self.budget.spend(1)?;
                }
                Ok(self.text[start..self.at].to_owned())
            }
            _ => {
                let name = self.name()?;
                if name.is_empty() {
                    self.syntax()
                } else {
                    Ok(name)
                }
            }
        }
    }

    /// The word after an operator, up to `}`.
    fn operand(&mut self, build: &mut Build, quoted: bool) -> Parsed<()> {
        if quoted {
            while let Some(next) = self.peek() {
                match next {
                    b'}' => {
                        self.at += 1;
                        return Ok(());
                    }
                    // Single quotes mean different things here in different shells.
                    b'\'' => return self.syntax(),
                    b'"' => self.double(build)?,
                    _ => self.in_double(build, true)?,
                }
            }
            return self.syntax();
        }
        if let Some(operand) = self.deeper(|parser| parser.word(Until::Brace))? {
            build.absorb(&operand);
            build.pieces.extend(operand.word.as_pieces());
        }
        self.expect("}")
    }

    /// `` `…` ``.
    pub(super) fn backticks(&mut self, build: &mut Build, quoted: bool) -> Parsed<()> {
        self.at += 1;
        let mut script = String::new();
        loop {
            match self.bump()? {
                '`' => break,
                '\\' => match self.bump()? {
                    next @ ('$' | '`' | '\\') => script.push(next),
                    '"' if quoted => script.push('"'),
                    next => {
                        script.push('\\');
                        script.push(next);
                    }
                },
                next => script.push(next),
            }
        }
        let mut nested = self.nested(&script)?;
        let mut inner = Script::default();
        nested
            .whole(&mut inner)
            .map_err(|trouble| Trouble { at: 0, ..trouble })?;
        build.text.inner.push(Rc::new(Inner {
            script: inner,
            process: false,
            inside_arithmetic: Cell::new(false),
        }));
        build.expansion(Piece::Command, quoted);
        Ok(())
    }

    /// `$'…'`.
    fn ansi(&mut self, build: &mut Build) -> Parsed<()> {
        if self.kind == ShellKind::Sh {
            self.doubt();
        }
        self.at += 2;
        build.text.quoted = true;
        build.push_str("");
        loop {
            match self.bump()? {
                '\'' => return Ok(()),
                '\\' => {
                    let next = self.bump()?;
                    let value = self.ansi_escape(next)?;
                    build.push(value);
                }
                next => build.push(next),
            }
        }
    }

    fn ansi_escape(&mut self, next: char) -> Parsed<char> {
        Ok(match next {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '?' => next,
            'x' => self.code(16, 2, 0)?,
            'u' => self.code(16, 4, 0)?,
            'U' => self.code(16, 8, 0)?,
            '0'..='7' => self.code(8, 2, next.to_digit(8).unwrap_or(0))?,
            _ => return self.syntax(),
        })
    }

    fn code(&mut self, radix: u32, most: u32, mut value: u32) -> Parsed<char> {
        let mut digits = 0;
        while digits < most {
            let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(radix)) else {
                break;
            };
            value = value * radix + digit;
            self.at += 1;
            digits += 1;
            self.budget.spend(1)?;
        }
        // Bytes from 0x80 on would be joined into UTF-8; a NUL would cut the string.
        match char::from_u32(value) {
            Some(found) if value != 0 && value < 0x80 => Ok(found),
            Some(found) if radix == 16 && most > 2 && value >= 0xa0 => Ok(found),
            _ => self.syntax(),
        }
    }
}
