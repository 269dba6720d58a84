//! The little languages of `sed` and `awk`, as far as needed to tell whether a script only filters.
//!
//! Both readers accept what certainly only filters and call the rest unknown, or suspicious if it
//! certainly runs a program.

use super::{Class, Findings};
use crate::facts::{Word, options::Arguments};

/// Judges the script among the arguments of a filter; the other operands are files.
pub(super) fn judge<'w>(
    name: &str,
    found: &Arguments<'w>,
    text: &str,
    findings: &mut Findings,
) -> Vec<&'w Word> {
    let (given, from_file): (&[&str], &[&str]) = match name {
        "sed" | "gsed" => (&["-e", "--expression"], &["-f", "--file"]),
        _ => (&["-e", "--source"], &["-f", "--file", "-E", "--exec"]),
    };
    let mut scripts: Vec<&Word> = found
        .options
        .iter()
        .filter(|(option, _)| given.contains(&option.as_str()))
        .filter_map(|(_, value)| value.as_ref())
        .collect();
    let mut files = found.operands.clone();
    if scripts.is_empty() && !found.has(from_file) {
        if files.is_empty() {
            return files;
        }
        scripts.push(files.remove(0));
    }
    for script in scripts {
        let (class, why) = match script.literal() {
            None => (Class::Unknown, "its script is computed"),
            Some(script) if name.ends_with("sed") => sed(script),
            Some(script) => awk(script),
        };
        if class > Class::ReadOnly {
            findings.add(class, text, why);
        }
    }
    files
}

const RUNS: (Class, &str) = (Class::Suspicious, "its script runs a program");
const WRITES: (Class, &str) = (Class::Unknown, "its script may write a file");
const UNSURE: (Class, &str) = (Class::Unknown, "what its script does is not understood");
const FILTERS: (Class, &str) = (Class::ReadOnly, "");

/// A pipe in awk needs a `print` before it or a `getline` after it; a file needs a `print` before
/// its `>`. Searching the raw text for those is stricter than reading the language.
fn awk(script: &str) -> (Class, &'static str) {
    if script.contains("system") || script.contains("@load") {
        return RUNS;
    }
    if script.contains('@') {
        return UNSURE;
    }
    let bytes = script.as_bytes();
    let prints_before = |at: usize| script[..at].contains("print");
    for (at, byte) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1);
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        match byte {
            b'|' if next != Some(&b'|')
                && before != Some(&b'|')
                && (prints_before(at) || script[at..].contains("getline")) =>
            {
                return RUNS;
            }
            b'>' if next != Some(&b'=') && prints_before(at) => return WRITES,
            _ => {}
        }
    }
    FILTERS
}

/// Reads a sed script command by command.
fn sed(script: &str) -> (Class, &'static str) {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        let Some(after) = address(rest) else {
            return UNSURE;
        };
        rest = after.trim_start_matches([' ', '\t', '!']);
        let Some(command) = rest.chars().next() else {
            return FILTERS;
        };
        rest = &rest[command.len_utf8()..];
        match command {
            '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x'
            | 'z' | 'F' => {}
            'l' | 'L' | 'q' | 'Q' => {
                rest = rest.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
            }
            'b' | 't' | 'T' | ':' => {
                // Versions differ in where a label ends; a blank in it may end it for some.
                let label = rest.trim_start_matches([' ', '\t']);
                let end = label
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(label.len());
                rest = &label[end..];
            }
            'a' | 'i' | 'c' | 'r' | 'R' | '#' => {
                // Their text ends at the end of the line; a backslash may carry it on.
                let end = rest.find('\n').unwrap_or(rest.len());
                if rest[..end].trim_start().starts_with('\\') && end < rest.len() && command != '#'
                {
                    return UNSURE;
                }
                rest = &rest[end..];
            }
            's' | 'y' => {
                let Some((after, flags)) = substitution(rest) else {
                    return UNSURE;
                };
                rest = after;
                if command == 's' && flags.contains('e') {
                    return RUNS;
                }
                if command == 's' && flags.contains('w') {
                    return WRITES;
                }
            }
            'e' => return RUNS,
            'w' | 'W' => return WRITES,
            _ => return UNSURE,
        }
        rest = rest.trim_start_matches([' ', '\t']);
        if !rest.is_empty()
            && !rest.starts_with([';', '\n', '}', '{'])
            && command != '{'
            && command != '}'
        {
            return UNSURE;
        }
    }
}

/// Skips `1`, `$`, `/re/`, `\,re,`, `1,/re/`, `1~2`, `/re/I`.
fn address(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let first = rest.chars().next();
        rest = match first {
            Some('$') => &rest[1..],
            Some('0'..='9') => rest.trim_start_matches(|c: char| c.is_ascii_digit()),
            Some('/') => delimited(&rest[1..], '/')?.trim_start_matches(['I', 'M']),
            Some('\\') => {
                let mark = rest[1..]
                    .chars()
                    .next()
                    .filter(char::is_ascii_punctuation)?;
                delimited(&rest[2..], mark)?.trim_start_matches(['I', 'M'])
            }
            _ => return Some(rest),
        };
        rest = match rest.chars().next() {
            Some(',' | '~') => rest[1..].trim_start_matches(['+', '~', ' ']),
            _ => return Some(rest),
        };
    }
}

/// The rest after the closing delimiter.
fn delimited(text: &str, mark: char) -> Option<&str> {
    let mut chars = text.char_indices();
    let mut class = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => _ = chars.next(),
            // Inside [...] the delimiter is ordinary for some versions and not for others.
            '[' => class = true,
            ']' => class = false,
            c if c == mark && class => return None,
            c if c == mark => return Some(&text[at + c.len_utf8()..]),
            '\n' => return None,
            _ => {}
        }
    }
    None
}

/// Skips `/a/b/flags`; the rest and the flags.
fn substitution(text: &str) -> Option<(&str, &str)> {
    let mark = text
        .chars()
        .next()
        .filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && *c != '\\')?;
    let after = delimited(&text[mark.len_utf8()..], mark)?;
    let after = replacement(after, mark)?;
    let length = after
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(after.len());
    Some((&after[length..], &after[..length]))
}

fn replacement(text: &str, mark: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => _ = chars.next(),
            c if c == mark => return Some(&text[at + c.len_utf8()..]),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_sorted_by_what_they_do() {
        for (language, script, class) in [
            ("sed", "s/a/b/g", Class::ReadOnly),
            ("sed", "1,20p", Class::ReadOnly),
            ("sed", "/start/,/end/p", Class::ReadOnly),
            ("sed", "$!N;s/\\n/ /;P;D", Class::ReadOnly),
            ("sed", "s|/usr|/opt|;s,a,b,", Class::ReadOnly),
            ("sed", "/x/{s/a/b/;p}", Class::ReadOnly),
            ("sed", "s/a/b/e", Class::Suspicious),
            ("sed", "1e rm -rf x", Class::Suspicious),
            ("sed", "s/a/b/w /etc/passwd", Class::Unknown),
            ("sed", "w out", Class::Unknown),
            ("sed", "s/[/]/b/;e rm", Class::Unknown),
            ("sed", "s/a/b/ge", Class::Suspicious),
            ("sed", "a\\\nw out", Class::Unknown),
            ("sed", ":a;N;$!ba;s/\\n/ /g", Class::ReadOnly),
            ("sed", ":a w out", Class::Unknown),
            ("sed", ":a e rm x", Class::Unknown),
            ("sed", "ba\ne rm x", Class::Suspicious),
            ("awk", "{print $1}", Class::ReadOnly),
            ("awk", "$3 > 100 {print $1}", Class::ReadOnly),
            ("awk", "/foo|bar/", Class::ReadOnly),
            ("awk", "{print > \"out\"}", Class::Unknown),
            ("awk", "BEGIN{system(\"rm -rf x\")}", Class::Suspicious),
            ("awk", "{print | \"sh\"}", Class::Suspicious),
            ("awk", "BEGIN{\"rm x\" | getline}", Class::Suspicious),
            ("awk", "BEGIN{f=\"sys\" \"tem\"; @f(\"x\")}", Class::Unknown),
        ] {
            let found = if language == "sed" {
                sed(script)
            } else {
                awk(script)
            };
            assert_eq!(found.0, class, "{language} {script}");
        }
    }
}
