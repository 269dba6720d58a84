//! Files by name: what a person half remembers, or a pattern such as `*.test.ts`.
//!
//! - `index`: the names below a folder, kept fresh; `walk` finds them, in parallel, and `rules` are what
//!   ignore files say
//! - `wanted`: what is looked for; `rank`: the best of all names
//!
//! Contents are not read. What ignore files leave out is left out, and so is what may not be read.

mod index;
mod query;
mod rank;
mod rules;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use index::{Catalogue, Terrain};
pub(crate) use query::Query;
pub(crate) use rank::{Found, best};
