//! JavaScript and TypeScript in a fresh, jailed process for every run.
//!
//! [`run_code`] evaluates an ES module that reaches nothing but what its caller bridges in. A worker process
//! holds a finished engine and forks a child for each run; the child has one socket and a system call filter
//! that leaves it nothing else. A program that uses this crate calls [`serve_worker`] first thing in `main`.
//!
//! ```no_run
//! use ringfence_script::{CodeOptions, run_code, serve_worker};
//!
//! fn main() {
//!     serve_worker();
//!     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//!     let result = runtime.block_on(async {
//!         run_code("export default 6 * 7", CodeOptions::new()).await
//!     });
//!     assert_eq!(result.result.unwrap().as_number(), Some(42.0));
//! }
//! ```

#![deny(missing_docs)]

mod brackets;
mod engine;
mod host;
mod pool;
mod protocol;
mod runtime;
mod thread;
mod tool_source;
mod typescript;
mod value;
mod worker;

use std::sync::{Arc, OnceLock};

pub use host::{
    CodeExecution, CodeExecutionError, CodeExecutionLog, CodeExecutionResult, CodeOptions,
    ErrorOrigin, HostError, HostFunction, HostPromise, HostResult, Language, LogLevel,
    OptionsError, Oversize, Reply, ScriptFunction, Site, Status, ToolCall, ToolHost, ToolScript,
    ToolScriptLimits, check_tool_script, run_tool_script,
};
pub use pool::{Pool, PoolConfig, WorkerProgram};
pub use runtime::{
    Health, RealmKind, RunLimits, RuntimeError, ScriptRuntime, Seat, SeatEnding, SeatFuture,
};
pub use thread::ThreadRuntime;
pub use tool_source::UNKNOWN;
pub use value::{
    BigInt, DecodeError, ErrorValue, Function, Identity, JsonError, JsonFunctions, Limits, Shared,
    Value, View, ViewKind,
};
pub use worker::{WORKER_ARGUMENT, serve_worker};

/// Begins a run on a pool of this process with the default configuration.
///
/// Must be called inside a tokio runtime, in a program that calls [`serve_worker`] first in `main`.
pub fn run_code(source: impl Into<String>, options: CodeOptions) -> CodeExecution {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| Pool::new(PoolConfig::default()))
        .run_code(source, options)
}

/// Begins a run on any runtime. Must be called inside a tokio runtime.
pub fn run_code_on(
    runtime: Arc<dyn ScriptRuntime>,
    source: impl Into<String>,
    options: CodeOptions,
) -> CodeExecution {
    host::begin(runtime, source.into(), options)
}
