//! Tool scripts on a real engine. The numbers in the names are those of the list of scenarios that tool scripts were
//! specified with: `s` for security, `f` for function.
//!
//! This program is its own warden and worker, so its `main` serves first.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "a test program without the harness that the lints know"
)]

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod approvals;
mod crowd;
mod functional;
mod lost;
mod promises;
mod security;
mod spawn;
mod stage;

fn main() -> std::process::ExitCode {
    ringfence::init();
    support::run(
        [
            approvals::cases(),
            crowd::cases(),
            functional::cases(),
            lost::cases(),
            promises::cases(),
            security::cases(),
            spawn::cases(),
        ]
        .concat(),
    )
}
