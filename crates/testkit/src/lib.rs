//! Test support: identities to run as, a Podman of its own, folders to work in, and the word on what a machine lacks.

pub mod identity;
pub mod podman;
pub mod require;
pub mod scratch;
