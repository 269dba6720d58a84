//! What went wrong, in the words of the taxonomy: thrown into a script, or told to the model when nobody caught it.

use ringfence_dialect::{ErrorCode, Phase, ScriptError};
use ringfence_policy::verdict::RefusalCode;
use ringfence_script::{CodeExecutionError, CodeExecutionResult, ErrorOrigin, Status};
use serde_json::{Value, json};

use crate::error::CallError;
#[cfg(feature = "commands")]
use crate::http::HttpError;

/// Frames of a stack that are told.
const MOST_FRAMES: usize = 10;
/// Bytes of a message that are told.
const LONGEST_MESSAGE: usize = 2048;

/// The code of a call that came to nothing.
pub(super) fn code(error: &CallError) -> ErrorCode {
    match error {
        CallError::UnknownTool { .. } | CallError::SwitchedOff { .. } => {
            ErrorCode::ToolNotFoundError
        }
        CallError::UnknownField { .. }
        | CallError::BadArguments { .. }
        | CallError::EmptyCommand
        | CallError::TimeoutTooLong { .. }
        | CallError::Workdir { .. } => ErrorCode::ToolValidationError,
        CallError::Refused(refusal) if refusal.code == RefusalCode::ApprovalTimedOut => {
            ErrorCode::ApprovalTimeoutError
        }
        CallError::Refused(_) => ErrorCode::ApprovalDeniedError,
        #[cfg(feature = "commands")]
        CallError::Http(HttpError::RedirectRefused { .. }) => ErrorCode::ApprovalDeniedError,
        _ => ErrorCode::ToolExecutionError,
    }
}

/// The error as it is thrown into the script.
pub(super) fn thrown(error: &CallError) -> Value {
    let name = match error {
        CallError::Cancelled => "AbortError",
        other => code(other).name(),
    };
    json!({ "name": name, "message": cut(&error.to_string()), "metadata": { "code": error.code() } })
}

/// The error of a call that was never begun.
pub(super) fn refused(code: ErrorCode, message: &str) -> Value {
    json!({ "name": code.name(), "message": message })
}

/// Why a run failed, as the model is told; the tool and its call come from the ledger.
pub(super) fn of_run(result: &CodeExecutionResult) -> Option<ScriptError> {
    let error = result.error.as_ref()?;
    let (code, phase, message) = classify(result.status, error);
    let mut told = ScriptError::new(code, phase, cut(&message));
    told.stack = error.stack.as_deref().map(short_stack);
    if let (Some(line), Some(column)) = (error.line, error.column) {
        told = told.with("line", line).with("column", column);
        if told.stack.is_none() {
            told.stack = Some(format!(
                "{code}: {message}\n    at script.ts:{line}:{column}"
            ));
        }
    }
    if let ErrorOrigin::ToolCall(number) = error.origin {
        told.call_id = Some(format!("tool_{number}"));
    }
    Some(told)
}

fn classify(status: Status, error: &CodeExecutionError) -> (ErrorCode, Phase, String) {
    let message = error.message.clone();
    let own = || {
        (
            ErrorCode::ScriptRuntimeError,
            Phase::Executing,
            format!("{}: {message}", error.name),
        )
    };
    match (status, error.origin) {
        (Status::LinkError, _) => (ErrorCode::ScriptSyntaxError, Phase::Parsing, message),
        (Status::Memory, _) => (
            ErrorCode::ScriptMemoryError,
            Phase::Executing,
            format!("{message}; split the work into smaller scripts"),
        ),
        (Status::Terminated, _) => (ErrorCode::ScriptTimeoutError, Phase::Executing, message),
        (_, ErrorOrigin::Engine) => (ErrorCode::HarnessInternalError, Phase::Executing, message),
        (_, ErrorOrigin::Script) => own(),
        (_, ErrorOrigin::Harness | ErrorOrigin::ToolCall(_)) => {
            match ErrorCode::of_name(&error.name) {
                Some(code @ ErrorCode::SerializationError) => (code, Phase::Finalizing, message),
                Some(code) => (code, Phase::Executing, message),
                // A call that was cancelled, awaited later.
                None => own(),
            }
        }
    }
}

/// The first frames of a stack.
fn short_stack(stack: &str) -> String {
    let is_frame = |line: &&str| line.trim_start().starts_with("at ");
    let head = stack.lines().take_while(|line| !is_frame(line));
    let frames = stack.lines().filter(is_frame).take(MOST_FRAMES);
    head.chain(frames).collect::<Vec<_>>().join("\n")
}

fn cut(message: &str) -> String {
    if message.len() <= LONGEST_MESSAGE {
        return message.to_owned();
    }
    let end = (0..=LONGEST_MESSAGE)
        .rev()
        .find(|&at| message.is_char_boundary(at));
    format!("{}…", &message[..end.unwrap_or(0)])
}
