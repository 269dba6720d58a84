//! The JavaScript engine and one run inside it. It talks to the host through a `Channel` and to nothing else.
//!
//! It knows neither processes nor threads: `worker` gives it a process, `thread` a thread.

mod callee;
mod channel;
mod class;
mod clone_fault;
mod clone_in;
mod clone_out;
mod fault;
mod globals;
mod meter;
mod modules;
mod outlet;
mod preview;
mod primordials;
mod quickjs;
mod rejections;
mod run;
mod run_state;
mod stack;
mod template;
mod tool_realm;

pub(crate) use channel::Channel;
pub(crate) use globals::LEVELS;
pub(crate) use run::{rehearse, run};
pub(crate) use template::{Template, TemplateError};
