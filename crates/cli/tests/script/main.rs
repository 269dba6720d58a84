//! Tool scripts on a real engine, with the built program as warden and worker. The numbers in the names are those of
//! the specification: `s` for security, `f` for function.

#![allow(clippy::unwrap_used, missing_docs)]

mod approvals;
mod crowd;
mod functional;
mod lost;
mod messages;
#[path = "../program/mod.rs"]
mod program;
mod promises;
mod security;
mod spawn;
mod stage;
