//! Awkward programs, sixty for each feature, as data: `tests/programs/*.txt`. Each runs on both runtimes, and all but
//! the modules as code and as the body of a tool script, with one expectation for all of them.

use std::process::{Command, Stdio};

use ringfence_script::{CodeExecutionResult, CodeOptions};
use serde_json::Value as Json;

use crate::stage::{self, Stage};
use crate::tool_script;

const FEATURES: [(&str, &str); 7] = [
    ("promises", include_str!("../programs/promises.txt")),
    ("generators", include_str!("../programs/generators.txt")),
    ("classes", include_str!("../programs/classes.txt")),
    ("modules", include_str!("../programs/modules.txt")),
    ("typescript", include_str!("../programs/typescript.txt")),
    ("unicode", include_str!("../programs/unicode.txt")),
    ("errors", include_str!("../programs/errors.txt")),
];

/// Programs that a feature has at least.
const EACH: usize = 60;

/// What comes of a program.
#[derive(Debug)]
enum Expected {
    Value(Json),
    /// A line, a name or status, and words of the message.
    Failure(Line, String, String),
}

/// What a program is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Module,
    /// The body of an async function.
    Body,
}

/// Where a failure is.
#[derive(Debug)]
enum Line {
    Unsaid,
    At(u64),
}

struct Program {
    source: String,
    modules: Vec<(String, String)>,
    expected: Expected,
}

fn programs(text: &str) -> Vec<Program> {
    let mut found = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.starts_with("# ") && lines.is_empty() {
            continue;
        }
        let expected = if let Some(json) = line.strip_prefix("=> ") {
            Expected::Value(serde_json::from_str(json).expect(json))
        } else if let Some(rest) = line.strip_prefix("!! ") {
            let mut parts = rest.splitn(3, ' ');
            let at = parts.next().unwrap();
            let at = at.parse().map_or(Line::Unsaid, Line::At);
            let name = parts.next().unwrap().to_owned();
            Expected::Failure(at, name, parts.next().unwrap_or_default().to_owned())
        } else {
            lines.push(line);
            continue;
        };
        let mut parts = lines
            .split(|line| line.starts_with("-- "))
            .map(|part| part.join("\n"));
        let source = parts.next().unwrap_or_default();
        let names = lines.iter().filter_map(|line| line.strip_prefix("-- "));
        let modules = names.map(str::to_owned).zip(parts).collect();
        found.push(Program {
            source,
            modules,
            expected,
        });
        lines.clear();
    }
    found
}

/// The names of all tests of this kind, with what each runs.
pub(crate) fn trials(stage: Stage) -> Vec<(String, Box<dyn FnOnce() + Send>)> {
    let mut trials: Vec<(String, Box<dyn FnOnce() + Send>)> = Vec::new();
    for (feature, text) in FEATURES {
        let name = |how: &str| format!("programs::{feature}::{how}");
        let kind = if feature == "modules" {
            Kind::Module
        } else {
            Kind::Body
        };
        trials.push((
            name("as_code"),
            Box::new(move || all(feature, text, |program| as_code(stage, kind, program))),
        ));
        if kind == Kind::Body {
            trials.push((
                name("as_tool_script"),
                Box::new(move || all(feature, text, |program| as_tool_script(stage, program))),
            ));
        }
    }
    trials
}

fn all(feature: &str, text: &str, check: impl Fn(&Program) -> Result<(), String>) {
    let programs = programs(text);
    assert!(programs.len() >= EACH, "{feature} has {}", programs.len());
    let wrong: Vec<String> = programs
        .iter()
        .enumerate()
        .filter_map(|(at, program)| {
            let wrong = check(program).err()?;
            Some(format!("{feature} {}: {wrong}\n{}", at + 1, program.source))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn as_code(stage: Stage, kind: Kind, program: &Program) -> Result<(), String> {
    let source = match kind {
        Kind::Module => program.source.clone(),
        // A function may not hold a namespace, which stands at the top.
        Kind::Body if program.source.starts_with("namespace ") => hoisted(&program.source),
        // On one line with what it begins with, so that lines keep their numbers.
        Kind::Body => format!("export default async function () {{ {}\n}}", program.source),
    };
    let modules = program.modules.iter();
    let options = modules.fold(CodeOptions::new(), |options, (name, source)| {
        options.module(name, source)
    });
    let result = stage::run(stage.run(&source, options));
    let value = result.result.as_ref().map(ringfence_script::Value::to_json);
    compare(program, &result, value.as_ref())
}

/// The statements before the last `return` at the top of a module.
fn hoisted(source: &str) -> String {
    let (before, returned) = source.rsplit_once("return ").unwrap_or((source, "null"));
    format!("{before}; export default {returned}")
}

fn as_tool_script(stage: Stage, program: &Program) -> Result<(), String> {
    let (result, _) = stage::run(tool_script::run(stage, &program.source));
    let value = result.result.as_ref().map(|value| match value.as_str() {
        Some(text) => serde_json::from_str(text).unwrap(),
        None => Json::Null,
    });
    compare(program, &result, value.as_ref())
}

fn compare(
    program: &Program,
    result: &CodeExecutionResult,
    value: Option<&Json>,
) -> Result<(), String> {
    match (&program.expected, &result.error) {
        (Expected::Value(expected), _) if value == Some(expected) => Ok(()),
        (Expected::Failure(line, name, words), Some(error)) => {
            let named = error.name == *name || result.status.as_str() == name;
            let text = format!(
                "{} {}",
                error.message,
                error.specifier.as_deref().unwrap_or_default()
            );
            let lines = match line {
                Line::Unsaid => true,
                Line::At(line) => error.line == Some(*line),
            };
            if named && lines && text.to_lowercase().contains(&words.to_lowercase()) {
                return Ok(());
            }
            Err(format!(
                "expected {:?}, failed with {error:?}",
                program.expected
            ))
        }
        (expected, error) => Err(format!(
            "expected {expected:?}, gave {value:?} {:?} {error:?}",
            result.status
        )),
    }
}

/// Node gives the same, where it is and as far as it is new enough. Values that JSON cannot carry as they are differ.
pub(crate) fn node_agrees() {
    let Some(version) = node_version() else {
        println!("skipped: node is not here");
        return;
    };
    for (feature, text) in FEATURES {
        if ["modules", "typescript"].contains(&feature) {
            continue;
        }
        let bodies: Vec<(String, Json)> = programs(text)
            .into_iter()
            .filter(|program| version >= 22 || !program.source.contains("withResolvers"))
            .filter_map(|program| match program.expected {
                Expected::Value(value) if !value.to_string().contains('\u{fffd}') => {
                    Some((program.source, value))
                }
                _ => None,
            })
            .collect();
        let script = "const bodies = JSON.parse(require('fs').readFileSync(0, 'utf8'));
            const F = (async () => {}).constructor;
            (async () => { const out = []; for (const b of bodies) out.push(await F('\"use strict\";' + b)()); console.log(JSON.stringify(out)) })()";
        let mut child = Command::new("node")
            .args(["-e", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let sources: Vec<&str> = bodies.iter().map(|(source, _)| source.as_str()).collect();
        serde_json::to_writer(child.stdin.take().unwrap(), &sources).unwrap();
        let output = child.wait_with_output().unwrap();
        let given: Vec<Json> = serde_json::from_slice(&output.stdout).expect(feature);
        for ((source, expected), given) in bodies.iter().zip(given) {
            assert_eq!(*expected, given, "{feature}: {source}");
        }
    }
}

fn node_version() -> Option<u32> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim()
        .strip_prefix('v')?
        .split('.')
        .next()?
        .parse()
        .ok()
}
