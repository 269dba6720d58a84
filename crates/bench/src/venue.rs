//! The venue of a contest: where it is held, and how it ends.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::contest::Trouble;
use crate::target::Target;

/// A runtime like the program's own, and a folder on a disk that goes away afterwards.
pub struct Venue {
    /// The runtime.
    pub runtime: Runtime,
    scratch: TempDir,
}

impl Venue {
    /// Prepares one.
    pub fn open() -> Result<Self, Trouble> {
        Ok(Self {
            runtime: Builder::new_current_thread().enable_all().build()?,
            scratch: tempfile::Builder::new()
                .prefix("ringfence-bench-")
                .tempdir_in("/var/tmp")?,
        })
    }

    /// Where everything is.
    pub fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// A new folder in it.
    pub fn folder(&self, name: &str) -> Result<PathBuf, Trouble> {
        let path = self.path().join(name);
        std::fs::create_dir(&path)?;
        Ok(path)
    }
}

/// Prints the targets. With `--check` on the command line, one that is clearly missed is a
/// failure.
#[allow(clippy::print_stdout, reason = "a benchmark prints its table")]
pub fn close(result: Result<Vec<Target>, Trouble>) -> ExitCode {
    match result {
        Ok(targets) => {
            println!();
            for target in &targets {
                println!("{target}");
            }
            let check = std::env::args().any(|argument| argument == "--check");
            let missed = targets.iter().any(Target::is_clearly_missed);
            ExitCode::from(u8::from(check && missed))
        }
        Err(trouble) => {
            println!("the benchmark could not run: {trouble}");
            ExitCode::from(2)
        }
    }
}
