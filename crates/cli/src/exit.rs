//! Exit codes of the program, as documented in docs/exit-codes.md.

use std::process::ExitCode;

use ringfence::CallError;
use ringfence::jail::LaunchError;

use crate::paint;

/// Ringfence itself failed.
pub(crate) const FAILED: u8 = 125;
/// The command was refused, or cannot be executed.
pub(crate) const REFUSED: u8 = 126;
/// There is no such command.
pub(crate) const NOT_FOUND: u8 = 127;

/// Somebody stopped it: Ctrl-C, SIGTERM, a closed window.
pub(crate) const CANCELLED: u8 = 137;

/// Tells a person what went wrong, and ends.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<CallError>() {
        // Whether anything had started is no matter of the one who stopped it.
        Some(CallError::Cancelled) => paint::remark("cancelled"),
        Some(CallError::Launch(LaunchError::WritableRoot { path, .. })) if path == "/" => {
            paint::complain(
                "the workspace is /, and all of the machine cannot be made writable; go to a folder of \
                 your own, name one with --cwd, or use --sandbox read-only",
            );
        }
        _ => paint::complain(&format!("{error:#}")),
    }
    ExitCode::from(error.downcast_ref::<CallError>().map_or(FAILED, code_of))
}

/// The exit code for a call that came to nothing.
pub(crate) fn code_of(error: &CallError) -> u8 {
    match error {
        CallError::Launch(LaunchError::ProgramNotFound(_)) => NOT_FOUND,
        CallError::Refused(_) | CallError::Launch(LaunchError::ProgramNotExecutable { .. }) => {
            REFUSED
        }
        CallError::Cancelled => CANCELLED,
        _ => FAILED,
    }
}

/// A command's exit code as the program's own.
pub(crate) fn passed_on(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code & 0xff).unwrap_or(FAILED))
}
