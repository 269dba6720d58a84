//! A call that came to nothing, as a client gets it: what happened, why, and what a person can do about it.

use std::sync::Arc;

use ringfence::CallError;
use ringfence_protocol::wire::QuestionParams;
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::{Value, json};

/// The result of a call that failed or was refused.
pub(crate) fn result(error: &CallError, not_approved: &[Arc<QuestionParams>]) -> CallToolResult {
    let mut details = error.to_json()["error"].take();
    let mut lines = vec![format!("{}: {error}", error.code())];
    if let CallError::Refused(refusal) = error {
        details["class"] = json!(refusal.class);
        lines.extend(refusal.class.map(|class| format!("class: {class}")));
    }
    if !not_approved.is_empty() {
        lines.push(what_a_person_can_do(not_approved));
        details["asked"] = not_approved.iter().map(|asked| way(asked)).collect();
    }
    failed(lines.join("\n"), details)
}

/// How what was asked about and not approved can be allowed.
pub(crate) fn what_a_person_can_do(not_approved: &[Arc<QuestionParams>]) -> String {
    let mut lines = Vec::new();
    for way in not_approved.iter().map(|asked| way(asked)) {
        let said = |field: &str| way[field].as_str();
        if let Some(rule) = said("rule") {
            lines.push(format!(
                "the rule that would allow it:\n{}",
                rule.trim_end()
            ));
        }
        if let Some(command) = said("allow_with") {
            lines.push(format!(
                "a person can allow it with:\n{command}\nTell the user; the same call works then."
            ));
        }
        if let Some(command) = said("run_with") {
            lines.push(format!(
                "no rule can allow it; a person can run it, and is asked, with:\n{command}"
            ));
        }
    }
    lines.join("\n")
}

/// A result that says what went wrong, for a model and for programs.
pub(crate) fn failed(text: String, details: Value) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    let mut meta = MetaObject::default();
    meta.insert("ringfence/error".to_owned(), details);
    result.meta = Some(meta);
    result
}

/// What a person can do so that a question need not be asked.
fn way(asked: &QuestionParams) -> Value {
    let mut way = json!({
        "command": asked.command,
        "reason": asked.reason,
        "class": asked.class,
    });
    if let Some(proposed) = asked.proposals.first() {
        way["summary"] = json!(proposed.summary);
        way["rule"] = json!(proposed.rule);
        way["allow_with"] = json!(format!(
            "ringfence rules add {}",
            quoted(proposed.rule.trim_end())
        ));
    } else if asked.cwd.is_some() {
        way["run_with"] = json!(format!(
            "ringfence run -- bash -c {}",
            quoted(&asked.command)
        ));
    }
    way
}

/// One word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
