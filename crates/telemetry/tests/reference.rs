//! The guide's page of metrics and spans is the one that the code has.

#![allow(clippy::unwrap_used)]

use expect_test::expect_file;

/// What comes before the tables is written by hand.
const TABLES: &str = "## Metrics\n";

#[test]
fn the_page_of_metrics_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (by_hand, _) = page.split_once(TABLES).unwrap();
    let whole = format!("{by_hand}{}", ringfence_telemetry::reference());
    expect_file!["../../../docs/metrics.md"].assert_eq(&whole);
}
