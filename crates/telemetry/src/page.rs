//! The page that Prometheus reads, in its text format.

use std::fmt::Write as _;

use crate::names::{Kind, METRICS, Metric};
use crate::registry::{Series, Value, Values};
use crate::telemetry::Telemetry;

impl Telemetry {
    /// The type of the page.
    pub const PAGE_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// What was counted, as Prometheus reads it.
    pub fn page(&self) -> String {
        let mut page = String::new();
        for (metric, series) in METRICS.iter().zip(self.snapshot()) {
            write(&mut page, metric, &series);
        }
        page
    }
}

fn write(page: &mut String, metric: &Metric, series: &Series) {
    let name = name_of(metric);
    // Writing to a string does not fail.
    let _ = writeln!(page, "# HELP {name} {}", metric.doc.replace('\\', "\\\\"));
    let _ = writeln!(page, "# TYPE {name} {}", metric.kind.name());
    for (labels, value) in series {
        match value {
            Value::Count(count) => line(page, &name, &pairs(metric, labels, None), count),
            Value::Level(level) => line(page, &name, &pairs(metric, labels, None), level),
            Value::Spread(spread) => {
                let bounds = spread.bounds.iter().map(ToString::to_string);
                let bounds = bounds.chain(std::iter::once("+Inf".to_owned()));
                let mut below = 0;
                for (bound, count) in bounds.zip(&spread.counts) {
                    below += count;
                    let labels = pairs(metric, labels, Some(&bound));
                    line(page, &format!("{name}_bucket"), &labels, below);
                }
                let labels = pairs(metric, labels, None);
                line(page, &format!("{name}_sum"), &labels, spread.sum);
                line(page, &format!("{name}_count"), &labels, spread.count());
            }
        }
    }
}

fn line(page: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _ = writeln!(page, "{name}{labels} {value}");
}

/// The name that a metric has there: without dots, with its unit, and with `_total` if it is a counter.
pub(crate) fn name_of(metric: &Metric) -> String {
    let mut name = metric.name.replace('.', "_");
    name.push_str(match metric.unit {
        "s" => "_seconds",
        "By" => "_bytes",
        _ => "",
    });
    if metric.kind == Kind::Counter {
        name.push_str("_total");
    }
    name
}

fn pairs(metric: &Metric, values: &Values, bound: Option<&str>) -> String {
    let named = metric.labels.iter().zip(values);
    let named = named.map(|(name, value)| (name.replace('.', "_"), value.as_str()));
    let bound = bound.map(|bound| ("le".to_owned(), bound));
    let all: Vec<String> = named
        .chain(bound)
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    if all.is_empty() {
        return String::new();
    }
    format!("{{{}}}", all.join(","))
}

fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
