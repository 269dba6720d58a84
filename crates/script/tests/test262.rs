//! Cases of test262 for the intrinsics that tool scripts find frozen: whatever holds for code must hold for them, but for
//! what changes an intrinsic or looks whether it can be changed.
//!
//! No registry has the cases as a package. Where `RINGFENCE_TEST262` names a checkout they take part; elsewhere that is said.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ringfence_script::{
    CodeExecution, CodeExecutionLog, CodeOptions, Language, Reply, RunLimits, ScriptRuntime,
    Status, ThreadRuntime, ToolCall, ToolHost, ToolScript, ToolScriptLimits, run_code_on,
    run_tool_script,
};
use serde_json::json;

/// The intrinsics that are frozen, as the folders are named.
const INTRINSICS: &[&str] = &[
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "ArrayIteratorPrototype",
    "AsyncDisposableStack",
    "AsyncFromSyncIteratorPrototype",
    "AsyncGeneratorPrototype",
    "BigInt",
    "Boolean",
    "DataView",
    "Date",
    "DisposableStack",
    "Error",
    "GeneratorPrototype",
    "Iterator",
    "JSON",
    "Map",
    "MapIteratorPrototype",
    "Math",
    "NativeErrors",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "Reflect",
    "RegExp",
    "RegExpStringIteratorPrototype",
    "Set",
    "SetIteratorPrototype",
    "String",
    "StringIteratorPrototype",
    "SuppressedError",
    "Symbol",
    "TypedArray",
    "TypedArrayConstructors",
    "Uint8Array",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "parseFloat",
    "parseInt",
];

/// What a case says that fails because something is frozen: it wanted to change it, or to find that it can be changed.
const FROZEN: &[&str] = &[
    "read-only",
    "not extensible",
    "not configurable",
    "could not delete property",
    "desc.",
    "descriptor should",
    "writable:true",
    "must be extensible",
    "is extensible",
    "isExtensible",
    "still extensible",
];

/// Cases that differ for another reason: how their paths begin, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "AsyncGeneratorPrototype/",
        "async generators are driven generators: what can be reflected on is another object",
    ),
    (
        "Object/isExtensible/",
        "asks whether intrinsics are extensible",
    ),
    ("Object/isFrozen/", "asks whether intrinsics are frozen"),
    ("Object/isSealed/", "asks whether intrinsics are sealed"),
    (
        "Object/defineProperties/15.2.3.7-6-a-1",
        "changes Array.prototype",
    ),
    (
        "Object/defineProperty/15.2.3.6-4-19",
        "changes Array.prototype",
    ),
    (
        "Object/prototype/toString/proxy-function",
        "async functions are ordinary ones to a proxy",
    ),
    (
        "Promise/prototype/then/ctor-access-count.js",
        "whether a promise is of a subclass is looked up once more",
    ),
];

struct NoTools;

impl ToolHost for NoTools {
    fn call(&self, _: ToolCall) -> Reply {
        Box::pin(std::future::pending())
    }

    fn cancel(&self, _: u64) {}

    fn missing(&self, path: &str) -> (String, Vec<String>) {
        (format!("no {path}"), Vec::new())
    }

    fn progress(&self, _: &str, _: &str) {}

    fn log(&self, _: &CodeExecutionLog) {}
}

fn cases(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            cases(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "js") {
            found.push(path);
        }
    }
}

/// The words of a list in what a case says about itself.
fn list(about: &str, key: &str) -> Vec<String> {
    let Some((_, rest)) = about.split_once(&format!("\n{key}:")) else {
        return Vec::new();
    };
    let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
    let inline = line.trim().trim_matches(['[', ']']).split(',');
    let below = below
        .lines()
        .map_while(|line| line.trim().strip_prefix("- "));
    inline
        .chain(below)
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

/// A case with what it includes, as the body of a script; nothing if it is about something that no script is.
fn assembled(root: &Path, case: &Path) -> Option<String> {
    let text = std::fs::read_to_string(case).ok()?;
    let about = text.split_once("/*---")?.1.split_once("---*/")?.0;
    let flags = list(about, "flags");
    let is_not_for_us = ["raw", "module", "noStrict"]
        .iter()
        .any(|flag| flags.iter().any(|of| of == flag));
    if is_not_for_us || about.contains("\nnegative:") {
        return None;
    }
    // Scripts have no `Function`, which the helpers of the cases only take methods from.
    let mut source = "var Function = (function () {}).constructor; var $done, $failed;
        var $over = new Promise((done, failed) => { $done = done; $failed = failed; });
        function $DONE(error) { if (error) $failed(error); else $done(); }\n"
        .to_owned();
    let included = ["assert.js", "sta.js"].map(str::to_owned).into_iter();
    for name in included.chain(list(about, "includes")) {
        source += &std::fs::read_to_string(root.join("harness").join(name)).ok()?;
        source.push('\n');
    }
    source += &text;
    if flags.iter().any(|flag| flag == "async") {
        source += "\nawait $over;";
    }
    Some(source)
}

/// What went wrong, if anything did.
async fn failure(run: CodeExecution) -> Option<String> {
    let Ok(result) = tokio::time::timeout(Duration::from_secs(10), run).await else {
        return Some("it took more than 10 seconds".to_owned());
    };
    let failed = result.status != Status::Success;
    failed.then(|| match result.error {
        Some(error) => format!("{}: {}", error.name, error.message),
        None => result.status.as_str().to_owned(),
    })
}

fn as_tool_script(source: String) -> ToolScript {
    ToolScript {
        source,
        language: Language::JavaScript,
        tools: Vec::new(),
        context: json!({ "turnId": "t", "sandbox": { "toolBudget": 2 } }),
        limits: ToolScriptLimits {
            memory_bytes: 96 << 20,
            stack_bytes: 512 << 10,
            log_lines: 5,
            log_rate: 20,
            return_depth: 8,
        },
    }
}

/// What becomes of a case.
async fn tried(
    runtime: &Arc<dyn ScriptRuntime>,
    path: &str,
    source: String,
) -> Result<&'static str, String> {
    let options = CodeOptions::new().language(Language::JavaScript);
    let code = format!("{source}\nexport default 1");
    if failure(run_code_on(Arc::clone(runtime), code, options))
        .await
        .is_some()
    {
        return Ok("not for code either");
    }
    let script = run_tool_script(
        Arc::clone(runtime),
        as_tool_script(source),
        Arc::new(NoTools),
    );
    match failure(script).await {
        None => Ok("held"),
        Some(_) if DIFFERENT.iter().any(|(prefix, _)| path.starts_with(prefix)) => Ok("different"),
        Some(why) if FROZEN.iter().any(|words| why.contains(words)) => Ok("frozen"),
        Some(why) => Err(format!("{path}: {why}")),
    }
}

#[test]
fn what_holds_for_code_holds_for_tool_scripts() {
    let Some(root) = std::env::var_os("RINGFENCE_TEST262").map(PathBuf::from) else {
        println!("skipped: RINGFENCE_TEST262 names no checkout of test262");
        return;
    };
    let runtime: Arc<dyn ScriptRuntime> = Arc::new(ThreadRuntime::new(RunLimits::default()));
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let folder = root.join("test/built-ins");
    for name in INTRINSICS {
        let mut found = Vec::new();
        cases(&folder.join(name), &mut found);
        for case in found {
            let path = case.strip_prefix(&folder).unwrap().display().to_string();
            let Some(source) = assembled(&root, &case) else {
                *counts.entry("left out").or_default() += 1;
                continue;
            };
            match tokio.block_on(tried(&runtime, &path, source)) {
                Ok(outcome) => *counts.entry(outcome).or_default() += 1,
                Err(why) => wrong.push(why),
            }
        }
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
