//! The settings for a person (`config show`, with `--origin`) and for a program (`--json`).

use serde_json::{Map, json};

use super::resolve::{Resolved, Setting};

impl Resolved {
    /// One line per value, as TOML would have it with whole names.
    pub fn lines(&self) -> Vec<String> {
        self.settings
            .iter()
            .map(|set| format!("{} = {}", set.key.path(), set.key.write(&set.value())))
            .collect()
    }

    /// The same with origins; a list that several layers add to takes a line for each.
    pub fn lines_with_origin(&self) -> Vec<String> {
        let rows: Vec<(String, String)> = self
            .settings
            .iter()
            .flat_map(Setting::rows_with_origin)
            .collect();
        let longest = rows
            .iter()
            .map(|(text, _)| text.chars().count())
            .filter(|width| *width <= 60);
        let width = longest.max().unwrap_or(0);
        rows.into_iter()
            .map(|(text, origin)| format!("{text:width$}  # {origin}"))
            .collect()
    }

    /// An object of all keys: value and the parts that it is made of; and what was refused.
    pub fn to_json(&self) -> serde_json::Value {
        let settings: Map<String, serde_json::Value> = self
            .settings
            .iter()
            .map(|set| {
                (
                    set.key.path(),
                    json!({ "value": set.value(), "parts": set.parts }),
                )
            })
            .collect();
        json!({ "settings": settings, "refused": self.refused })
    }
}

impl Setting {
    fn rows_with_origin(&self) -> Vec<(String, String)> {
        let path = self.key.path();
        let sign = |index| if index == 0 { "=" } else { "+=" };
        let row = |(index, part): (usize, &super::resolve::Part)| {
            (
                format!("{path} {} {}", sign(index), self.key.write(&part.value)),
                part.origin.to_string(),
            )
        };
        self.parts.iter().enumerate().map(row).collect()
    }
}
