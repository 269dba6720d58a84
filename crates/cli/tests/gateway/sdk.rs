//! The official `openai` and `anthropic` packages for Python, as `scripts/test` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use ringfence_testkit::model::script::When;
use ringfence_testkit::model::{Answer, Part, Script};
use ringfence_testkit::require;
use serde_json::{Value, json};

use crate::serving::Serving;

/// The Python that has the packages.
fn python() -> Option<PathBuf> {
    let installed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-python/bin/python");
    let named = std::env::var_os("RINGFENCE_SDK_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or(installed);
    let has = Command::new(&python)
        .args(["-c", "import openai, anthropic"])
        .output();
    if has.is_ok_and(|has| has.status.success()) {
        return Some(python);
    }
    require::missing(
        "the openai and anthropic packages",
        "the packages openai and anthropic; scripts/test installs them",
    );
    None
}

const ECHO: &str =
    "const r = await tools.exec({command: ['echo', 'from the fence']}); return r.stdout";

fn answers(case: &str) -> Vec<Answer> {
    let call = || Part::call("weather", json!({"city": "Ulm"}));
    let parts = match case {
        "plain" => vec![vec![Part::text("Hello — plain.")]],
        "thinking" => vec![vec![Part::thinking("Hmm… é"), Part::text("Thought.")]],
        "call" => vec![vec![Part::text("Asking."), call()]],
        "script" => vec![
            vec![
                Part::thinking("I run it"),
                Part::text("Before.\n"),
                Part::script(ECHO),
            ],
            vec![Part::text("After.")],
        ],
        "script-and-call" => vec![vec![Part::text("Both.\n"), Part::script(ECHO), call()]],
        _ => vec![
            vec![
                Part::script("return 1"),
                Part::text("\nbetween\n"),
                Part::script("return 2"),
            ],
            vec![Part::script("throw new Error('three')")],
            vec![Part::thinking("enough"), Part::text("Done.")],
        ],
    };
    parts.into_iter().map(Answer::of).collect()
}

const CASES: [&str; 6] = [
    "plain",
    "thinking",
    "call",
    "script",
    "script-and-call",
    "many-scripts",
];

fn script() -> Script {
    let mut script = Script::default();
    for api in ["responses", "chat", "messages"] {
        for way in ["whole", "stream"] {
            for case in CASES {
                script
                    .answers
                    .extend(answers(case).into_iter().map(|answer| Answer {
                        when: When {
                            contains: Some(format!("case {case}-{api}-{way}")),
                            tools: None,
                        },
                        piece: Some(3),
                        chunk: Some(7),
                        keep_alives: true,
                        ..answer
                    }));
            }
        }
        script.answers.push(Answer {
            when: When {
                contains: Some(format!("case refused-{api}")),
                tools: None,
            },
            ..Answer::status(400)
        });
    }
    script
}

#[test]
fn the_official_sdks_understand_everything() {
    let Some(python) = python() else { return };
    let serving = Serving::start(script(), &[], &[]);
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gateway/sdk.py");
    let ran = Command::new(python)
        .arg(program)
        .arg(&serving.url)
        .env_clear()
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(
        ran.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let mut seen = 0;
    for line in said.lines() {
        let told: Value = serde_json::from_str(line).unwrap();
        check(&told);
        seen += 1;
    }
    assert_eq!(seen, 3 * (2 * CASES.len() + 1) + 1, "{said}");
    assert_eq!(serving.model.left(), 0, "every answer was asked for");
}

/// One line: the API, the way, the case, the text, the thoughts, the calls, the tokens written.
fn check(told: &Value) {
    let text = told[3].as_str().unwrap();
    let thoughts = told[4].as_str().unwrap();
    let calls = &told[5];
    let weather = json!([["weather", {"city": "Ulm"}]]);
    let results = text.matches("<tool-results>").count();
    match told[2].as_str().unwrap() {
        "plain" => assert_eq!(
            (text, calls, &told[6]),
            ("Hello — plain.", &json!([]), &json!(20))
        ),
        "thinking" => assert_eq!((text, thoughts), ("Thought.", "Hmm… é"), "{told}"),
        "call" => assert_eq!((text, calls), ("Asking.", &weather), "{told}"),
        "script" => {
            assert!(text.starts_with("Before.\n<tool-calls>\n"), "{told}");
            assert!(
                text.contains(r#""output_json":"\"from the fence\\n\"""#),
                "{told}"
            );
            assert!(text.ends_with("</tool-results>\n\nAfter."), "{told}");
            assert_eq!(
                (thoughts, results, &told[6]),
                ("I run it", 1, &json!(40)),
                "{told}"
            );
        }
        "script-and-call" => {
            assert_eq!((calls, results), (&weather, 1), "{told}");
            assert!(text.contains("from the fence"), "{told}");
        }
        "many-scripts" => {
            assert_eq!(
                (thoughts, results, &told[6]),
                ("enough", 3, &json!(60)),
                "{told}"
            );
            assert!(text.contains("Error") && text.ends_with("Done."), "{told}");
        }
        "refused" => assert!(text.contains("as the script says"), "{told}"),
        "models" => assert_eq!(text, "fake"),
        other => panic!("{other}"),
    }
}
