//! Nothing is left behind, whatever is pressed and whoever is killed, at any moment of a run: nothing
//! in the folder, no process, no mount, no control group, and nothing in the registry of marks.

#![allow(clippy::unwrap_used)]

#[path = "../program/mod.rs"]
mod program;

mod company;
mod moments;
mod trace;
