//! The tools as whoever embeds the library has them: what they take and return, and tools of one's own.
//!
//! This program is its own warden and worker, so its `main` serves first.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test program without the harness that the lints know"
)]

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod conform;
mod names;
mod own;
mod replies;
mod schemas;
mod stage;

fn main() -> std::process::ExitCode {
    ringfence::init();
    support::run(
        [
            names::cases(),
            own::cases(),
            replies::cases(),
            schemas::cases(),
        ]
        .concat(),
    )
}
