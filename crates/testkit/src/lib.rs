//! Test support: identities to run as, folders to work in, and the word on what a machine lacks.

pub mod identity;
pub mod require;
pub mod scratch;
