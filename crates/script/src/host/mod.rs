//! The host's side of a run: options, functions, the handle, the result.
//!
//! It knows runs by their [`ScriptRuntime`](crate::ScriptRuntime) and never looks at the engine.

mod execution;
mod function;
mod options;
mod result;
mod service;

pub use execution::CodeExecution;
pub(crate) use execution::begin;
pub use function::{HostError, HostFunction, HostPromise, HostResult, ScriptFunction};
pub use options::{CodeOptions, Language, OptionsError};
pub use result::{CodeExecutionError, CodeExecutionLog, CodeExecutionResult, LogLevel, Status};
