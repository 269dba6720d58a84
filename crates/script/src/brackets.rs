//! Brackets that do not match, in the words of whoever wrote the text.
//!
//! A parser says what it expected; which bracket was meant is told here, from the text alone. It is only asked when
//! the parser has found a mistake.

use crate::typescript::{SyntaxFault, position};

/// What is wrong with the brackets of a text, if anything.
pub(crate) fn explain(source: &str) -> Option<SyntaxFault> {
    let mut scan = Scan {
        source,
        at: 0,
        open: Vec::new(),
        last: None,
    };
    let fault = |message: String, at: usize| SyntaxFault {
        message,
        at: Some(position(source, at)),
    };
    while let Some((letter, at)) = scan.bracket() {
        if let '(' | '[' | '{' = letter {
            scan.open.push((letter, at));
            continue;
        }
        match scan.open.pop() {
            None => {
                return Some(fault(
                    format!(
                        "this `{letter}` closes nothing: every bracket before it is closed already"
                    ),
                    at,
                ));
            }
            Some((opened, from)) if closing(opened) != letter => {
                let line = position(source, from).line;
                return Some(fault(
                    format!(
                        "this `{letter}` does not close the `{opened}` of line {line}; is a `{}` missing?",
                        closing(opened)
                    ),
                    at,
                ));
            }
            Some(_) => {}
        }
    }
    let (opened, at) = *scan.open.first()?;
    let more = match scan.open.len() - 1 {
        0 => String::new(),
        more => format!(" (nor {more} more behind it)"),
    };
    Some(fault(
        format!(
            "this `{opened}` is never closed{more}: a `{}` is missing",
            closing(opened)
        ),
        at,
    ))
}

fn closing(opened: char) -> char {
    match opened {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

struct Scan<'a> {
    source: &'a str,
    at: usize,
    open: Vec<(char, usize)>,
    /// Where the last thing that is neither space nor comment ended.
    last: Option<usize>,
}

impl Scan<'_> {
    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// The next bracket outside of strings, comments, templates and regular expressions.
    fn bracket(&mut self) -> Option<(char, usize)> {
        loop {
            let letter = self.rest().chars().next()?;
            let at = self.at;
            match letter {
                '/' if self.rest().starts_with("//") => self.skip_to("\n"),
                '/' if self.rest().starts_with("/*") => self.skip_to("*/"),
                '/' if self.begins_a_regexp() => self.regexp(),
                '\'' | '"' => self.string(letter),
                '`' => self.template(),
                '}' if self.open.last() == Some(&TEMPLATE_HOLE) => {
                    self.open.pop();
                    self.template();
                }
                '(' | '[' | '{' | ')' | ']' | '}' => {
                    self.step(letter);
                    return Some((letter, at));
                }
                letter if letter.is_whitespace() => self.at += letter.len_utf8(),
                letter => self.step(letter),
            }
        }
    }

    fn step(&mut self, letter: char) {
        self.at += letter.len_utf8();
        self.last = Some(self.at);
    }

    fn skip_to(&mut self, end: &str) {
        let found = self.rest().find(end);
        self.at = found.map_or(self.source.len(), |found| self.at + found + end.len());
    }

    /// A slash divides after a value and begins an expression after anything else.
    fn begins_a_regexp(&self) -> bool {
        let before = self
            .source
            .get(..self.last.unwrap_or(0))
            .unwrap_or_default();
        let Some(letter) = before.chars().next_back() else {
            return true;
        };
        if letter == ')' || letter == ']' || letter == '}' {
            return false;
        }
        if !(letter.is_alphanumeric()
            || letter == '_'
            || letter == '$'
            || letter == '"'
            || letter == '\''
            || letter == '`')
        {
            return true;
        }
        let word = before.trim_end_matches(|letter: char| letter.is_alphanumeric());
        matches!(
            &before[word.len()..],
            "return" | "typeof" | "case" | "in" | "of" | "await" | "yield"
        )
    }

    fn string(&mut self, quote: char) {
        self.step(quote);
        while let Some(letter) = self.rest().chars().next() {
            self.step(letter);
            if letter == quote || letter == '\n' {
                return;
            }
            self.escaped(letter);
        }
    }

    fn regexp(&mut self) {
        let mut in_class = false;
        self.step('/');
        while let Some(letter) = self.rest().chars().next() {
            self.step(letter);
            match letter {
                '/' if !in_class => return,
                '\n' => return,
                '[' => in_class = true,
                ']' => in_class = false,
                letter => self.escaped(letter),
            }
        }
    }

    /// A template from its beginning, or from the end of a hole in it.
    fn template(&mut self) {
        if let Some(letter) = self.rest().chars().next() {
            self.step(letter);
        }
        while let Some(letter) = self.rest().chars().next() {
            if self.rest().starts_with("${") {
                self.at += 2;
                self.last = Some(self.at);
                self.open.push(TEMPLATE_HOLE);
                return;
            }
            self.step(letter);
            if letter == '`' {
                return;
            }
            self.escaped(letter);
        }
    }

    fn escaped(&mut self, letter: char) {
        if letter == '\\'
            && let Some(next) = self.rest().chars().next()
        {
            self.step(next);
        }
    }
}

/// The hole of a template among the open brackets.
const TEMPLATE_HOLE: (char, usize) = ('{', usize::MAX);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_explained_where_they_are() {
        for (source, words, line) in [
            ("if (a) {\n  b();\n", "`{` is never closed", 1),
            ("f(1, 2;\n", "`(` is never closed", 1),
            ("const a = [1, 2;\nf({ a: [1] });", "`[` is never closed", 1),
            ("if (a) {\n b();\n}\n}\nc();", "`}` closes nothing", 4),
            ("f((1);\n}", "does not close the `(` of line 1", 2),
            (
                "a = `x${ f({}) }y`;\n b = '}'; // }\n /* { */ c = /[}/]{2}/.test(d);\n)",
                "`)` closes nothing",
                4,
            ),
            ("return a / b / c; }", "`}` closes nothing", 1),
        ] {
            let fault = explain(source).unwrap();
            assert!(fault.message.contains(words), "{source}: {}", fault.message);
            assert_eq!(fault.at.map(|at| at.line), Some(line), "{source}");
        }
        for fine in [
            "",
            "a = { b: [(1)] }",
            "`${`${1}`}`",
            "'\\'}'",
            "x = 1 / (2) / 3",
        ] {
            assert!(explain(fine).is_none(), "{fine}");
        }
    }
}
