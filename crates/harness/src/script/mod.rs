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
mod context;
mod ending;
mod exec;
mod facade;
mod failure;
mod ledger;
mod place;
mod progress;
mod request;
mod run;
mod runtime;
mod spawn;

pub use facade::{Exposed, exposed};
pub use place::ScriptPlace;
pub use request::{Conversation, ScriptRequest, ScriptRun};
pub use ringfence_script::*;
