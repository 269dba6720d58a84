//! What came of a script: from how its serving ended to what the model is told.

use std::time::Duration;

use ringfence_dialect::{
    ErrorCode, OutputMetadata, Phase, Said, ScriptError, ScriptStatus, ScriptToolCall,
    ScriptToolCallOutput,
};
use ringfence_script::CodeExecutionResult;
use serde_json::{Value, json};

use super::ledger::Ledger;
use super::pending::Pending;
use super::request::{ScriptRequest, ScriptRun};
use super::return_value::ReturnValue;
use super::run::GRACE;
use crate::config::ScriptLimits;

/// How the serving ended.
pub(super) enum End {
    Finished(Box<CodeExecutionResult>),
    TimedOut,
    /// A person answered a question by stopping everything.
    Stopped,
    /// Whoever started it wants it no longer.
    Cancelled,
}

/// What was still open when a script ended.
#[derive(Debug, Default)]
pub(super) struct Left {
    /// Calls that it did not await.
    pub(super) aborted: Vec<Pending>,
    /// Those of them that would not end.
    pub(super) stuck: Vec<Pending>,
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
    pub(super) said: Said,
    pub(super) memory: Option<u64>,
    pub(super) calls: u64,
}

impl Told {
    /// What is told of an end.
    pub(super) fn of(
        end: &End,
        ledger: &Ledger<'_>,
        left: &Left,
        limits: &Limits<'_>,
        said: Said,
    ) -> Self {
        let mut returned = conclude(end, left, limits);
        let mut warnings = ledger.not_started.clone();
        if let End::Finished(result) = end {
            warnings.extend(ledger.unhandled(result));
        }
        match leaks(left, limits.script) {
            Ok(cancelled) if returned.error.is_none() => warnings.extend(cancelled),
            Err(error) if returned.error.is_none() => {
                let value = returned.json.as_deref().map(serde_json::from_str::<Value>);
                let shown = value.and_then(Result::ok);
                returned.json = shown.map(|value| json!({ "result": value }).to_string());
                returned.error = Some(error);
            }
            // A script that failed has no more need to be told to await.
            _ => {}
        }
        let elapsed = u64::try_from(limits.elapsed.as_millis()).unwrap_or(u64::MAX);
        let error = returned.error.map(|error| {
            let error = error.with("elapsedMs", elapsed);
            ledger.complete(error, &left.aborted)
        });
        let partial = error.as_ref().and_then(|_| ledger.partial_results());
        Self {
            output_json: match partial {
                Some(partial) => Some(beside(returned.json.as_deref(), partial)),
                None => returned.json,
            },
            summary: returned.summary,
            error,
            warnings,
            said,
            memory: match end {
                End::Finished(result) => result.memory_used_bytes,
                _ => None,
            },
            calls: ledger.made(),
        }
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
                said: self.said,
                metadata: OutputMetadata {
                    duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
                    tool_calls_made: self.calls,
                    memory_used_mb: self.memory.map(megabytes),
                },
            },
        }
    }
}

/// What a script returned, or why it failed.
fn conclude(end: &End, left: &Left, limits: &Limits<'_>) -> ReturnValue {
    let fail = |code, message: String| ReturnValue {
        error: Some(Box::new(ScriptError::new(code, Phase::Executing, message))),
        ..ReturnValue::default()
    };
    match end {
        End::Finished(result) => ReturnValue::of(result, limits.script.max_return_size_bytes),
        End::TimedOut => {
            let most = limits.timeout.as_millis();
            let doing = match left.aborted.as_slice() {
                [] => "no call was under way: its own code took the time".to_owned(),
                pending => format!("still under way: {}", Pending::list(pending)),
            };
            fail(
                ErrorCode::ScriptTimeoutError,
                format!("the script took more than its {most} ms; {doing}"),
            )
        }
        End::Stopped => fail(
            ErrorCode::ApprovalDeniedError,
            "the user stopped the script".to_owned(),
        ),
        End::Cancelled => fail(
            ErrorCode::ScriptCancelledError,
            match left.aborted.as_slice() {
                [] => "the script was cancelled".to_owned(),
                pending => format!(
                    "the script was cancelled; still under way: {}",
                    Pending::list(pending)
                ),
            },
        ),
    }
}

/// What is shown of a result, together with what the tools had returned.
fn beside(shown: Option<&str>, mut partial: Value) -> String {
    let shown = shown.and_then(|json| serde_json::from_str(json).ok());
    if let (Some(Value::Object(shown)), Some(partial)) = (shown, partial.as_object_mut()) {
        partial.extend(shown);
    }
    partial.to_string()
}

/// The warnings about calls that the script did not await; an error if they would not end.
fn leaks(left: &Left, limits: &ScriptLimits) -> Result<Vec<String>, Box<ScriptError>> {
    if left.aborted.is_empty() {
        return Ok(Vec::new());
    }
    if left.stuck.is_empty() || limits.allow_detached_promises {
        return Ok(vec![format!(
            "the script ended before these calls did, so they were cancelled: {}; await them",
            Pending::list(&left.aborted)
        )]);
    }
    let message = format!(
        "the script ended with calls that it did not await, and that did not end within {} ms of being \
         cancelled: {}",
        GRACE.as_millis(),
        Pending::list(&left.stuck)
    );
    let error = ScriptError::new(ErrorCode::DetachedPromiseError, Phase::Finalizing, message);
    Err(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn calls_that_nobody_awaited_are_a_warning_if_they_end_and_an_error_if_not() {
        let mut limits = Config::default().script.limits;
        let exec = |number: u64| Pending {
            number,
            tool: "exec".to_owned(),
            line: Some(7),
        };
        let left = |stuck: &[u64]| Left {
            aborted: vec![exec(0), exec(1)],
            stuck: stuck.iter().copied().map(exec).collect(),
        };
        assert_eq!(
            leaks(&Left::default(), &limits).unwrap(),
            Vec::<String>::new()
        );
        let warnings = leaks(&left(&[]), &limits).unwrap();
        assert!(
            warnings[0].contains("tool_0 (exec) at line 7, tool_1 (exec) at line 7"),
            "{warnings:?}"
        );
        let error = leaks(&left(&[1]), &limits).unwrap_err();
        assert_eq!(
            (error.code, error.phase),
            (ErrorCode::DetachedPromiseError, Phase::Finalizing)
        );
        assert!(error.message.contains("tool_1") && !error.message.contains("tool_0"));
        limits.allow_detached_promises = true;
        assert_eq!(leaks(&left(&[1]), &limits).unwrap().len(), 1);
    }
}
