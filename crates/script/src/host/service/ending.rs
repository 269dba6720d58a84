//! How a run ended: from its own word for it, or from what became of its process.

use super::{Service, calls_as_text};
use crate::host::execution::failed;
use crate::host::result::{
    CodeExecutionError, CodeExecutionLog, CodeExecutionResult, ErrorOrigin, LogLevel, Oversize,
    Status,
};
use crate::protocol::{Fault, JobKind, RunReport, RunStatus};
use crate::runtime::{RunLimits, SeatEnding};
use crate::value::Value;

impl Service<'_> {
    pub(super) fn conclude(&self, done: RunReport) -> CodeExecutionResult {
        let status = match done.status {
            RunStatus::Success => Status::Success,
            RunStatus::Error => Status::Error,
            RunStatus::Memory => Status::Memory,
            RunStatus::LinkError => Status::LinkError,
        };
        let mut result = failed(status, CodeExecutionError::default());
        result.memory_used_bytes = Some(done.peak);
        result.dropped_logs = done.dropped_logs;
        if done.dropped_logs > 0 {
            let text = format!("… {} more lines were dropped", done.dropped_logs);
            result.logs.push(warning(text));
        }
        let calls = done.dropped_calls.iter();
        let calls = calls.map(|call| (call.function.as_str(), call.place.as_ref()));
        // A tool script's calls are its host's affair.
        if let Some(calls) = calls_as_text(calls).filter(|_| self.log.is_none()) {
            let text =
                format!("calls that nothing awaited were dropped at the end of the run: {calls}");
            result.logs.push(warning(text));
        }
        if self.kind == JobKind::ToolScript {
            let numbers = done.dropped_calls.iter().filter_map(|call| call.number);
            result.unanswered = numbers.collect();
        }
        result.unhandled = done.unhandled.into_iter().map(to_error).collect();
        result.unhandled_left_out = done.unhandled_left_out;
        result.error = done.error.map(to_error);
        if status != Status::Success {
            result.error.get_or_insert_default();
        } else if done.oversize.is_some() {
            result.result = Some(Value::Undefined);
            result.oversize = done.oversize;
        } else {
            match self.decode(&done.result) {
                Ok((value, _)) => result.result = Some(value),
                Err(what) => {
                    let message = format!("the worker broke the protocol: {what}");
                    let error = CodeExecutionError::new("HarnessInternalError", message);
                    return failed(Status::Error, error);
                }
            }
        }
        if self.kind == JobKind::Module {
            self.of_a_module(&mut result);
        }
        result
    }

    /// A module has one result and one error: what nobody handled, and what is too large, are errors of it.
    fn of_a_module(&self, result: &mut CodeExecutionResult) {
        let mut others = std::mem::take(&mut result.unhandled).into_iter();
        if result.status == Status::Success
            && let Some(mut first) = others.next()
        {
            first.message = format!("unhandled rejection: {}", first.message);
            result.error = Some(first);
        } else if let Some(Oversize { bytes, preview }) = result.oversize.take() {
            let message = format!(
                "result: the value is larger than what may cross ({bytes} bytes, at most {} in memory); return less, or report it in parts. It begins: {preview}",
                self.connection.incoming.held
            );
            let mut error = CodeExecutionError::new("SerializationError", message);
            error.origin = ErrorOrigin::Script;
            result.error = Some(error);
        }
        if result.error.is_some() && result.status == Status::Success {
            result.status = Status::Error;
            result.result = None;
        }
        for other in others {
            let at = other
                .line
                .map_or(String::new(), |line| format!(" (line {line})"));
            let text = format!("unhandled rejection: {}: {}{at}", other.name, other.message);
            result.logs.push(CodeExecutionLog {
                level: LogLevel::Error,
                ..warning(text)
            });
        }
        if result.unhandled_left_out > 0 {
            let text = format!("… {} more unhandled rejections", result.unhandled_left_out);
            result.logs.push(warning(text));
        }
    }
}

/// A line of ours.
fn warning(text: String) -> CodeExecutionLog {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    CodeExecutionLog {
        level: LogLevel::Warn,
        args: vec![Value::from(text)],
        timestamp: (since.as_secs_f64() * 1000.0).floor(),
    }
}

fn to_error(fault: Fault) -> CodeExecutionError {
    CodeExecutionError {
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
