//! `ringfence check` says what the guide says it says.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
use serde_json::Value;

/// The rows of the page's table: command, verdict, class, why.
fn rows() -> Vec<[String; 4]> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/command-classes.md");
    let text = std::fs::read_to_string(page)
        .unwrap()
        .replace("\\|", "\u{1}");
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| {
            let cells: Vec<String> = line
                .trim_matches('|')
                .split('|')
                .map(|cell| cell.trim().replace('\u{1}', "|"))
                .collect();
            <[String; 4]>::try_from(cells).ok()
        })
        .collect()
}

#[test]
fn the_program_prints_what_the_guide_shows() {
    let place = Place::new();
    let rows = rows();
    assert!(rows.len() >= 20, "{} rows", rows.len());
    for [command, verdict, class, why] in rows {
        let command = command.trim_matches('`');
        let ran = place.output(&["check", "--json", command]);
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(
            (&said["verdict"], &said["class"]),
            (&verdict.into(), &class.into()),
            "{command}"
        );
        let why = why.replace("/home/u", &place.home().display().to_string());
        let reasons = said["reasons"].to_string();
        assert!(
            reasons.contains(&why.replace('"', "\\\"")),
            "{command}: {why}: {reasons}"
        );
        let shown = place.output(&["check", command]);
        assert_eq!(shown.code, ran.code, "{command}");
        assert!(
            shown.stdout.starts_with(said["verdict"].as_str().unwrap()),
            "{command}"
        );
    }
}
