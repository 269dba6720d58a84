//! How a run ended: from its own word for it, or from what became of its process.

use super::Service;
use crate::host::execution::failed;
use crate::host::result::{
    CodeExecutionError, CodeExecutionLog, CodeExecutionResult, ErrorOrigin, LogLevel, Status,
};
use crate::protocol::{Done, DoneStatus};
use crate::runtime::{RunLimits, SeatEnding};
use crate::value::Value;

impl Service<'_> {
    pub(super) fn conclude(&self, done: Done) -> CodeExecutionResult {
        let status = match done.status {
            DoneStatus::Success => Status::Success,
            DoneStatus::Error => Status::Error,
            DoneStatus::Memory => Status::Memory,
            DoneStatus::LinkError => Status::LinkError,
        };
        let mut result = failed(status, CodeExecutionError::default());
        result.memory_used_bytes = Some(done.peak);
        if done.dropped_logs > 0 {
            let text = format!("… {} more lines were dropped", done.dropped_logs);
            let args = vec![Value::from(text)];
            result.logs.push(CodeExecutionLog {
                level: LogLevel::Warn,
                args,
                timestamp: 0.0,
            });
        }
        if status == Status::Success {
            result.error = None;
            match self.decode(&done.result) {
                Ok(value) => result.result = Some(value),
                Err(what) => {
                    let message = format!("the worker broke the protocol: {what}");
                    let error = CodeExecutionError::new("HarnessInternalError", message);
                    return failed(Status::Error, error);
                }
            }
            return result;
        }
        let fault = done.error.unwrap_or_default();
        result.error = Some(CodeExecutionError {
            name: fault.name,
            message: fault.message,
            stack: fault.stack,
            specifier: fault.specifier,
            filename: fault.filename,
            line: fault.line,
            column: fault.column,
            origin: match fault.mark {
                0 => ErrorOrigin::Script,
                1 => ErrorOrigin::Harness,
                number => ErrorOrigin::ToolCall(number - 2),
            },
        });
        result
    }
}

/// The result of a run whose process ended without a word.
pub(super) fn lost(ending: SeatEnding, limits: &RunLimits) -> CodeExecutionResult {
    let (status, name, message) = match ending {
        SeatEnding::Signal(libc::SIGXCPU) => (
            Status::Terminated,
            "TerminatedError",
            format!(
                "stopped by the safety cap of {} seconds of CPU time",
                limits.cpu.as_secs()
            ),
        ),
        SeatEnding::Signal(libc::SIGSYS) => (
            Status::Error,
            "SandboxViolationError",
            "the run was killed because it made a system call that its filter forbids".to_owned(),
        ),
        SeatEnding::Signal(libc::SIGKILL) => (
            Status::Error,
            "HarnessInternalError",
            "the process of the run was killed from outside".to_owned(),
        ),
        SeatEnding::Signal(signal) => (
            Status::Error,
            "HarnessInternalError",
            format!("the engine crashed with signal {signal}; only this run is affected"),
        ),
        SeatEnding::Exited(_) | SeatEnding::Unknown => (
            Status::Error,
            "HarnessInternalError",
            "the process of the run ended without a result".to_owned(),
        ),
    };
    failed(status, CodeExecutionError::new(name, message))
}
