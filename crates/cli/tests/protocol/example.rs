//! The example of the documentation, as it stands there.

use std::path::Path;
use std::process::Command;

use crate::program::{Place, RINGFENCE, Ran};

const EXPECTED: &str = "\
asked: python3 -c 'print(6 * 7)'
command: 42
typed: True
served: True
stopped: cancelled
script: 0
reported: begun
code: 8
ended: ['bash --norc']
";

#[test]
fn the_example_runs_as_documented() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let example = docs.join("examples/session.py");
    let text = std::fs::read_to_string(&example).unwrap();
    assert!(text.lines().count() <= 60, "an example is short");
    let page = std::fs::read_to_string(docs.join("session-protocol.md")).unwrap();
    assert!(
        page.contains(&format!("```python\n{text}```")),
        "the page shows the example as it is"
    );
    let place = Place::new();
    let mut program = Command::new("python3");
    program
        .arg(&example)
        .arg(RINGFENCE)
        .current_dir(place.work());
    program
        .env_clear()
        .env("HOME", place.home())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let ran = Ran::of(&program.output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // What it is asked about besides is not what it shows, nor in which words.
    let shown: Vec<&str> = ran.stdout.lines().collect();
    for line in EXPECTED.lines() {
        assert!(
            shown.iter().any(|said| said.starts_with(line)),
            "{line}: {}",
            ran.stdout
        );
    }
}
