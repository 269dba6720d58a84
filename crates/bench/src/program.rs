//! The program that benchmarks run.

use std::path::PathBuf;

use crate::contest::Trouble;

/// Names the program for benchmarks. The program itself knows no such variable, and says so.
pub const VARIABLE: &str = "RINGFENCE_PROGRAM";

/// The program: built beside this benchmark.
pub fn find() -> Result<PathBuf, Trouble> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return Ok(path.into());
    }
    let own = std::env::current_exe()?;
    let beside = own
        .ancestors()
        .nth(2)
        .map(|folder| folder.join("ringfence"));
    beside
        .filter(|path| path.is_file())
        .ok_or_else(|| "build the program first: cargo build --release".into())
}
