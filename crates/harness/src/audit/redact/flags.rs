//! Secrets by where they stand in a command: behind a flag whose name says so, or where a program
//! is known to take one.
//!
//! A command reaches from one operator to the next. Any word of it that is the name of a program
//! in the table makes it that program's: whatever stands in front (`sudo`, `timeout 5`, `docker
//! exec db`) does not hide it.

use super::programs::{READERS, ROWS, Takes, is_known};
use super::words::{Word, unquoted};
use super::{Span, is_reference, spoken};

/// Finds secrets; reports the word and the part of it.
pub(super) fn find(words: &[Word<'_>], mut report: impl FnMut(usize, Span)) {
    let mut start = 0;
    let mut producer: Option<Command<'_, '_>> = None;
    while start < words.len() {
        let length = words[start..].iter().position(Word::is_operator);
        let end = length.map_or(words.len(), |length| start + length);
        let command = Command {
            words: &words[start..end],
            first: start,
        };
        spoken::find(&command, &mut report);
        command.placed(&mut report);
        if command.reads_a_secret() || spoken::reads_into_a_secret(&command) {
            command.here_string(&mut report);
            if let Some(producer) = &producer {
                producer.printed(&mut report);
            }
        }
        let piped = words.get(end).is_some_and(|word| word.text == "|");
        producer = (piped && !command.words.is_empty()).then_some(command);
        start = end + 1;
    }
}

/// The words between two operators.
#[derive(Clone, Copy)]
pub(super) struct Command<'w, 't> {
    pub(super) words: &'w [Word<'t>],
    /// The place of the first among all.
    first: usize,
}

/// The program that a word names.
pub(super) fn base(word: &Word<'_>) -> String {
    let (text, _) = word.bare();
    text.rsplit('/').next().unwrap_or(text).to_owned()
}

impl Command<'_, '_> {
    /// The programs of the table that are named, each where it is named first: a text that names
    /// one a thousand times is not looked through a thousand times.
    fn programs(&self) -> Vec<(usize, String)> {
        let mut found: Vec<(usize, String)> = Vec::new();
        for (at, word) in self.words.iter().enumerate() {
            let program = base(word);
            if is_known(&program) && !found.iter().any(|(_, known)| *known == program) {
                found.push((at, program));
            }
        }
        found
    }

    /// Secrets where a program takes them.
    fn placed(&self, report: &mut impl FnMut(usize, Span)) {
        for (at, program) in self.programs() {
            let rows = ROWS.iter();
            for (_, before, takes) in rows.filter(|(of, ..)| of.contains(&program.as_str())) {
                if let Some(from) = self.behind(at, before) {
                    self.taken(from, *takes, report);
                }
            }
        }
    }

    /// The place behind all of these words, in any order, that follow a place.
    fn behind(&self, at: usize, wanted: &[&str]) -> Option<usize> {
        wanted.iter().try_fold(at + 1, |behind, wanted| {
            let found = self.words[at + 1..]
                .iter()
                .position(|word| word.bare().0 == *wanted)?;
            Some(behind.max(at + 1 + found + 1))
        })
    }

    fn taken(&self, from: usize, takes: Takes, report: &mut impl FnMut(usize, Span)) {
        let places = from..self.words.len();
        match takes {
            Takes::Operand(number) => {
                let mut operands = places.filter(|at| !self.words[*at].text.starts_with('-'));
                if let Some(at) = operands.nth(number - 1) {
                    self.whole(at, report);
                }
            }
            Takes::Paired(number, sign) => {
                let mut operands = places.filter(|at| !self.words[*at].text.starts_with('-'));
                if let Some(at) = operands.nth(number - 1) {
                    self.after(at, sign, 0, report);
                }
            }
            Takes::EveryAssigned => places.for_each(|at| self.after(at, '=', 0, report)),
            Takes::Login => {
                for at in places {
                    let (text, span) = self.words[at].bare();
                    let login = text.split_once('/').and_then(|(user, rest)| {
                        let secret = rest.rsplit_once('@').map_or(rest, |(secret, _)| secret);
                        let start = span.start + user.len() + 1;
                        (!user.starts_with('-')).then_some(start..start + secret.len())
                    });
                    if let Some(span) = login {
                        self.part(at, span, report);
                    }
                }
            }
            Takes::Next(flag)
            | Takes::Attached(flag)
            | Takes::Either(flag)
            | Takes::After(flag, _)
            | Takes::IfAssigned(flag)
            | Takes::Assigned(flag) => {
                // A flag may stand before the subcommand as well.
                (0..self.words.len()).for_each(|at| self.flag(at, flag, takes, report));
            }
        }
    }

    /// The secret that a flag holds or that follows it, if this word is the flag.
    fn flag(&self, at: usize, flag: &str, takes: Takes, report: &mut impl FnMut(usize, Span)) {
        let (text, _) = self.words[at].bare();
        let long = flag.starts_with("--");
        let is_flag = text == flag || ends_a_cluster(text, flag);
        let attached = text
            .strip_prefix(flag)
            .filter(|rest| !rest.is_empty() && (!long || rest.starts_with('=')))
            .map(|rest| usize::from(rest.starts_with('=')) + flag.len());
        match (takes, attached) {
            (Takes::Attached(_) | Takes::Either(_), Some(offset)) => {
                self.from(at, offset, report);
            }
            (Takes::Next(_), Some(offset)) if long => self.from(at, offset, report),
            (Takes::Next(_) | Takes::Either(_), None) if is_flag => self.whole(at + 1, report),
            (Takes::After(_, sign), Some(offset)) => self.after(at, sign, offset, report),
            (Takes::After(_, sign), None) if is_flag => self.after(at + 1, sign, 0, report),
            (Takes::Assigned(_), Some(offset)) => self.after(at, '=', offset, report),
            (Takes::Assigned(_), None) if is_flag => self.after(at + 1, '=', 0, report),
            (Takes::IfAssigned(_), Some(offset)) if text[offset..].contains('=') => {
                self.from(at, offset, report);
            }
            (Takes::IfAssigned(_), None) if is_flag => {
                let assigned = self.words.get(at + 1);
                if assigned.is_some_and(|word| word.text.contains('=')) {
                    self.whole(at + 1, report);
                }
            }
            _ => {}
        }
    }

    fn reads_a_secret(&self) -> bool {
        self.programs().iter().any(|(at, program)| {
            READERS.iter().any(|(programs, wanted)| {
                programs.contains(&program.as_str()) && self.behind(*at, wanted).is_some()
            })
        })
    }

    /// What stands behind `<<<`.
    fn here_string(&self, report: &mut impl FnMut(usize, Span)) {
        for (at, word) in self.words.iter().enumerate() {
            if word.text == "<<<" {
                self.whole(at + 1, report);
            } else if let Some(rest) = word.text.strip_prefix("<<<") {
                let start = word.text.len() - rest.len();
                self.part(at, start..word.text.len(), report);
            }
        }
    }

    /// What `echo` and `printf` put into a pipe; of `user:secret` what follows the sign.
    fn printed(&self, report: &mut impl FnMut(usize, Span)) {
        let Some(at) = self
            .words
            .iter()
            .position(|word| matches!(base(word).as_str(), "echo" | "printf" | "print"))
        else {
            return;
        };
        let operands: Vec<usize> = (at + 1..self.words.len())
            .filter(|at| !self.words[*at].text.starts_with(['-', '>']))
            .collect();
        for at in &operands {
            let (text, span) = self.words[*at].bare();
            // The format, where there is something to be put into it.
            if text.contains('%') && operands.len() > 1 && *at == operands[0] {
                continue;
            }
            match text.split_once(':') {
                Some((user, _)) if !user.is_empty() => {
                    self.part(*at, span.start + user.len() + 1..span.end, report);
                }
                _ => self.whole(*at, report),
            }
        }
    }

    pub(super) fn whole(&self, at: usize, report: &mut impl FnMut(usize, Span)) {
        self.from(at, 0, report);
    }

    /// A word from a place on.
    pub(super) fn from(&self, at: usize, offset: usize, report: &mut impl FnMut(usize, Span)) {
        if let Some(word) = self.words.get(at) {
            let (_, span) = word.bare();
            self.part(at, span.start + offset..span.end, report);
        }
    }

    /// What follows a sign in a word, from a place on.
    fn after(&self, at: usize, sign: char, offset: usize, report: &mut impl FnMut(usize, Span)) {
        let Some(word) = self.words.get(at) else {
            return;
        };
        let (text, span) = word.bare();
        if let Some((before, _)) = text[offset..].split_once(sign) {
            let start = span.start + offset + before.len() + sign.len_utf8();
            self.part(at, start..span.end, report);
        }
    }

    /// A part of a word, unless it only refers to a secret.
    fn part(&self, at: usize, span: Span, report: &mut impl FnMut(usize, Span)) {
        let word = self.words[at];
        let inner = unquoted(word.text, span);
        let value = &word.text[inner.clone()];
        let single = word.text[..inner.start].ends_with('\'');
        if !value.is_empty() && value != super::REDACTED && (single || !refers(value)) {
            report(self.first + at, inner);
        }
    }
}

/// Whether all of a value, or what is left of it without a name in front, is put in by the shell.
fn refers(value: &str) -> bool {
    is_reference(value) || matches!(value, "-" | "{}")
}

/// Whether a word is several flags of one letter with this one last: `-sSfu`.
fn ends_a_cluster(text: &str, flag: &str) -> bool {
    let short = flag.len() == 2 && !flag.starts_with("--");
    short
        && text.len() > 2
        && text.starts_with('-')
        && text[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
        && text.ends_with(&flag[1..])
        && !text.starts_with(flag)
}
