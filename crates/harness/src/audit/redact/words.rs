//! A text as the shell would split it, roughly: enough to see which word follows which.

use super::Span;

/// One word with its quotes, and where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
}

impl Word<'_> {
    /// The word without the quotes around it, and where that lies in the word.
    pub(super) fn bare(&self) -> (&str, Span) {
        let span = unquoted(self.text, 0..self.text.len());
        (&self.text[span.clone()], span)
    }

    /// Whether it ends a command.
    pub(super) fn is_operator(&self) -> bool {
        matches!(self.text, ";" | "|" | "&" | "(" | ")" | "`" | "\n")
    }
}

/// A part of a text without the quotes around it, if there are some.
pub(super) fn unquoted(text: &str, span: Span) -> Span {
    let part = &text[span.clone()];
    let quoted = part.len() > 1 && part.starts_with(['"', '\'']) && part[1..].ends_with(&part[..1]);
    if quoted {
        span.start + 1..span.end - 1
    } else {
        span
    }
}

/// Splits at blanks and at the shell's operators, outside quotes. An operator is a word as well.
pub(super) fn split(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut start, mut quote) = (0, None);
    let mut escaped = false;
    let mut push = |from: usize, to: usize| {
        if from < to {
            words.push(Word {
                start: from,
                text: &text[from..to],
            });
        }
    };
    for (at, byte) in text.bytes().enumerate() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => escaped = true,
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            (b' ' | b'\t' | b'\r', None) => {
                push(start, at);
                start = at + 1;
            }
            (b';' | b'|' | b'&' | b'(' | b')' | b'`' | b'\n', None) => {
                push(start, at);
                push(at, at + 1);
                start = at + 1;
            }
            _ => {}
        }
    }
    push(start, text.len());
    words
}
