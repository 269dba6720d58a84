//! Takes secrets out of what is about to be written.
//!
//! Four ways to know one: by value (the caller knows some, and what was taken out once is known from
//! then on), by the name that it is assigned to (`assign`, `names`), by where it stands in a command
//! (`flags`, `programs`), and by its shape (`shapes`). A reference to a
//! variable is not a secret, and stays readable. Whoever reads the log must still see what was
//! run, so as little as possible is taken out; but a secret in a form that nothing here knows is
//! written as it is.

mod assign;
mod flags;
mod names;
mod programs;
mod shapes;
mod spoken;
mod statements;
mod words;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use ringfence_policy::sensitive::variable::is_secret;

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";

/// Values shorter than this are not searched for: they would turn up everywhere.
const SHORTEST_KNOWN: usize = 6;

/// As many values are remembered of those that were taken out.
const MOST_LEARNED: usize = 256;

/// Texts in quotes are read as commands of their own, so many deep.
const DEEPEST: u8 = 4;

/// A part of a text, in bytes.
type Span = Range<usize>;

/// Takes secrets out of texts.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a value which contains another goes as a whole.
    known: Vec<String>,
    /// What was taken out so far, shared by all that were made from this one. A reason or a rule
    /// may repeat what a command held, in a form in which nothing gives it away.
    learned: Arc<Mutex<VecDeque<String>>>,
}

impl Redactor {
    /// A redactor that also knows these values, wherever they turn up.
    pub fn knowing<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Self {
        let mut known: Vec<String> = values
            .into_iter()
            .map(Into::into)
            .filter(|value| value.len() >= SHORTEST_KNOWN && !is_plain(value))
            .collect();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        Self {
            known,
            learned: Arc::default(),
        }
    }

    /// A redactor that knows the values of those variables whose names say that they are secrets, and others.
    /// (Loader variables are kept from commands as well, but what they hold is no secret.)
    pub fn knowing_secrets_of<'a>(
        environment: impl IntoIterator<Item = (&'a str, &'a str)>,
        others: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let secret = environment.into_iter().filter(|(name, _)| is_secret(name));
        Self::knowing(secret.map(|(_, value)| value).chain(others))
    }

    /// A text without its secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut spans = Vec::new();
        look(text, 0, DEEPEST, &mut spans);
        self.learn(spans.iter().map(|span| &text[span.clone()]));
        self.values(text, &mut spans);
        cut(text, spans)
    }

    /// A program and its arguments without their secrets.
    pub fn argv(&self, argv: &[String]) -> Vec<String> {
        let mut spans = vec![Vec::new(); argv.len()];
        let words: Vec<_> = argv
            .iter()
            .map(|text| words::Word { start: 0, text })
            .collect();
        flags::find(&words, |index, span| spans[index].push(span));
        for (argument, spans) in argv.iter().zip(&spans) {
            self.learn(spans.iter().map(|span| &argument[span.clone()]));
        }
        argv.iter()
            .zip(spans)
            .map(|(argument, spans)| {
                // What a flag gave away is cut first: the rest then reads the argument as a text
                // of its own, such as the script behind `bash -c`.
                let cut = cut(argument, spans);
                self.text(&cut).into_owned()
            })
            .collect()
    }

    /// Remembers what was taken out, unless it is so short or so plain that it would be found
    /// everywhere.
    fn learn<'a>(&self, values: impl Iterator<Item = &'a str>) {
        let mut learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        // The end of a line that a program is to print is written differently elsewhere.
        let values = values.map(|value| value.trim_end_matches("\\n"));
        for value in values.filter(|value| value.len() >= SHORTEST_KNOWN && !is_plain(value)) {
            if !learned.iter().any(|known| known == value) {
                learned.push_back(value.to_owned());
            }
        }
        while learned.len() > MOST_LEARNED {
            learned.pop_front();
        }
    }

    /// Finds the values that are known.
    fn values(&self, text: &str, spans: &mut Vec<Span>) {
        let learned = self.learned.lock().unwrap_or_else(PoisonError::into_inner);
        for value in self.known.iter().chain(learned.iter()) {
            let found = text.match_indices(value.as_str());
            spans.extend(found.map(|(at, _)| at..at + value.len()));
        }
    }
}

/// Finds what gives itself away in a text that lies at a place in another one, and in the texts in
/// quotes in it.
fn look(text: &str, at: usize, deeper: u8, spans: &mut Vec<Span>) {
    let mut found = Vec::new();
    shapes::find(text, &mut found);
    assign::find(text, &mut found);
    statements::find(text, &mut found);
    let words = words::split(text);
    flags::find(&words, |index, span| {
        let start = words[index].start;
        found.push(start + span.start..start + span.end);
    });
    spans.extend(found.into_iter().map(|span| at + span.start..at + span.end));
    let Some(deeper) = deeper.checked_sub(1) else {
        return;
    };
    for word in words {
        let (inner, span) = word.bare();
        if inner.len() < word.text.len() && inner.contains([' ', '\n', '\t']) {
            look(inner, at + word.start + span.start, deeper, spans);
        }
    }
}

/// Values that are no secrets even where a variable with a secret's name holds them.
fn is_plain(value: &str) -> bool {
    matches!(
        value,
        "enabled"
            | "disabled"
            | "default"
            | "required"
            | "optional"
            | "unknown"
            | "password"
            | "postgres"
            | "secret"
            | "changeme"
    )
}

fn cut(text: &str, mut spans: Vec<Span>) -> Cow<'_, str> {
    spans.retain(|span| !span.is_empty());
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    spans.sort_by_key(|span| span.start);
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for span in spans {
        if span.start >= end {
            out.push_str(&text[end..span.start]);
            out.push_str(REDACTED);
        }
        end = end.max(span.end);
    }
    out.push_str(&text[end..]);
    Cow::Owned(out)
}

/// Whether a value only refers to a secret that the shell puts in later.
fn is_reference(value: &str) -> bool {
    let Some(rest) = value.strip_prefix('$') else {
        return value.starts_with('`');
    };
    let name = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    match rest.as_bytes().first() {
        Some(b'{') => rest[1..].strip_suffix('}').is_some_and(name),
        // What a command prints is put in later, unless it stands there.
        Some(b'(') => !prints_text(&rest[1..]),
        _ => name(rest) && !rest.starts_with(|c: char| c.is_ascii_digit()),
    }
}

/// Whether a substitution is nothing but a text that is printed.
fn prints_text(script: &str) -> bool {
    let script = script.trim_start();
    ["echo ", "printf "].iter().any(|print| {
        let text = script.strip_prefix(print);
        text.is_some_and(|text| !text.contains(['$', '`']))
    })
}

#[cfg(test)]
mod tests;
