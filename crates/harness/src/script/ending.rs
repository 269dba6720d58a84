//! What came of a script: from how its serving ended to what the model is told.

use std::time::Duration;

use ringfence_dialect::{
    ErrorCode, OutputMetadata, Phase, ScriptError, ScriptStatus, ScriptToolCall,
    ScriptToolCallOutput,
};
use ringfence_script::CodeExecutionResult;
use serde_json::{Value, json};

use super::failure;
use super::ledger::Ledger;
use super::request::{ScriptRequest, ScriptRun};
use super::run::GRACE;
use crate::config::ScriptLimits;

/// Characters of a result that is too large.
const PREVIEW: usize = 2000;

/// How the serving ended.
pub(super) enum End {
    Finished(Box<CodeExecutionResult>),
    TimedOut,
    Stopped,
}

/// What was still open when a script ended.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Calls that it did not await.
    pub(super) aborted: Vec<String>,
    /// Those of them that would not end.
    pub(super) stuck: Vec<String>,
}

/// What an ending is measured by.
pub(super) struct Limits<'a> {
    pub(super) script: &'a ScriptLimits,
    pub(super) timeout: Duration,
    /// The time that counted.
    pub(super) elapsed: Duration,
}

/// What is told of a script.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(super) output_json: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) error: Option<ScriptError>,
    pub(super) warnings: Vec<String>,
    pub(super) memory: Option<u64>,
    pub(super) calls: u64,
}

impl Told {
    /// What is told of an end.
    pub(super) fn of(end: &End, ledger: &Ledger<'_>, left: &Left, limits: &Limits<'_>) -> Self {
        let mut told = match conclude(end, left, limits) {
            Ok((json, warnings)) => Self {
                summary: json.as_deref().and_then(summary),
                output_json: json,
                warnings: [warnings, ledger.not_started.clone()].concat(),
                ..Self::default()
            },
            Err(error) => {
                let elapsed = u64::try_from(limits.elapsed.as_millis()).unwrap_or(u64::MAX);
                let preview = error.metadata.get("preview").cloned();
                let mut told = Self::failed(ledger.complete(error.with("elapsedMs", elapsed)));
                told.output_json = match preview {
                    Some(preview) => {
                        Some(json!({ "truncated": true, "preview": preview }).to_string())
                    }
                    None => ledger.partial_results(),
                };
                told
            }
        };
        if let End::Finished(result) = end {
            told.memory = result.memory_used_bytes;
        }
        told.calls = ledger.made();
        told
    }

    /// Why it failed, if it did.
    pub(crate) fn failure(&self) -> Option<ErrorCode> {
        self.error.as_ref().map(|error| error.code)
    }

    pub(super) fn failed(error: ScriptError) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }

    pub(super) fn into_run(
        self,
        request: ScriptRequest,
        id: String,
        duration: Duration,
    ) -> ScriptRun {
        let call_id = request
            .call_id
            .unwrap_or_else(|| crate::identifier::random("call"));
        let mut call = ScriptToolCall::pending(
            id.clone(),
            call_id.clone(),
            request.language,
            request.source,
        );
        call.status = match self.error {
            None => ScriptStatus::Completed,
            Some(_) => ScriptStatus::Error,
        };
        #[expect(clippy::cast_precision_loss, reason = "megabytes for a person")]
        let megabytes = |bytes: u64| (bytes as f64 / f64::from(1 << 20) * 10.0).round() / 10.0;
        ScriptRun {
            call,
            output: ScriptToolCallOutput {
                id,
                call_id,
                output_json: self.output_json,
                error: self.error,
                summary: self.summary,
                warnings: self.warnings,
                metadata: OutputMetadata {
                    duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
                    tool_calls_made: self.calls,
                    memory_used_mb: self.memory.map(megabytes),
                },
            },
        }
    }
}

/// The JSON that a script returned and what to warn of, or why it failed.
fn conclude(
    end: &End,
    left: &Left,
    limits: &Limits<'_>,
) -> Result<(Option<String>, Vec<String>), Box<ScriptError>> {
    let fail =
        |code, message: String| Err(Box::new(ScriptError::new(code, Phase::Executing, message)));
    match end {
        End::TimedOut => fail(
            ErrorCode::ScriptTimeoutError,
            format!(
                "the script took more than its {} ms",
                limits.timeout.as_millis()
            ),
        ),
        End::Stopped => fail(
            ErrorCode::ApprovalDeniedError,
            "the user stopped the script".to_owned(),
        ),
        End::Finished(result) => {
            let json = returned(result, limits.script)?;
            Ok((json, leaks(left, limits.script)?))
        }
    }
}

/// The JSON that a script returned, if it did and it is not too large.
fn returned(
    result: &CodeExecutionResult,
    limits: &ScriptLimits,
) -> Result<Option<String>, Box<ScriptError>> {
    if let Some(error) = failure::of_run(result) {
        return Err(Box::new(error));
    }
    let odd = |message: String| {
        ScriptError::new(ErrorCode::SerializationError, Phase::Finalizing, message)
    };
    let most = limits.max_return_size_bytes;
    match result.result.as_ref().and_then(|value| value.as_str()) {
        None => Ok(None),
        Some(text) if text.len() as u64 > most => {
            let preview: String = text.chars().take(PREVIEW).collect();
            let message = format!(
                "what the script returned has {} bytes as JSON; at most {most} are taken, so return less",
                text.len()
            );
            Err(Box::new(odd(message).with("preview", preview)))
        }
        // The process that wrote it is not trusted to have written JSON.
        Some(text) => match serde_json::from_str::<Value>(text) {
            Ok(_) => Ok(Some(text.to_owned())),
            Err(error) => Err(Box::new(odd(format!(
                "what the script returned is not JSON: {error}"
            )))),
        },
    }
}

/// The warnings about calls that the script did not await; an error if they would not end.
fn leaks(left: &Left, limits: &ScriptLimits) -> Result<Vec<String>, Box<ScriptError>> {
    if left.aborted.is_empty() {
        return Ok(Vec::new());
    }
    if left.stuck.is_empty() || limits.allow_detached_promises {
        return Ok(vec![format!(
            "the script ended before these calls did, so they were cancelled: {}; await them",
            left.aborted.join(", ")
        )]);
    }
    let message = format!(
        "the script ended with calls that it did not await, and that did not end within {} ms of being \
         cancelled: {}",
        GRACE.as_millis(),
        left.stuck.join(", ")
    );
    let error = ScriptError::new(ErrorCode::DetachedPromiseError, Phase::Finalizing, message);
    Err(Box::new(error))
}

/// The `message` of what was returned.
fn summary(json: &str) -> Option<String> {
    let value: Value = serde_json::from_str(json).ok()?;
    value.get("message")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn calls_that_nobody_awaited_are_a_warning_if_they_end_and_an_error_if_not() {
        let mut limits = Config::default().script.limits;
        let left = |stuck: &[&str]| Left {
            aborted: vec!["tool_0 (exec)".to_owned(), "tool_1 (exec)".to_owned()],
            stuck: stuck.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_eq!(
            leaks(&Left::default(), &limits).unwrap(),
            Vec::<String>::new()
        );
        let warnings = leaks(&left(&[]), &limits).unwrap();
        assert!(
            warnings[0].contains("tool_0 (exec), tool_1 (exec)"),
            "{warnings:?}"
        );
        let error = leaks(&left(&["tool_1 (exec)"]), &limits).unwrap_err();
        assert_eq!(
            (error.code, error.phase),
            (ErrorCode::DetachedPromiseError, Phase::Finalizing)
        );
        assert!(error.message.contains("tool_1") && !error.message.contains("tool_0"));
        limits.allow_detached_promises = true;
        assert_eq!(leaks(&left(&["tool_1 (exec)"]), &limits).unwrap().len(), 1);
    }
}
