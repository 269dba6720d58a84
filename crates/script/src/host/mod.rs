//! The host's side of a run: options, functions, the handle, the result.
//!
//! It knows runs by their [`ScriptRuntime`](crate::ScriptRuntime) and never looks at the engine.

mod execution;
mod function;
mod options;
mod result;
mod service;
mod tool_script;

pub use execution::CodeExecution;
pub(crate) use execution::begin;
pub use function::{HostError, HostFunction, HostPromise, HostResult, ScriptFunction};
pub use options::{CodeOptions, Language, OptionsError};
pub use result::{
    CodeExecutionError, CodeExecutionLog, CodeExecutionResult, ErrorOrigin, LogLevel, Oversize,
    Status,
};
pub use tool_script::{
    Reply, Site, ToolCall, ToolHost, ToolScript, ToolScriptLimits, check_tool_script,
    run_tool_script,
};
