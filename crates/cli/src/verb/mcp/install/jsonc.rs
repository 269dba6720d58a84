//! Changes to JSON that people write by hand: comments, order and layout of everything else stay as they are.

use std::ops::Range;

use anyhow::{Result, bail};
use serde_json::Value;

/// A member of an object: its key, and where it stands.
struct Member {
    key: String,
    start: usize,
    value: Range<usize>,
}

/// An object in a text.
struct Object {
    members: Vec<Member>,
    /// Where it begins, and where its closing brace is.
    range: Range<usize>,
}

/// The text with a value at a path of keys; objects on the way are made if they are missing.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String> {
    if text.trim().is_empty() {
        return set("{}\n", path, value);
    }
    let begin = skip_blank(text, 0);
    set_in(text, begin, path, value)
}

fn set_in(text: &str, at: usize, path: &[&str], value: &Value) -> Result<String> {
    let object = object(text, at)?;
    let [key, rest @ ..] = path else {
        bail!("there is nothing to set");
    };
    let found = object.members.iter().find(|member| member.key == *key);
    match (found, rest) {
        (Some(member), []) => {
            let indent = indentation(text, member.start);
            Ok(replaced(
                text,
                member.value.clone(),
                &pretty(value, &indent),
            ))
        }
        (Some(member), rest) => set_in(text, member.value.start, rest, value),
        (None, rest) => {
            let nested = rest.iter().rev().fold(value.clone(), |inner, key| {
                Value::Object([((*key).to_owned(), inner)].into_iter().collect())
            });
            Ok(insert(text, &object, key, &nested))
        }
    }
}

fn insert(text: &str, object: &Object, key: &str, value: &Value) -> String {
    let outer = indentation(text, object.range.start);
    let first = object.members.first();
    let indent = first.map_or_else(
        || format!("{outer}  "),
        |first| indentation(text, first.start),
    );
    let key = Value::String(key.to_owned());
    let member = format!("{indent}{key}: {}", pretty(value, &indent));
    let Some(last) = object.members.last() else {
        let inside = object.range.start + 1..object.range.end;
        let kept = text[inside.clone()].trim_end().to_owned();
        return replaced(text, inside, &format!("{kept}\n{member}\n{outer}"));
    };
    let after = skip_blank(text, last.value.end);
    if text[after..].starts_with(',') {
        // A comma at the end is right in such files: ours goes behind it.
        return replaced(text, after + 1..after + 1, &format!("\n{member}"));
    }
    let end = last.value.end;
    replaced(text, end..end, &format!(",\n{member}"))
}

/// The text without the member at a path; as it is if there is none.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let mut at = skip_blank(text, 0);
    let Some((last, way)) = path.split_last() else {
        return Ok(text.to_owned());
    };
    for key in way {
        let object = object(text, at)?;
        let Some(member) = object.members.into_iter().find(|member| member.key == *key) else {
            return Ok(text.to_owned());
        };
        at = member.value.start;
    }
    let object = object(text, at)?;
    let Some(index) = object.members.iter().position(|member| member.key == *last) else {
        return Ok(text.to_owned());
    };
    let member = &object.members[index];
    let line = text[..member.start].rfind('\n').unwrap_or(member.start);
    let start = if text[line..member.start].trim().is_empty() {
        line
    } else {
        member.start
    };
    let after = skip_blank(text, member.value.end);
    let has_comma = text[after..].starts_with(',');
    let end = if has_comma {
        after + 1
    } else {
        member.value.end
    };
    let mut rest = replaced(text, start..end, "");
    if !has_comma && index > 0 {
        let comma = skip_blank(text, object.members[index - 1].value.end);
        rest = replaced(&rest, comma..comma + 1, "");
    }
    Ok(rest)
}

/// The value of such a text.
pub(super) fn read(text: &str) -> Result<Value> {
    let mut plain = String::new();
    let mut at = 0;
    while at < text.len() {
        let next = skip_comment(text, at);
        if next > at {
            plain.push(' ');
            at = next;
        } else if text[at..].starts_with('"') {
            let end = skip_string(text, at)?;
            plain.push_str(&text[at..end]);
            at = end;
        } else {
            let c = text[at..].chars().next().unwrap_or_default();
            let closes = matches!(c, '}' | ']');
            if closes && plain.trim_end().ends_with(',') {
                plain.truncate(plain.trim_end().len() - 1);
            }
            plain.push(c);
            at += c.len_utf8();
        }
    }
    if plain.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    Ok(serde_json::from_str(&plain)?)
}

fn replaced(text: &str, range: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..range.start], &text[range.end..])
}

fn pretty(value: &Value, indent: &str) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('\n', &format!("\n{indent}"))
}

/// The blanks at the beginning of the line.
fn indentation(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let blanks = text[line..].chars().take_while(|c| matches!(c, ' ' | '\t'));
    blanks.collect()
}

fn object(text: &str, at: usize) -> Result<Object> {
    if !text[at..].starts_with('{') {
        bail!("there is no object where one is expected");
    }
    let mut members = Vec::new();
    let mut here = skip_blank(text, at + 1);
    loop {
        if text[here..].starts_with('}') {
            return Ok(Object {
                members,
                range: at..here,
            });
        }
        let start = here;
        let key_end = skip_string(text, here)?;
        let key: String = serde_json::from_str(&text[start..key_end])?;
        here = skip_blank(text, key_end);
        if !text[here..].starts_with(':') {
            bail!("a colon is missing after `{key}`");
        }
        let value = skip_blank(text, here + 1);
        let end = skip_value(text, value)?;
        members.push(Member {
            key,
            start,
            value: value..end,
        });
        here = skip_blank(text, end);
        if text[here..].starts_with(',') {
            here = skip_blank(text, here + 1);
        } else if !text[here..].starts_with('}') {
            bail!("a comma or a brace is missing");
        }
    }
}

fn skip_value(text: &str, at: usize) -> Result<usize> {
    let mut depth = 0_usize;
    let mut here = at;
    while here < text.len() {
        let next = skip_comment(text, here);
        if next > here {
            here = next;
            continue;
        }
        let c = text[here..].chars().next().unwrap_or_default();
        match c {
            '"' => {
                here = skip_string(text, here)?;
                if depth == 0 {
                    return Ok(here);
                }
                continue;
            }
            '{' | '[' => depth += 1,
            '}' | ']' | ',' | ' ' | '\t' | '\r' | '\n' if depth == 0 => return Ok(here),
            '}' | ']' => {
                depth -= 1;
                if depth == 0 {
                    return Ok(here + 1);
                }
            }
            _ => {}
        }
        here += c.len_utf8();
    }
    bail!("the text ends in the middle of a value")
}

fn skip_string(text: &str, at: usize) -> Result<usize> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'"') {
        bail!("a key in quotes is missing");
    }
    let mut here = at + 1;
    while let Some(byte) = bytes.get(here) {
        match byte {
            b'\\' => here += 2,
            b'"' => return Ok(here + 1),
            _ => here += 1,
        }
    }
    bail!("a text in quotes does not end")
}

fn skip_blank(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let blank = rest.len()
            - rest
                .trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
                .len();
        let next = skip_comment(text, at + blank);
        if next == at {
            return at;
        }
        at = next;
    }
}

/// Where a comment that begins here ends; here if there is none.
fn skip_comment(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    if rest.starts_with("//") {
        rest.find('\n').map_or(text.len(), |end| at + end)
    } else if rest.starts_with("/*") {
        rest.find("*/").map_or(text.len(), |end| at + end + 2)
    } else {
        at
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn everything_else_stays() {
        let cases = [
            ("", "{\n  \"m\": {\n    \"r\": 1\n  }\n}\n"),
            ("{}", "{\n  \"m\": {\n    \"r\": 1\n  }\n}"),
            (
                "{\n  // mine\n  \"a\": [1, \"}\"] // after\n}\n",
                "{\n  // mine\n  \"a\": [1, \"}\"],\n  \"m\": {\n    \"r\": 1\n  } // after\n}\n",
            ),
            (
                "{\n\t\"m\": {\n\t\t\"x\": {}, // kept\n\t},\n}\n",
                "{\n\t\"m\": {\n\t\t\"x\": {},\n\t\t\"r\": 1 // kept\n\t},\n}\n",
            ),
            (
                "{ \"m\": { \"r\": {\"old\": /* } */ true}, \"z\": 2 } }",
                "{ \"m\": { \"r\": 1, \"z\": 2 } }",
            ),
        ];
        for (before, expected) in cases {
            let after = set(before, &["m", "r"], &json!(1)).unwrap();
            assert_eq!(after, expected, "{before}");
            assert_eq!(read(&after).unwrap()["m"]["r"], 1, "{after}");
            let without = remove(&after, &["m", "r"]).unwrap();
            assert!(read(&without).unwrap()["m"].get("r").is_none(), "{without}");
            // What was written once is not written twice.
            assert_eq!(set(&after, &["m", "r"], &json!(1)).unwrap(), after);
        }
    }

    #[test]
    fn what_is_no_object_is_left_alone() {
        for text in [
            "[]",
            "{",
            "{\"m\": 1}",
            "{\"a\" 1}",
            "{\"a\": \"b}",
            "nonsense",
        ] {
            assert!(set(text, &["m", "r"], &json!(1)).is_err(), "{text}");
        }
    }
}
