//! Writing a rule as TOML.

use std::fmt::Write as _;

use super::{Access, Fence, Rule, Selector, TextPattern};

impl Rule {
    /// The rule as it would stand in a rules file, without a comment.
    pub fn to_toml(&self) -> String {
        let mut text = String::from("[[rule]]\n");
        let mut line = |key: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key} = {value}");
        };
        match &self.selector {
            Selector::Prefix(prefix) => {
                let words = prefix
                    .words
                    .iter()
                    .map(|word| match word.alternatives.as_slice() {
                        [only] => quoted(only),
                        many => list(many.iter().map(String::as_str)),
                    });
                line(
                    "prefix",
                    format!("[{}]", words.collect::<Vec<_>>().join(", ")),
                );
                if prefix.exact_program {
                    line("exact_program", "true".to_owned());
                }
            }
            Selector::Text(TextPattern::Glob(pattern)) => line("glob", quoted(pattern)),
            Selector::Text(TextPattern::Regex { written, .. }) => line("regex", quoted(written)),
            Selector::Path(pattern) => {
                line("path", quoted(&pattern.written));
                match pattern.access {
                    Access::Read => line("access", quoted("read")),
                    Access::Write => line("access", quoted("write")),
                    Access::Any => {}
                }
            }
            Selector::Host(pattern) => {
                line("host", quoted(&pattern.host.to_string()));
                match pattern.ports.as_slice() {
                    [] => {}
                    [one] => line("port", one.to_string()),
                    many => {
                        let ports: Vec<String> = many.iter().map(u16::to_string).collect();
                        line("port", format!("[{}]", ports.join(", ")));
                    }
                }
                match pattern.protocols.as_slice() {
                    [] => {}
                    [one] => line("protocol", quoted(one.name())),
                    many => line("protocol", list(many.iter().map(|one| one.name()))),
                }
            }
            Selector::Tool => {}
        }
        match self.tools.as_slice() {
            [] => {}
            [one] => line("tool", quoted(one)),
            many => line("tool", list(many.iter().map(String::as_str))),
        }
        line("decision", quoted(self.decision.name()));
        if self.grant.fence == Fence::Unfenced {
            line("fence", quoted("unfenced"));
        }
        for (key, paths) in [
            ("writable", &self.grant.writable),
            ("readable", &self.grant.readable),
            ("sockets", &self.grant.sockets),
        ] {
            if !paths.is_empty() {
                let paths: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
                line(key, list(paths.iter().map(AsRef::as_ref)));
            }
        }
        if !self.grant.hosts.is_empty() {
            let hosts: Vec<String> = self.grant.hosts.iter().map(ToString::to_string).collect();
            line("hosts", list(hosts.iter().map(String::as_str)));
        }
        if !self.grant.presets.is_empty() {
            let names = self.grant.presets.iter().map(|preset| preset.name);
            line("preset", list(names));
        }
        if let Some(reason) = &self.reason {
            line("reason", quoted(reason));
        }
        if !self.matches.is_empty() {
            line("match", list(self.matches.iter().map(String::as_str)));
        }
        if !self.not_matches.is_empty() {
            line(
                "not_match",
                list(self.not_matches.iter().map(String::as_str)),
            );
        }
        text
    }
}

fn list<'t>(values: impl Iterator<Item = &'t str>) -> String {
    format!("[{}]", values.map(quoted).collect::<Vec<_>>().join(", "))
}

/// A TOML basic string.
fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(text, "\\u{:04X}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
