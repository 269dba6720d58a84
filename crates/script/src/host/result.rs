//! What a run comes to.

use serde_json::{Value as Json, json};

pub use crate::protocol::Oversize;
use crate::value::Value;

/// Outcome classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Module evaluated; selected export resolved.
    Success,
    /// Uncaught runtime error inside the sandbox.
    Error,
    /// The memory limit was exceeded.
    Memory,
    /// The caller terminated the run, or the safety cap fired.
    Terminated,
    /// The module graph failed to link.
    LinkError,
}

impl Status {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Memory => "memory",
            Self::Terminated => "terminated",
            Self::LinkError => "link_error",
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct CodeExecutionResult {
    /// How it ended.
    pub status: Status,
    /// The selected export, resolved; only on success.
    pub result: Option<Value>,
    /// What the `report` bridge emitted, in order.
    pub reports: Vec<Value>,
    /// What the built-in console captured.
    pub logs: Vec<CodeExecutionLog>,
    /// Present unless the status is success.
    pub error: Option<CodeExecutionError>,
    /// From the call of `run_code` to the end, in milliseconds.
    pub duration_ms: f64,
    /// The most bytes that the script's heap held at once, when it was measured.
    pub memory_used_bytes: Option<u64>,
    /// Rejections that nobody handled, the first ones. Of a module the first one is its error.
    pub unhandled: Vec<CodeExecutionError>,
    /// How many more there were.
    pub unhandled_left_out: u64,
    /// Of a tool script: its calls whose answers it did not take in before it ended, by their numbers.
    pub unanswered: Vec<u64>,
    /// What is told of a tool script's result that was too large to cross. Of a module it is the error.
    pub oversize: Option<Oversize>,
    /// Lines of the console that number, rate or size dropped.
    pub dropped_logs: u64,
}

/// Why a run did not succeed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeExecutionError {
    /// `TypeError`, `SerializationError`, …
    pub name: String,
    /// What happened.
    pub message: String,
    /// Script frames only, at the positions of the source.
    pub stack: Option<String>,
    /// The module specifier that failed to link.
    pub specifier: Option<String>,
    /// The file that line and column belong to.
    pub filename: Option<String>,
    /// From 1.
    pub line: Option<u64>,
    /// From 1.
    pub column: Option<u64>,
    /// Whose error it is, in a tool script.
    pub origin: ErrorOrigin,
}

/// Whose error a tool script failed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ErrorOrigin {
    /// The script's own.
    #[default]
    Script,
    /// One that the harness threw into it.
    Harness,
    /// That of the tool call with this number.
    ToolCall(u64),
    /// Of the machinery: no script said so.
    Engine,
}

/// A line of the built-in console.
#[derive(Clone, Debug)]
pub struct CodeExecutionLog {
    /// Which method.
    pub level: LogLevel,
    /// Its arguments.
    pub args: Vec<Value>,
    /// Milliseconds since 1970.
    pub timestamp: f64,
}

/// The methods of the built-in console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the methods")]
pub enum LogLevel {
    Log,
    Info,
    Warn,
    Error,
    Debug,
}

impl LogLevel {
    /// All levels, in the order of their numbers.
    pub(crate) const ALL: [Self; 5] = [Self::Log, Self::Info, Self::Warn, Self::Error, Self::Debug];

    /// The name of the method.
    pub fn as_str(self) -> &'static str {
        crate::engine::LEVELS[self as usize]
    }
}

impl CodeExecutionResult {
    /// As JSON on the wire, with values in the `$` notation.
    pub fn to_json(&self) -> Json {
        let mut json = json!({ "status": self.status.as_str() });
        if let Some(result) = &self.result {
            json["result"] = result.to_json();
        }
        json["reports"] = self.reports.iter().map(Value::to_json).collect();
        json["logs"] = self.logs.iter().map(CodeExecutionLog::to_json).collect();
        if let Some(error) = &self.error {
            json["error"] = error.to_json();
        }
        json["durationMs"] = json!((self.duration_ms * 1000.0).round() / 1000.0);
        if let Some(bytes) = self.memory_used_bytes {
            json["memoryUsedBytes"] = json!(bytes);
        }
        json
    }
}

impl CodeExecutionLog {
    /// As JSON on the wire.
    pub fn to_json(&self) -> Json {
        json!({
            "level": self.level.as_str(),
            "args": self.args.iter().map(Value::to_json).collect::<Json>(),
            "timestamp": Value::Number(self.timestamp).to_json(),
        })
    }
}

impl CodeExecutionError {
    pub(crate) fn new(name: &str, message: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            message: message.into(),
            origin: ErrorOrigin::Engine,
            ..Self::default()
        }
    }

    /// As JSON on the wire; absent fields are left out.
    pub fn to_json(&self) -> Json {
        let mut json = json!({ "name": self.name, "message": self.message });
        let texts = [
            ("stack", &self.stack),
            ("specifier", &self.specifier),
            ("filename", &self.filename),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                json[key] = json!(text);
            }
        }
        for (key, number) in [("line", self.line), ("column", self.column)] {
            if let Some(number) = number {
                json[key] = json!(number);
            }
        }
        json
    }
}
