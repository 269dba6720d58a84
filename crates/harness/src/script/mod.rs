//! Tool scripts: model-written code that composes tools. Each call that a script makes comes through the engine's
//! one door; here are the budgets, the clock, the promises it left behind, and what its end is told as.
//!
//! - [`ScriptRequest`]: a script and how to run it; [`ScriptRun`]: the two items that come of it
//! - `run`: one script from start to end; `ledger`: its calls
//! - `facade`: which tools it sees and how a call becomes one of the engine's
//!
//! The engine of the language is `ringfence-script`, whose items are here too.

mod bridge;
mod check;
#[cfg(feature = "commands")]
mod commands;
#[cfg(not(feature = "commands"))]
#[path = "no_commands.rs"]
mod commands;
mod context;
mod ending;
#[cfg(feature = "commands")]
mod exec;
mod facade;
mod failure;
mod ledger;
mod partial_results;
mod pending;
mod progress;
mod request;
mod return_value;
mod run;
mod runtime;
mod said;
mod spawn;

pub use facade::{Exposed, exposed};
pub use request::{Conversation, ScriptRequest, ScriptRun};
pub use ringfence_script::*;
pub(crate) use runtime::Runtimes;
