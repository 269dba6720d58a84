//! `ringfence mcp` as clients see it: the official Python client over pipes and over HTTP, in both generations of the
//! protocol, and a client that does not behave.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

#[path = "../program/mod.rs"]
mod program;

mod abuse;
mod install;
mod official;
mod raw;
