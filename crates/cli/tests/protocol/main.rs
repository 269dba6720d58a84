//! The session protocol from outside: the built program over pipes, as a client in another language has it.

#![allow(clippy::unwrap_used, missing_docs)]

mod calls;
mod client;
mod ending;
mod example;
mod functions;
mod messages;
mod options;
#[path = "../program/mod.rs"]
mod program;
mod questions;
