//! Finding calls in the audit log, and the log for other programs.

#![allow(clippy::unwrap_used)]

mod program;

use program::Place;
use serde_json::json;

/// A place where one call ran well, one failed, and one was refused.
fn place() -> Place {
    let place = Place::new();
    for command in ["echo =1+1", "exit 3", "rm -rf /"] {
        let arguments = json!({ "command": command }).to_string();
        place.output(&["call", "bash", &arguments]);
    }
    place
}

#[test]
fn calls_are_found_by_conditions() {
    let place = place();
    let work = place.work().display().to_string();
    for (flags, found) in [
        (&[][..], &["echo =1+1", "exit 3", "rm -rf /"][..]),
        (&["--tool", "bash"], &["echo =1+1", "exit 3", "rm -rf /"]),
        (&["--tool", "shell"], &[]),
        (&["--verdict", "deny"], &["rm -rf /"]),
        (
            &["--class", "read-only", "--tool", "bash"],
            &["echo =1+1", "exit 3"],
        ),
        (&["--class", "dangerous"], &["rm -rf /"]),
        (&["--outcome", "failed"], &["exit 3"]),
        (&["--text", "=1"], &["echo =1+1"]),
        (&["--since", "1h", "--outcome", "refused"], &["rm -rf /"]),
        (&["--until", "1h"], &[]),
        (&["--path", &work, "--text", "exit"], &["exit 3"]),
        (&["--host", "example.com"], &[]),
    ] {
        let mut arguments = vec!["audit", "show"];
        arguments.extend(flags);
        let shown = place.output(&arguments);
        assert_eq!(shown.code, Some(0), "{flags:?}: {}", shown.stderr);
        let told: Vec<&str> = ["echo =1+1", "exit 3", "rm -rf /"]
            .into_iter()
            .filter(|command| shown.stdout.contains(&format!("bash: {command} ")))
            .collect();
        assert_eq!(told, found, "{flags:?}: {}", shown.stdout);
        // The end of each stands there as well. (Without conditions, that of other calls, too.)
        let ends = [" ended: ", " was refused"].map(|end| shown.stdout.matches(end).count());
        let ends = ends.iter().sum::<usize>();
        let expected = if flags.is_empty() { ends } else { found.len() };
        assert_eq!(ends, expected, "{flags:?}: {}", shown.stdout);
    }
}

#[test]
fn conditions_that_mean_nothing_are_errors() {
    let place = Place::new();
    for (flags, said) in [
        (["--since", "yesterday"], "is neither a period"),
        (
            ["--verdict", "maybe"],
            "[possible values: allow, ask, deny]",
        ),
        (["--class", "bad"], "[possible values: read-only, safe"),
        (["--outcome", "fine"], "[possible values: ok, failed"),
    ] {
        let shown = place.output(&[&["audit", "show"], &flags[..]].concat());
        assert_ne!(shown.code, Some(0), "{flags:?}");
        assert!(shown.stderr.contains(said), "{flags:?}: {}", shown.stderr);
    }
}

#[test]
fn a_table_has_a_row_for_each_call() {
    let place = place();
    let table = place
        .output(&["audit", "export", "--format", "csv", "--tool", "bash"])
        .stdout;
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let headers = rows.headers().unwrap().clone();
    let column = |row: &csv::StringRecord, name: &str| {
        let at = headers.iter().position(|header| header == name).unwrap();
        row[at].to_owned()
    };
    let rows: Vec<_> = rows
        .records()
        .map(|row| {
            let row = row.unwrap();
            ["command", "verdict", "outcome", "exit_code"].map(|name| column(&row, name))
        })
        .collect();
    assert_eq!(
        rows,
        [
            ["echo =1+1", "allow", "ok", "0"],
            ["exit 3", "allow", "failed", "3"],
            ["rm -rf /", "deny", "refused", ""],
        ]
    );
    let lines = place
        .output(&["audit", "export", "--verdict", "deny"])
        .stdout;
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(lines.lines().all(|line| line.starts_with('{')), "{lines}");
}
