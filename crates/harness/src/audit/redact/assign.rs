//! Assignments (`NAME=value`, `name: value`, `"name": "value"`, `?name=value&…`) and headers.

use super::{Span, is_reference, names};

/// Headers whose whole value is a secret, but for the scheme.
const HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];

/// Schemes of the `Authorization` header.
const SCHEMES: &[&str] = &["basic", "bearer", "digest", "negotiate", "token", "apikey"];

/// Finds the values of assignments to names that say so.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(step) = bytes[at..]
        .iter()
        .position(|byte| matches!(byte, b'=' | b':'))
    {
        let separator = at + step;
        at = separator + 1;
        if let Some(span) = value_after(text, separator) {
            // `s/TOKEN=.*/TOKEN="x"/`: the value ends with the next assignment.
            let another = text[span.clone()].ends_with('=') && span.end > at;
            at = at.max(span.end - usize::from(another));
            spans.push(span);
        }
    }
}

fn value_after(text: &str, separator: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let colon = bytes[separator] == b':';
    let name = name_before(text, separator)?;
    let name_text = &text[name.clone()];
    let header = colon && HEADERS.contains(&name_text.to_ascii_lowercase().as_str());
    // `-o user=u,pass=x`
    let listed = name_text == "pass" && name.start > 0 && bytes[name.start - 1] == b',';
    if !header && !listed && !names::is_secret(name_text) {
        return None;
    }
    let mut start = separator + 1;
    // A comparison is not an assignment; `=>` and `:=` are.
    match bytes.get(start) {
        Some(b'=') if !colon => return None,
        Some(b'=' | b'>') => start += 1,
        _ => {}
    }
    let blanks = bytes[start..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let spaced = name.end < separator && bytes[separator - 1] == b' ';
    // Quotes that are closed again behind the name have nothing to do with the value.
    let closed = bytes[name.end..separator].contains(&b'\'');
    let opened = name
        .start
        .checked_sub(1)
        .map(|before| bytes[before])
        .filter(|sign| !(closed && *sign == b'\''));
    if colon {
        // `image:tag` and `host:port` are not assignments; `-H 'X-Api-Key:abc'` is one.
        let joined = blanks == 0 && !matches!(bytes.get(start), Some(b'"' | b'\''));
        let apart = match opened {
            Some(b'/') => name.start < 2 || bytes[name.start - 2].is_ascii_whitespace(),
            opened => matches!(opened, None | Some(b'"' | b'\'' | b' ')),
        };
        if joined && !header && !apart {
            return None;
        }
    } else if blanks > 0 && !spaced {
        // `TOKEN= command` sets it to nothing.
        return None;
    }
    start += blanks;
    if header {
        return Some(header_value(text, start, opened)).filter(|span| !span.is_empty());
    }
    let span = value(text, start, opened)?;
    let text = &text[span.clone()];
    let single = bytes[span.start - 1] == b'\'';
    (!text.is_empty() && (single || !is_reference(text))).then_some(span)
}

/// The name that ends at the separator, without quotes, blanks and the `+` of `+=`.
fn name_before(text: &str, separator: usize) -> Option<Span> {
    let bytes = text.as_bytes();
    let mut end = separator;
    if bytes[separator] == b'=' && end > 0 && bytes[end - 1] == b'+' {
        end -= 1;
    }
    // Blanks, a closing quote (which a shell may have to escape), the end of an index.
    while end > 0 && matches!(bytes[end - 1], b' ' | b'"' | b'\'' | b'\\' | b']') {
        end -= 1;
    }
    let name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let length = bytes[..end].iter().rev().take_while(name).count();
    // A `$NAME` is read here, not assigned.
    let referred = bytes[..end - length].ends_with(b"$") || bytes[..end - length].ends_with(b"${");
    (length > 0 && !referred).then(|| end - length..end)
}

/// The value that starts here: in quotes, or up to what ends a word.
fn value(text: &str, start: usize, opened: Option<u8>) -> Option<Span> {
    let bytes = text.as_bytes();
    let mut start = start;
    // The quotes inside a quoted JSON text are escaped.
    if bytes.get(start) == Some(&b'\\') && bytes.get(start + 1) == Some(&b'"') {
        let from = start + 2;
        let length = text[from..].find("\\\"").unwrap_or(text.len() - from);
        return Some(from..from + length);
    }
    // `$'…'`, and `$(echo …)`, which is the same in more words.
    let rest = &text[start..];
    if rest.starts_with("$'") || rest.starts_with("$\"") {
        return Some(start + 2..closing(bytes, start + 2, bytes[start + 1]));
    }
    if rest.starts_with("$(") && super::prints_text(&rest[2..]) {
        let length = rest.find(')').unwrap_or(rest.len());
        return Some(start + 2..start + length);
    }
    let quote = *bytes.get(start)?;
    if matches!(quote, b'"' | b'\'') && opened != Some(quote) || quote == b'"' {
        start += 1;
        let end = closing(bytes, start, quote);
        return Some(start..joined(bytes, end));
    }
    if text[start..].starts_with("$(") {
        return None;
    }
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(
                byte,
                b';' | b'&' | b'|' | b')' | b'"' | b'\'' | b',' | b'}' | b'`'
            ) && !(*byte == b'}' && bytes[start..].starts_with(b"${"))
    };
    let length = bytes[start..]
        .iter()
        .position(ends)
        .unwrap_or(bytes.len() - start);
    Some(start..start + length)
}

/// The value of a header, up to the end of the line or of the quotes that it stands in; without
/// the scheme, which tells a reader something and nobody a secret.
fn header_value(text: &str, start: usize, opened: Option<u8>) -> Span {
    let bytes = text.as_bytes();
    let mut start = start;
    let quoted = bytes
        .get(start)
        .copied()
        .filter(|byte| matches!(byte, b'"' | b'\''));
    let quote = match quoted {
        // `"authorization": "Bearer …"`
        Some(quote) => {
            start += 1;
            Some(quote)
        }
        // `-H "Authorization: Bearer …"`
        None => opened.filter(|byte| matches!(byte, b'"' | b'\'')),
    };
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r') || Some(*byte) == quote;
    let end = bytes[start..]
        .iter()
        .position(ends)
        .map_or(bytes.len(), |length| start + length);
    let value = &text[start..end];
    let secret = match value.split_once(' ') {
        Some((scheme, rest)) if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => {
            end - rest.len()
        }
        _ => start,
    };
    if is_reference(&text[secret..end]) {
        end..end
    } else {
        secret..end
    }
}

/// The end of a value that goes on behind its quotes: `"a"'b'c`.
fn joined(bytes: &[u8], end: usize) -> usize {
    let mut end = end;
    while let Some(next @ (b'"' | b'\'')) = bytes.get(end + 1) {
        let closed = closing(bytes, end + 2, *next);
        // What is not closed again began before.
        if closed >= bytes.len() {
            break;
        }
        end = closed;
    }
    end
}

fn closing(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' && quote == b'"' {
            2
        } else {
            1
        };
    }
    at.min(bytes.len())
}
