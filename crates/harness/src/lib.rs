//! Lets AI agents run commands and scripts on a real machine, inside a fence.
//!
//! - [`Engine`]: the pipeline that every action goes through
//! - [`tools`]: what a model can call
//! - [`approval`]: who is asked; [`audit`]: what is recorded; [`config`]: where settings come from
//!
//! **Invariant:** the library never prompts, prints, or reads the home folder. Front ends hand it
//! an [`approval::Approver`] and the paths of its configuration layers.

pub mod approval;
pub mod audit;
mod code;
pub mod config;
pub mod declarations;
mod denial;
mod engine;
mod error;
pub mod event;
mod execution;
pub mod exit_code;
pub mod history;
pub mod identifier;
mod limit;
mod network;
pub mod output;
mod owner;
mod patch;
mod patching;
pub mod project;
mod registry;
pub mod respond;
pub mod rules;
pub mod script;
mod search;
mod searching;
pub mod session;
pub mod tools;

pub use denial::{Denial, DenialKind, Evidence as DenialEvidence};
pub use engine::{Call, Done, Ends, Engine, EngineOptions, How, Outcome, Patience, Tap, subject};
pub use error::CallError;
pub use execution::{
    Cancel, Driven, Ending, Execution, Latch, OnTimeout, Outside, Paused, Remaining, Running,
    Stopwatch, Timing, Typed, drive,
};
pub use limit::{Evidence, LimitHit, Unit};
pub use network::InjectError;
pub use patch::{HunkFailure, PatchError};
pub use registry::{ProcessId, TaskId};
pub use ringfence_dialect as dialect;
pub use ringfence_jail as jail;
pub use ringfence_policy as policy;

/// Serves the entries for which the program re-executes itself. Call this first thing in `main`,
/// while the process has a single thread; it returns at once in an ordinary start.
pub fn init() {
    ringfence_jail::serve_if_asked();
    ringfence_script::serve_worker();
}
