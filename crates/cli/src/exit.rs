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

/// Tells a person what went wrong, and ends.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    paint::complain(&format!("{error:#}"));
    ExitCode::from(error.downcast_ref::<CallError>().map_or(FAILED, code_of))
}

/// The exit code for a call that came to nothing.
pub(crate) fn code_of(error: &CallError) -> u8 {
    match error {
        CallError::Launch(LaunchError::ProgramNotFound(_)) => NOT_FOUND,
        CallError::Denied(_) | CallError::Launch(LaunchError::ProgramNotExecutable { .. }) => {
            REFUSED
        }
        _ => FAILED,
    }
}

/// A command's exit code as the program's own.
pub(crate) fn passed_on(code: i32) -> ExitCode {
    ExitCode::from(u8::try_from(code & 0xff).unwrap_or(FAILED))
}
