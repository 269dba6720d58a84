//! The reference page of metrics and spans, made from the tables.

use std::fmt::Write as _;

use crate::names::{METRICS, SPANS};
use crate::page::name_of;

/// The tables of metrics and spans, in Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "## Metrics\n\n| name | as Prometheus has it | kind | unit | labels | |\n|---|---|---|---|---|---|\n",
    );
    for metric in METRICS {
        // Writing to a string does not fail.
        let _ = writeln!(
            page,
            "| `{}` | `{}` | {} | {} | {} | {} |",
            metric.name,
            name_of(metric),
            metric.kind.name(),
            match metric.unit {
                "s" => "seconds",
                "By" => "bytes",
                unit => unit.trim_matches(['{', '}']),
            },
            words(metric.labels),
            metric.doc
        );
    }
    page.push_str("\n## Spans\n\n| name | within | attributes | |\n|---|---|---|---|\n");
    for span in SPANS {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} |",
            span.name,
            span.within,
            words(span.attributes),
            span.doc
        );
    }
    page
}

fn words(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}
