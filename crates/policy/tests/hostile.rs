//! Commands that do something which nobody approved: `tests/hostile/*.txt`. Each is really run,
//! unfenced in a throwaway namespace, and leaves its marker there; none is judged read-only or safe.

use std::path::{Component, Path, PathBuf};

use ringfence_policy::{
    classify::{Class, classify},
    facts::{CommandText, understand},
};

mod namespace;

use namespace::{Fixture, Watch, can_run, ground, shell_kind};

const FILES: &[(&str, &str)] = &[
    ("arithmetic.txt", include_str!("hostile/arithmetic.txt")),
    ("builtins.txt", include_str!("hostile/builtins.txt")),
    ("git.txt", include_str!("hostile/git.txt")),
    ("loss.txt", include_str!("hostile/loss.txt")),
    ("options.txt", include_str!("hostile/options.txt")),
    ("splitting.txt", include_str!("hostile/splitting.txt")),
    ("variables.txt", include_str!("hostile/variables.txt")),
    ("zsh.txt", include_str!("hostile/zsh.txt")),
];

struct Row {
    place: String,
    shell: &'static str,
    /// What changes, relative to the workspace.
    marker: &'static str,
    command: String,
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (file, text) in FILES {
        for (index, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut parts = line.splitn(3, ' ');
            let [Some(shells), Some(marker), Some(command)] =
                [parts.next(), parts.next(), parts.next()]
            else {
                panic!("{file}:{}: {line}", index + 1);
            };
            for shell in shells.split(',') {
                rows.push(Row {
                    place: format!("{file}:{} ({shell})", index + 1),
                    shell,
                    marker,
                    command: unescape(command),
                });
            }
        }
    }
    rows
}

/// `\n` is a new line, `\\n` a backslash and an n.
fn unescape(text: &str) -> String {
    text.replace("\\\\n", "\u{1}")
        .replace("\\n", "\n")
        .replace('\u{1}', "\\n")
}

/// The marker as a path below the home folder.
fn below_home(marker: &str) -> PathBuf {
    let mut path = PathBuf::from("work");
    for part in Path::new(marker).components() {
        match part {
            Component::ParentDir => _ = path.pop(),
            part => path.push(part),
        }
    }
    path
}

fn class(row: &Row) -> Class {
    let kind = shell_kind(row.shell);
    let facts = understand(CommandText::Shell {
        kind,
        text: &row.command,
    });
    classify(&facts, &ground()).class
}

#[test]
fn none_is_judged_read_only_or_safe() {
    let rows = rows();
    let wrong: Vec<String> = rows
        .iter()
        .map(|row| (row, class(row)))
        .filter(|(_, class)| *class <= Class::Safe)
        .map(|(row, class)| format!("{} is {class}: {}", row.place, row.command))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
    assert!(rows.len() >= 650, "only {} rows", rows.len());
}

/// Losing work is worth a question under every policy that asks.
#[test]
fn losing_work_is_suspicious() {
    for row in rows()
        .iter()
        .filter(|row| row.place.starts_with("loss.txt"))
    {
        assert_eq!(
            class(row),
            Class::Suspicious,
            "{} {}",
            row.place,
            row.command
        );
    }
}

#[test]
fn each_leaves_its_marker() {
    if !can_run() {
        return;
    }
    let (fixture, rows) = (Fixture::new(), rows());
    let half = rows.len() / 2;
    let harmless = |rows: &[Row]| {
        let mut harmless = Vec::new();
        for row in rows {
            let run = fixture.run(row.shell, &row.command, Watch::No);
            let marker = below_home(row.marker);
            if run.before.get(&marker) == run.after.get(&marker) {
                harmless.push(format!("{} {}: {}", row.place, row.command, run.printed));
            }
        }
        harmless
    };
    let found = std::thread::scope(|scope| {
        let first = scope.spawn(|| harmless(&rows[..half]));
        let mut found = harmless(&rows[half..]);
        found.extend(first.join().unwrap_or_else(|_| panic!("the other half")));
        found
    });
    assert!(found.is_empty(), "without a marker:\n{}", found.join("\n"));
    // The twin: a command that only looks leaves none.
    let run = fixture.run("bash", "x=3; echo $((x)); ls; git status", Watch::No);
    assert!(run.changed().is_empty(), "{:?}", run.changed());
}
