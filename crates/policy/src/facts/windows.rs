//! What the two Windows shells have in common: reading literal pipelines.
//!
//! Only text whose meaning is the same under every reading is understood; anything else is
//! reported as not understood.

use super::{
    Facts,
    command::{Direction, Directory, Position, Redirection, SimpleCommand},
    unclear::{Obstacle, Unclear},
    word::Word,
};
use crate::shell::ShellKind;

/// Facts about an argv whose program is a Windows shell, such as `["pwsh", "-Command", "…"]`.
pub(super) fn of_argv(argv: &[String]) -> Option<Facts> {
    let kind = ShellKind::of_program(argv.first()?)?;
    if kind.is_bourne() {
        return None;
    }
    let flag = argv[1..].iter().position(|word| {
        let lower = word.to_ascii_lowercase();
        match kind {
            ShellKind::Cmd => lower == "/c" || lower == "/k",
            _ => lower == "-command" || lower == "-c",
        }
    });
    let quiet = |word: &String| {
        let lower = word.to_ascii_lowercase();
        matches!(
            lower.as_str(),
            "-noprofile" | "-nologo" | "-noninteractive" | "/d" | "/q" | "/s"
        )
    };
    match flag {
        Some(at) if argv[1..=at].iter().all(quiet) => {
            let text = argv[at + 2..].join(" ");
            Some(match kind {
                ShellKind::Cmd => super::cmd::understand(&text),
                _ => super::powershell::understand(&text),
            })
        }
        _ => {
            let mut facts = Facts {
                shell: Some(kind),
                ..Facts::default()
            };
            facts
                .commands
                .push(plain(argv.iter().map(Word::of).collect(), 0, 0));
            facts
                .not_understood
                .push(Unclear::new(Obstacle::WrapperOptions, &argv.join(" ")));
            Some(facts)
        }
    }
}

/// How a shell separates and quotes.
pub(super) struct Dialect {
    pub(super) kind: ShellKind,
    /// Characters that make a text more than a literal pipeline.
    pub(super) refuses: &'static str,
    /// Quotes, inside which everything stands for itself except what `refuses_quoted` names.
    pub(super) quotes: &'static str,
    pub(super) refuses_quoted: &'static str,
    /// Operators that separate commands, longest first.
    pub(super) separators: &'static [&'static str],
}

/// Reads a text as a list of literal pipelines.
pub(super) fn read(text: &str, dialect: &Dialect) -> Facts {
    let mut facts = Facts {
        shell: Some(dialect.kind),
        ..Facts::default()
    };
    facts.steps = u32::try_from(text.len())
        .unwrap_or(u32::MAX)
        .min(super::MAX_STEPS);
    if text.len() > super::bash::MAX_BYTES {
        facts
            .not_understood
            .push(Unclear::new(Obstacle::TooLong, ""));
        return facts;
    }
    let mut reader = Reader {
        dialect,
        facts,
        words: Vec::new(),
        word: None,
        pipeline: 0,
        stage: 0,
    };
    reader.read(text);
    reader.facts
}

struct Reader<'d> {
    dialect: &'d Dialect,
    facts: Facts,
    words: Vec<Word>,
    word: Option<String>,
    pipeline: usize,
    stage: usize,
}

impl Reader<'_> {
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            if let Some(separator) = self
                .dialect
                .separators
                .iter()
                .find(|s| rest.starts_with(**s))
            {
                rest = &rest[separator.len()..];
                self.end_command();
                if *separator == "|" {
                    self.stage += 1;
                } else {
                    self.pipeline += 1;
                    self.stage = 0;
                }
                continue;
            }
            if next == '>' || next == '<' {
                match self.redirect(rest) {
                    Some(after) => rest = after,
                    None => return self.refuse(rest),
                }
                continue;
            }
            if self.dialect.refuses.contains(next) || next.is_control() && next != '\t' {
                return self.refuse(rest);
            }
            rest = &rest[next.len_utf8()..];
            if next == ' ' || next == '\t' {
                self.end_word();
            } else if self.dialect.quotes.contains(next) {
                let Some((inside, after)) = rest.split_once(next) else {
                    return self.refuse(rest);
                };
                if inside.contains(|c| self.dialect.refuses_quoted.contains(c)) && next != '\'' {
                    return self.refuse(rest);
                }
                if after.starts_with(next) {
                    return self.refuse(rest);
                }
                self.word.get_or_insert_default().push_str(inside);
                rest = after;
            } else if next.is_whitespace() {
                return self.refuse(rest);
            } else {
                self.word.get_or_insert_default().push(next);
            }
        }
        self.end_command();
        if self.facts.commands.is_empty() && self.facts.not_understood.is_empty() {
            self.facts
                .not_understood
                .push(Unclear::new(Obstacle::Syntax, ""));
        }
    }

    /// `> file`, `>> file`, `2>&1`; the rest after it.
    fn redirect<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let descriptor = self.word.as_deref().is_some_and(|w| w == "1" || w == "2");
        if descriptor {
            self.word = None;
        }
        self.end_word();
        let (direction, rest) = if let Some(rest) = text.strip_prefix(">>") {
            (Direction::Append, rest)
        } else if let Some(rest) = text.strip_prefix('>') {
            (Direction::Write, rest)
        } else {
            (Direction::Read, &text[1..])
        };
        if let Some(rest) = rest.strip_prefix("&1") {
            return Some(rest);
        }
        let rest = rest.trim_start_matches(' ');
        let end = rest
            .find([' ', '|', '&', ';', '<', '>'])
            .unwrap_or(rest.len());
        let target = &rest[..end];
        let refused = |c| self.dialect.refuses.contains(c) || self.dialect.quotes.contains(c);
        if target.is_empty() || target.contains(refused) {
            return None;
        }
        self.facts.redirections.push(Redirection {
            direction,
            target: Word::of(target),
            command: None,
            directory: Directory {
                chains: vec![Vec::new()],
                unknown: false,
            },
            pipeline: self.pipeline,
        });
        Some(&rest[end..])
    }

    fn refuse(&mut self, rest: &str) {
        self.end_command();
        self.facts
            .not_understood
            .push(Unclear::new(Obstacle::UnsupportedLanguage, rest));
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take().map(Word::of));
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.facts
                .commands
                .push(plain(words, self.pipeline, self.stage));
        }
    }
}

fn plain(words: Vec<Word>, pipeline: usize, stage: usize) -> SimpleCommand {
    SimpleCommand {
        words,
        assignments: Vec::new(),
        position: Position::Text,
        via: None,
        wrapper: false,
        supplied: false,
        supposed: false,
        lurking: false,
        pipeline,
        stage,
        background: false,
        chained: pipeline > 0,
        function: None,
        directory: Directory {
            chains: vec![Vec::new()],
            unknown: false,
        },
        ancestry: vec![(pipeline, stage)],
        holds: Vec::new(),
    }
}
