//! A dry run: the syntax of a script, the tools that it names and the arguments that it writes out. Nothing runs.

use std::time::Duration;

use ringfence_dialect::{ErrorCode, Phase, ScriptError};
use ringfence_script::check_tool_script;
use serde_json::{Value, json};

use super::ending::Told;
use super::facade::{self, Exposed};
use super::failure;
use super::request::ScriptRequest;
use crate::engine::Engine;

impl Engine {
    /// Looks at a script: a report, or the error that it would fail with before its first line.
    pub(super) async fn look_at(
        &self,
        request: &ScriptRequest,
        timeout: Duration,
        exposed: &[Exposed],
    ) -> Told {
        let script = self.tool_script(request);
        let looked = check_tool_script(self.tool_runtime(), script);
        let Ok(result) = tokio::time::timeout(timeout, looked).await else {
            let message = "looking at the script took too long";
            let code = ErrorCode::ScriptTimeoutError;
            return Told::failed(ScriptError::new(code, Phase::Parsing, message));
        };
        if let Some(error) = failure::of_run(&result) {
            return Told::failed(error);
        }
        let text = result.result.as_ref().and_then(|value| value.as_str());
        let uses: Vec<Value> = text
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        report(&uses, exposed)
    }
}

/// What is told of the calls that a script shows.
fn report(uses: &[Value], exposed: &[Exposed]) -> Told {
    let mut problems: Vec<(ErrorCode, String)> = Vec::new();
    let mut calls = Vec::new();
    for used in uses {
        let mut call =
            json!({ "tool": used["tool"], "line": used["line"], "column": used["column"] });
        if let Some((code, problem)) = problem(used, exposed) {
            call["problem"] = json!(format!("{code}: {problem}"));
            problems.push((code, format!("line {}: {code}: {problem}", used["line"])));
        }
        calls.push(call);
    }
    let lines: Vec<&String> = problems.iter().map(|(_, line)| line).collect();
    let report = json!({ "dryRun": true, "valid": problems.is_empty(), "toolCalls": calls, "problems": lines });
    let error = problems.first().map(|(code, _)| {
        let lines: Vec<&str> = lines.iter().map(|line| line.as_str()).collect();
        ScriptError::new(*code, Phase::Parsing, lines.join("; "))
    });
    Told {
        output_json: Some(report.to_string()),
        error,
        warnings: vec!["dry run: the script was checked and not run".to_owned()],
        ..Told::default()
    }
}

/// What is wrong with a call as it is written, if anything can be seen.
fn problem(used: &Value, exposed: &[Exposed]) -> Option<(ErrorCode, String)> {
    let path = used["tool"].as_str().unwrap_or_default();
    if [facade::SEARCH, facade::DESCRIBE].contains(&path) {
        return None;
    }
    let Some(tool) = exposed.iter().find(|tool| tool.name == path) else {
        let missing = facade::missing(exposed, path);
        return Some((ErrorCode::ToolNotFoundError, missing));
    };
    let arguments = used.get("arguments")?.clone();
    let error = tool.check(arguments).err()?;
    Some((failure::code(&error), error.to_string()))
}
