//! What comes of a module, as `run_code` replies it.

use ringfence_script::{CodeExecutionError, CodeExecutionLog, CodeExecutionResult, Status};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What came of a module. Values that JSON cannot write are objects with `$`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeOutput {
    /// How it ended.
    status: CodeStatus,
    /// The export, if it succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    /// What it reported, in order.
    reports: Vec<Value>,
    /// What it wrote to the console.
    logs: Vec<CodeLog>,
    /// Why it did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<CodeError>,
    /// How long it took, in milliseconds.
    duration_ms: f64,
    /// The most bytes that its values took at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_used_bytes: Option<u64>,
}

/// How a module ended.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CodeStatus {
    Success,
    Error,
    Memory,
    Terminated,
    LinkError,
}

/// A line of the console.
#[derive(Debug, Serialize, JsonSchema)]
struct CodeLog {
    /// The method of the console.
    level: &'static str,
    /// Its arguments.
    args: Vec<Value>,
    /// When, in milliseconds since 1970.
    #[schemars(with = "f64")]
    timestamp: Value,
}

/// Why a module did not succeed.
#[derive(Debug, Serialize, JsonSchema)]
struct CodeError {
    /// The kind of error, such as `TypeError`.
    name: String,
    /// What happened.
    message: String,
    /// Where in the script.
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<String>,
    /// The module that could not be imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    specifier: Option<String>,
    /// The file that line and column belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
}

impl CodeOutput {
    pub(super) fn of(result: &CodeExecutionResult) -> Self {
        let json = ringfence_script::Value::to_json;
        Self {
            status: match result.status {
                Status::Success => CodeStatus::Success,
                Status::Error => CodeStatus::Error,
                Status::Memory => CodeStatus::Memory,
                Status::Terminated => CodeStatus::Terminated,
                Status::LinkError => CodeStatus::LinkError,
            },
            result: result.result.as_ref().map(json),
            reports: result.reports.iter().map(json).collect(),
            logs: result.logs.iter().map(CodeLog::of).collect(),
            error: result.error.as_ref().map(CodeError::of),
            // A thousandth of a millisecond is as much as anybody can use.
            duration_ms: (result.duration_ms * 1000.0).round() / 1000.0,
            memory_used_bytes: result.memory_used_bytes,
        }
    }
}

impl CodeLog {
    fn of(log: &CodeExecutionLog) -> Self {
        Self {
            level: log.level.as_str(),
            args: log
                .args
                .iter()
                .map(ringfence_script::Value::to_json)
                .collect(),
            timestamp: ringfence_script::Value::Number(log.timestamp).to_json(),
        }
    }
}

impl CodeError {
    fn of(error: &CodeExecutionError) -> Self {
        Self {
            name: error.name.clone(),
            message: error.message.clone(),
            stack: error.stack.clone(),
            specifier: error.specifier.clone(),
            filename: error.filename.clone(),
            line: error.line,
            column: error.column,
        }
    }
}
