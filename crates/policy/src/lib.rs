//! May this happen?
//!
//! This crate turns what somebody wants to do ([`Action`]) into a [`Permit`], a question or a
//! refusal. It understands commands (`facts`), sorts them (`classify`) by what is known to be
//! sensitive (`sensitive`), matches rules (`rule`, `ruleset`) and decides (`judge`, `settle`).
//!
//! **Invariant:** policy is a pure function. No clock, file system, environment or await in here:
//! the same action, rules and facts about the machine give the same verdict.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod action;
pub mod advice;
pub mod classify;
pub mod command_line;
pub mod facts;
pub mod ground;
pub mod host;
pub mod import;
pub mod judge;
pub mod leave;
pub mod narrow_grant;
pub mod permissions;
pub mod permit;
pub mod preset;
pub mod propose;
pub mod rule;
pub mod ruleset;
pub mod sensitive;
pub mod session_approvals;
pub mod settle;
pub mod shell;
pub mod verdict;

pub use action::Action;
pub use ground::Ground;
pub use judge::judge;
pub use narrow_grant::NarrowGrant;
pub use permit::Permit;
pub use settle::settle;
pub use shell::ShellKind;
pub use verdict::Verdict;
