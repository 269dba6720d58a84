//! Secrets in languages that commands carry: SQL that sets a password, `expect` that types one.

use super::{Span, is_reference};

/// Words that a password follows in quotes, and what must stand before them somewhere in the text.
/// All in lower case.
const BEFORE: &[(&str, &[&str])] = &[
    ("identified by ", &[]),
    ("password ", &["user ", "role "]),
    ("set password for", &[]),
    ("send ", &["assword", "assphrase"]),
];

/// Finds them.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    pairs(text, spans);
    // Letters keep their places: only those of ASCII change.
    let lower = text.to_ascii_lowercase();
    for (word, needed) in BEFORE {
        let first = needed.iter().filter_map(|needed| lower.find(needed)).min();
        let Some(first) = first.or(needed.is_empty().then_some(0)) else {
            continue;
        };
        for (at, _) in lower[first..].match_indices(word) {
            spans.extend(quoted_after(text, first + at + word.len()));
        }
    }
}

/// `auth=('user', 'secret')`
fn pairs(text: &str, spans: &mut Vec<Span>) {
    for (at, sign) in text.match_indices("auth=(") {
        let start = at + sign.len();
        let line = text[start..].split(')').next().unwrap_or_default();
        if let Some((user, _)) = line.split_once(',') {
            spans.extend(quoted_after(text, start + user.len() + 1));
        }
    }
}

/// The text in quotes that starts here, after blanks and slashes.
fn quoted_after(text: &str, at: usize) -> Option<Span> {
    let rest = &text[at..];
    let start = at + (rest.len() - rest.trim_start_matches([' ', '\\', '-']).len());
    let quote = text[start..]
        .chars()
        .next()
        .filter(|c| matches!(c, '"' | '\''))?;
    let length = text[start + 1..].find(quote)?;
    let span = start + 1..start + 1 + length;
    let value = text[span.clone()]
        .trim_end_matches("\\r")
        .trim_end_matches("\\n");
    let span = span.start..span.start + value.len();
    (!value.is_empty() && !is_reference(value)).then_some(span)
}
