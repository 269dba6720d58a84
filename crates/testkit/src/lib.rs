//! Test support: identities to run as, a Podman of its own, folders and homes to work in, processes looked at from outside, a fake model server, and the word on what a machine lacks.

pub mod home;
pub mod identity;
pub mod model;
pub mod podman;
pub mod processes;
pub mod require;
pub mod scratch;
