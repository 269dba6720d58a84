//! Takes secrets out of what is about to be written.
//!
//! Four ways to know one: by value (the caller knows some), by the name that it is assigned to or
//! the flag that it follows (`names`, `flags`), and by its shape (`shapes`). A reference to a
//! variable is not a secret, and stays readable. Whoever reads the log must still see what was
//! run, so as little as possible is taken out; but a secret in a form that nothing here knows is
//! written as it is.

mod assign;
mod flags;
mod names;
mod shapes;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use ringfence_policy::permissions::is_secret_name;

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";

/// Values shorter than this are not searched for: they would turn up everywhere.
const SHORTEST_KNOWN: usize = 6;

/// A part of a text, in bytes.
type Span = Range<usize>;

/// Takes secrets out of texts.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a value which contains another goes as a whole.
    known: Vec<String>,
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
        Self { known }
    }

    /// A redactor that knows the values of those variables whose names say that they are secrets.
    /// (Loader variables are kept from commands as well, but what they hold is no secret.)
    pub fn knowing_secrets_of<'a>(
        environment: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        Self::knowing(
            environment
                .into_iter()
                .filter(|(name, _)| is_secret_name(name))
                .map(|(_, value)| value),
        )
    }

    /// A text without its secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut spans = Vec::new();
        for value in &self.known {
            spans.extend(
                text.match_indices(value.as_str())
                    .map(|(at, _)| at..at + value.len()),
            );
        }
        shapes::find(text, &mut spans);
        assign::find(text, &mut spans);
        let words = words::split(text);
        flags::find(&words, |index, span| {
            let start = words[index].start;
            spans.push(start + span.start..start + span.end);
        });
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
}

/// Values that are no secrets even where a variable with a secret's name holds them.
fn is_plain(value: &str) -> bool {
    matches!(
        value,
        "enabled" | "disabled" | "default" | "required" | "optional" | "unknown"
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
        Some(b'(') => true,
        _ => name(rest) && !rest.starts_with(|c: char| c.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests;
