//! `http`, as a tool and in scripts, against servers that exist in a namespace of the test's own: what is
//! allowed arrives, whatever is odd about the answer has its own error, and nothing goes where it may not.

#![allow(clippy::unwrap_used, missing_docs)]

mod answers;
mod errors;
#[path = "../program/mod.rs"]
mod program;
mod records;
mod redirects;
mod requests;
mod secrets;
mod web;
#[path = "../world/mod.rs"]
mod world;
