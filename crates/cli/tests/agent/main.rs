//! `ringfence agent`, from the outside: the real program and its real client, against a fake model that speaks the three
//! APIs, streamed and whole.

#![allow(clippy::unwrap_used)]

#[path = "../program/mod.rs"]
mod program;

mod integration;
mod keys;
mod reaching;
mod talk;
mod terminal;
