//! Changes to YAML that people write by hand: one entry below one key at the top, and nothing else.

use anyhow::{Result, bail};

/// The text with an entry below a key. `body` is the entry's lines, indented from its name on.
pub(super) fn set(text: &str, key: &str, name: &str, body: &[String]) -> Result<String> {
    let without = remove(text, key, name);
    let mut entry = vec![format!("  {name}:")];
    entry.extend(body.iter().map(|line| format!("    {line}")));
    let entry = entry.join("\n");
    let mut lines: Vec<&str> = without.lines().collect();
    let at = lines.iter().position(|line| {
        line.split('#').next().is_some_and(|line| {
            line.trim_end() == format!("{key}:") || line.trim_end() == format!("{key}: {{}}")
        })
    });
    let Some(at) = at else {
        if lines
            .iter()
            .any(|line| line.starts_with(&format!("{key}:")))
        {
            bail!("`{key}` is written in a way that is not understood; add the entry by hand");
        }
        let gap = if without.is_empty() || without.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        return Ok(format!("{without}{gap}{key}:\n{entry}\n"));
    };
    let inside = lines[at + 1..].iter().find(|line| is_entry(line));
    if inside.is_some_and(|line| line.starts_with(' ') && indent(line) != 2) {
        bail!("`{key}` is indented in a way that is not understood; add the entry by hand");
    }
    let plain = format!("{key}:");
    if lines[at].contains("{}") {
        lines[at] = &plain;
    }
    lines.insert(at + 1, &entry);
    Ok(lines.join("\n") + "\n")
}

/// The text without an entry.
pub(super) fn remove(text: &str, key: &str, name: &str) -> String {
    let (mut in_key, mut ours) = (false, false);
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if is_entry(line) {
            if indent(line) == 0 {
                in_key = line.trim_end().starts_with(&format!("{key}:"));
                ours = false;
            } else if in_key && indent(line) == 2 {
                ours = line.trim_end() == format!("  {name}:");
            }
        }
        if !ours {
            kept.push_str(line);
        }
    }
    kept
}

fn is_entry(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn everything_else_stays() {
        let body = ["a: 1".to_owned()];
        let cases = [
            ("", "x:\n  r:\n    a: 1\n"),
            ("# mine\ny: 2", "# mine\ny: 2\nx:\n  r:\n    a: 1\n"),
            ("x: {}\n", "x:\n  r:\n    a: 1\n"),
            (
                "x:\n  other: # kept\n    b: 1\ny: 2\n",
                "x:\n  r:\n    a: 1\n  other: # kept\n    b: 1\ny: 2\n",
            ),
            (
                "x:\n  r:\n    a: 0\n    c:\n      - d\n  z:\n    b: 1\n",
                "x:\n  r:\n    a: 1\n  z:\n    b: 1\n",
            ),
        ];
        for (before, expected) in cases {
            let after = set(before, "x", "r", &body).unwrap();
            assert_eq!(after, expected, "{before}");
            assert_eq!(set(&after, "x", "r", &body).unwrap(), after);
        }
        assert!(set("x: [1]\n", "x", "r", &body).is_err());
        assert!(set("x:\n    four: 1\n", "x", "r", &body).is_err());
    }
}
