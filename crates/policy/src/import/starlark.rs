//! The literal subset of Starlark: calls of known functions with literal arguments.
//!
//! Assignments, operators, loops, `load` and everything else are refused, because what they would
//! do is not known without evaluating them.

use super::ImportError;

/// A call at the top of a file.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) arguments: Vec<(String, Value)>,
}

/// A literal.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Value>),
    Number(i64),
    Truth(bool),
    Nothing,
}

/// Reads the calls of a file.
pub(super) fn read(file: &str, text: &str) -> Result<Vec<Call>, ImportError> {
    let mut reader = Reader {
        file,
        text,
        at: 0,
        depth: 0,
    };
    let mut calls = Vec::new();
    loop {
        reader.space(true);
        if reader.at >= text.len() {
            return Ok(calls);
        }
        calls.push(reader.call()?);
    }
}

struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    at: usize,
    depth: u8,
}

impl Reader<'_> {
    fn refuse<T>(&self, problem: &str) -> Result<T, ImportError> {
        let line = 1 + self.text[..self.at].matches('\n').count();
        Err(ImportError::Unreadable {
            file: self.file.to_owned(),
            line,
            problem: problem.to_owned(),
            fix: "only calls with literal arguments are read, such as prefix_rule(pattern = [\"git\", \"log\"])",
        })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips blanks, comments, and new lines where they don't matter.
    fn space(&mut self, lines: bool) {
        while let Some(next) = self.peek() {
            match next {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' if lines => self.at += 1,
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn name(&mut self) -> String {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        let name = self.text[self.at..self.at + length].to_owned();
        self.at += length;
        name
    }

    fn call(&mut self) -> Result<Call, ImportError> {
        let line = 1 + self.text[..self.at].matches('\n').count();
        let name = self.name();
        self.space(false);
        if name.is_empty() || self.peek() != Some(b'(') {
            return self.refuse("this is no call");
        }
        self.at += 1;
        let mut arguments = Vec::new();
        loop {
            self.space(true);
            if self.peek() == Some(b')') {
                self.at += 1;
                break;
            }
            let key = self.name();
            self.space(true);
            if key.is_empty() || self.peek() != Some(b'=') {
                return self.refuse("an argument has no name");
            }
            self.at += 1;
            let value = self.value()?;
            if arguments.iter().any(|(known, _)| *known == key) {
                return self.refuse("an argument is given twice");
            }
            arguments.push((key, value));
            self.space(true);
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b')') => {}
                _ => return self.refuse("an argument is more than a literal"),
            }
        }
        self.space(false);
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        match self.peek() {
            None | Some(b'\n') => Ok(Call {
                line,
                name,
                arguments,
            }),
            _ => self.refuse("something follows the call"),
        }
    }

    fn value(&mut self) -> Result<Value, ImportError> {
        self.space(true);
        if self.depth > 8 {
            return self.refuse("lists are nested too deep");
        }
        match self.peek() {
            Some(b'"' | b'\'') => {
                let mut text = self.string()?;
                // Adjacent literals are no concatenation in Starlark.
                self.space(true);
                if matches!(self.peek(), Some(b'"' | b'\'')) {
                    return self.refuse("two texts without a comma");
                }
                text.shrink_to_fit();
                Ok(Value::Text(text))
            }
            Some(open @ (b'[' | b'(')) => {
                let close = if open == b'[' { b']' } else { b')' };
                self.at += 1;
                self.depth += 1;
                let mut values = Vec::new();
                loop {
                    self.space(true);
                    if self.peek() == Some(close) {
                        self.at += 1;
                        self.depth -= 1;
                        return Ok(Value::List(values));
                    }
                    values.push(self.value()?);
                    self.space(true);
                    match self.peek() {
                        Some(b',') => self.at += 1,
                        Some(next) if next == close => {}
                        _ => return self.refuse("an element is more than a literal"),
                    }
                }
            }
            Some(next) if next.is_ascii_digit() => match self.name().parse() {
                Ok(number) => Ok(Value::Number(number)),
                Err(_) => self.refuse("a number is not understood"),
            },
            _ => match self.name().as_str() {
                "True" => Ok(Value::Truth(true)),
                "False" => Ok(Value::Truth(false)),
                "None" => Ok(Value::Nothing),
                _ => self.refuse("this is no literal"),
            },
        }
    }

    fn string(&mut self) -> Result<String, ImportError> {
        let quote = &self.text[self.at..=self.at];
        let triple = quote.repeat(3);
        let close = if self.text[self.at..].starts_with(&triple) {
            triple.as_str()
        } else {
            quote
        };
        self.at += close.len();
        let mut value = String::new();
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with(close) {
                self.at += close.len();
                return Ok(value);
            }
            let Some(next) = rest.chars().next() else {
                return self.refuse("a text has no end");
            };
            self.at += next.len_utf8();
            match next {
                '\n' if close.len() == 1 => return self.refuse("a text has no end"),
                '\\' => {
                    let Some(escaped) = self.text[self.at..].chars().next() else {
                        return self.refuse("a text has no end");
                    };
                    self.at += escaped.len_utf8();
                    match escaped {
                        'n' => value.push('\n'),
                        't' => value.push('\t'),
                        'r' => value.push('\r'),
                        '\\' | '\'' | '"' => value.push(escaped),
                        '\n' => {}
                        _ => return self.refuse("an escape is not understood"),
                    }
                }
                next => value.push(next),
            }
        }
    }
}
