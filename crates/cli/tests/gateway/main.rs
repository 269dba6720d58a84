//! `ringfence gateway`, from the outside: the official SDKs and plain requests, against a fake model.

#![allow(clippy::unwrap_used)]

#[path = "../program/mod.rs"]
mod program;

mod door;
mod sdk;
mod serving;
