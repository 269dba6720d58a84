//! Where a run happens: the trait that the forked and the in-process runtime share.

use std::fmt;
use std::future::Future;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::value::Limits;

/// What kind of scripts a realm is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RealmKind {
    /// ES modules of `run_code`, with plain intrinsics.
    #[default]
    Module,
    /// Tool scripts, with frozen intrinsics.
    ToolScript,
}

impl RealmKind {
    /// The kinds by the argument that tells a worker.
    pub(crate) const ALL: [(&'static str, Self); 2] =
        [("modules", Self::Module), ("tools", Self::ToolScript)];

    pub(crate) fn argument(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// What bounds every run of a runtime.
#[derive(Clone, Debug)]
pub struct RunLimits {
    /// Heap bytes, unless the options of the run say otherwise.
    pub memory_bytes: u64,
    /// Stack bytes.
    pub stack_bytes: u64,
    /// CPU time after which a run is stopped, whoever forgot to.
    pub cpu: Duration,
    /// One message across the boundary, in either direction.
    pub message: Limits,
    /// Lines of the built-in console that are kept.
    pub log_lines: u64,
    /// What all lines of the console may take together, in bytes.
    pub log_bytes: usize,
    /// Values that the `report` bridge takes.
    pub reports: usize,
    /// What all reports may take together, in bytes.
    pub report_bytes: usize,
    /// Calls of asynchronous host functions that may be under way at once; more wait.
    pub pending_calls: usize,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            memory_bytes: 96 << 20,
            stack_bytes: 1 << 20,
            cpu: Duration::from_mins(10),
            message: Limits::default(),
            log_lines: 1000,
            log_bytes: 1 << 20,
            reports: 10_000,
            report_bytes: 16 << 20,
            pending_calls: 1024,
        }
    }
}

/// Why a runtime cannot give a place to run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The worker program could not be started.
    #[error("the script worker `{program}` could not be started: {reason}")]
    WorkerStart {
        /// The program.
        program: String,
        /// The system's reason.
        reason: String,
    },
    /// The worker ended before it could serve.
    #[error(
        "the script worker ended before it could serve a run: {0}; is `serve_worker` called first in `main`?"
    )]
    WorkerEnded(String),
    /// A socket or thread could not be made.
    #[error("the system refused what a script run needs: {0}")]
    System(String),
}

/// How the process or thread of a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatEnding {
    /// It exited by itself.
    Exited(i32),
    /// A signal ended it.
    Signal(i32),
    /// Nobody knows.
    Unknown,
}

/// A place for one run: a process or thread that waits for its job.
pub struct Seat {
    pub(crate) stream: UnixStream,
    pub(crate) stop: Arc<dyn Stop>,
    pub(crate) pid: Option<u32>,
    pub(crate) ending: EndingFuture,
    pub(crate) release: Box<dyn FnOnce() + Send>,
}

/// Tells how a seat ended.
pub(crate) type EndingFuture = Pin<Box<dyn Future<Output = SeatEnding> + Send>>;

/// Stops a seat at once.
pub(crate) trait Stop: Send + Sync {
    fn stop(&self);
}

/// A future of a seat.
pub type SeatFuture<'a> = Pin<Box<dyn Future<Output = Result<Seat, RuntimeError>> + Send + 'a>>;

/// How a runtime is doing.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// What kind of runtime this is.
    pub name: &'static str,
    /// The process that forks runs, if there is one.
    pub zygote: Option<u32>,
    /// Processes that wait for a job.
    pub ready: usize,
    /// Runs that have been given a place so far.
    pub runs: u64,
    /// How often the zygote had to be started again after it was lost.
    pub restarts: u64,
    /// Why the last start failed, if it did.
    pub problem: Option<String>,
}

/// Something that gives places to run.
pub trait ScriptRuntime: Send + Sync + fmt::Debug {
    /// A place for one run.
    fn seat(&self) -> SeatFuture<'_>;
    /// What bounds the runs.
    fn limits(&self) -> &RunLimits;
    /// How it is doing, for `doctor`.
    fn health(&self) -> Health;
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seat({:?})", self.pid)
    }
}
