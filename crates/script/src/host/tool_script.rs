//! A tool script from the outside: what it is given, and who serves its calls.
//!
//! The engine makes calls and the host answers them; budgets, clocks, approvals and what a tool does are the host's.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::execution::{CodeExecution, begin};
use super::function::{HostError, HostFunction};
use super::options::{CodeOptions, Language, LogSink, Logging};
use super::result::CodeExecutionLog;
use crate::protocol::JobKind;
use crate::runtime::ScriptRuntime;
use crate::value::Value;

/// A script and its surroundings.
#[derive(Clone, Debug)]
pub struct ToolScript {
    /// The body of an async function.
    pub source: String,
    /// Its language.
    pub language: Language,
    /// The dotted paths of the tools that it sees.
    pub tools: Vec<String>,
    /// The global `context`, without its functions; `sandbox.toolBudget` becomes `remainingToolBudget`.
    pub context: Json,
    /// Bounds.
    pub limits: ToolScriptLimits,
}

/// What the engine enforces on a script.
#[derive(Clone, Copy, Debug)]
pub struct ToolScriptLimits {
    /// Heap bytes.
    pub memory_bytes: u64,
    /// Stack bytes.
    pub stack_bytes: u64,
    /// Lines of the console.
    pub log_lines: u64,
    /// Lines of the console in a second.
    pub log_rate: u64,
    /// Levels of what it returns.
    pub return_depth: u32,
}

/// A place in a script, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Its number within the script, from 0.
    pub number: u64,
    /// The dotted path of the tool.
    pub tool: String,
    /// Its argument.
    pub arguments: Json,
    /// Where the script made it.
    pub site: Option<Site>,
}

/// A reply that is still awaited: a value, or the fields of an error, of which `name` and `message` must be there.
pub type Reply = Pin<Box<dyn Future<Output = Result<Json, Json>> + Send>>;

/// Serves the calls of one script.
pub trait ToolHost: Send + Sync {
    /// Begins a call. The reply is not awaited any more once the run has ended.
    fn call(&self, call: ToolCall) -> Reply;
    /// The script waits for this call no longer.
    fn cancel(&self, number: u64);
    /// What to say about a tool that is not there, and which there are.
    fn missing(&self, path: &str) -> (String, Vec<String>);
    /// The script tells how it gets on.
    fn progress(&self, message: &str, kind: &str);
    /// The script printed a line.
    fn log(&self, log: &CodeExecutionLog);
}

/// Levels of a tool's arguments.
const ARGUMENT_DEPTH: u32 = 32;

/// Begins a run. The result is the JSON text of what the script returned, or undefined if it returned nothing.
///
/// Must be called inside a tokio runtime.
pub fn run_tool_script(
    runtime: Arc<dyn ScriptRuntime>,
    script: ToolScript,
    host: Arc<dyn ToolHost>,
) -> CodeExecution {
    let settings = json!({
        "context": script.context,
        "tools": script.tools,
        "limits": { "argumentDepth": ARGUMENT_DEPTH, "returnDepth": script.limits.return_depth },
    });
    let mut options = options(&script, JobKind::ToolScript)
        .global("settings", settings.to_string().as_str())
        .global("host", Value::object(bridge(&host)));
    options.logging.sink = Some(LogSink(Arc::new(move |log| host.log(log))));
    begin(runtime, script.source, options)
}

/// Looks at a script and runs nothing. The result is the JSON text of the calls of tools that it shows: an array of
/// `tool`, `line`, `column` and, where they are written out, `arguments`.
///
/// Must be called inside a tokio runtime.
pub fn check_tool_script(runtime: Arc<dyn ScriptRuntime>, script: ToolScript) -> CodeExecution {
    let options = options(&script, JobKind::ToolCheck);
    begin(runtime, script.source, options)
}

fn options(script: &ToolScript, kind: JobKind) -> CodeOptions {
    let name = match script.language {
        Language::TypeScript => "script.ts",
        Language::JavaScript => "script.js",
    };
    let mut options = CodeOptions::new()
        .language(script.language)
        .filename(name)
        .memory_limit_bytes(script.limits.memory_bytes);
    options.kind = kind;
    options.stack_bytes = Some(script.limits.stack_bytes);
    options.logging = Logging {
        lines: Some(script.limits.log_lines),
        per_second: script.limits.log_rate,
        sink: None,
    };
    options
}

/// The functions through which the realm speaks with the host.
fn bridge(host: &Arc<dyn ToolHost>) -> [(&'static str, HostFunction); 4] {
    let (call, cancel, missing, progress) =
        (host.clone(), host.clone(), host.clone(), host.clone());
    [
        (
            "call",
            HostFunction::asynchronous("call", move |arguments| {
                let reply = read_call(&arguments).map(|made| call.call(made));
                async move {
                    let reply = match reply?.await {
                        Ok(value) => json!({ "value": value }),
                        Err(error) => json!({ "error": error }),
                    };
                    Ok(Value::from(reply.to_string()))
                }
            }),
        ),
        (
            "cancel",
            HostFunction::sync("cancel", move |arguments| {
                cancel.cancel(number(&arguments, 0)?);
                Ok(Value::Undefined)
            }),
        ),
        (
            "missing",
            HostFunction::sync("missing", move |arguments| {
                let (message, available) = missing.missing(text(&arguments, 0)?);
                Ok(Value::from(json!([message, available]).to_string()))
            }),
        ),
        (
            "progress",
            HostFunction::sync("progress", move |arguments| {
                progress.progress(text(&arguments, 0)?, text(&arguments, 1)?);
                Ok(Value::Undefined)
            }),
        ),
    ]
}

fn read_call(arguments: &[Value]) -> Result<ToolCall, HostError> {
    let site = text(arguments, 3)?
        .split_once(':')
        .and_then(|(line, column)| {
            Some(Site {
                line: line.parse().ok()?,
                column: column.parse().ok()?,
            })
        });
    Ok(ToolCall {
        number: number(arguments, 0)?,
        tool: text(arguments, 1)?.to_owned(),
        arguments: serde_json::from_str(text(arguments, 2)?)
            .map_err(|error| HostError::new(format!("the arguments are not JSON: {error}")))?,
        site,
    })
}

fn text(arguments: &[Value], at: usize) -> Result<&str, HostError> {
    let text = arguments.get(at).and_then(Value::as_str);
    text.ok_or_else(|| HostError::new("expected a string"))
}

fn number(arguments: &[Value], at: usize) -> Result<u64, HostError> {
    let number = arguments.get(at).and_then(Value::as_number);
    match number {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a small whole number"
        )]
        Some(number) if number >= 0.0 && number.fract() == 0.0 && number < 1e9 => Ok(number as u64),
        _ => Err(HostError::new("expected a number")),
    }
}
