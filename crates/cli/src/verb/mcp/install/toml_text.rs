//! Changes to TOML that people write by hand: one table of ours, and nothing else.

use anyhow::{Result, bail};

/// The text with a table in the place of the one of the same name, or at its end. `body` is its lines.
pub(super) fn set(text: &str, table: &str, body: &str) -> Result<String> {
    let without = remove(text, table);
    let gap = if without.is_empty() || without.ends_with("\n\n") {
        ""
    } else if without.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    let after = format!("{without}{gap}[{table}]\n{}\n", body.trim_end());
    if let Err(error) = after.parse::<toml::Table>() {
        bail!("the file would not be right with it, so nothing is changed: {error}");
    }
    Ok(after)
}

/// The text without a table and those below it.
pub(super) fn remove(text: &str, table: &str) -> String {
    let mut kept = String::new();
    let mut ours = false;
    for line in text.split_inclusive('\n') {
        if let Some(name) = header(line) {
            ours = name == table || name.starts_with(&format!("{table}."));
        }
        if !ours {
            kept.push_str(line);
        }
    }
    if kept.len() < text.len() {
        // The empty line before it was its own.
        while kept.ends_with("\n\n") {
            kept.pop();
        }
    }
    kept
}

/// The name of the table that a line begins.
fn header(line: &str) -> Option<&str> {
    let name = line.trim_start().strip_prefix('[')?;
    let name = name.strip_prefix('[').unwrap_or(name);
    name.split(']').next().map(str::trim)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn everything_else_stays() {
        let cases = [
            ("", "[m.r]\na = 1\n"),
            (
                "# mine\nx = 1 # and this\n",
                "# mine\nx = 1 # and this\n\n[m.r]\na = 1\n",
            ),
            (
                "[m.r]\na = 2\n[m.r.env]\nB = \"1\"\n\n[z]\ny = 3\n",
                "[z]\ny = 3\n\n[m.r]\na = 1\n",
            ),
            ("[m.other]\na = 2", "[m.other]\na = 2\n\n[m.r]\na = 1\n"),
        ];
        for (before, expected) in cases {
            let after = set(before, "m.r", "a = 1\n").unwrap();
            assert_eq!(after, expected, "{before}");
            assert_eq!(set(&after, "m.r", "a = 1\n").unwrap(), after);
        }
        assert!(set("m = { r = 1 }\n", "m.r", "a = 1").is_err());
        assert!(set("not toml", "m.r", "a = 1").is_err());
    }
}
