//! Proposing rules after an approval, and the canonical text that approvals are remembered by.

mod canonical;

pub use canonical::{canonical, canonical_command};
