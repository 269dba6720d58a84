//! The loop around a model: turns executed, limits, crashes, results in the form of each API.
//!
//! This program is its own warden and worker, so its `main` serves first.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::format_push_string,
    clippy::needless_pass_by_value,
    reason = "a test program without the harness that the lints know"
)]

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod crash;
mod forms;
mod limits;
mod model;
mod stage;
mod turns;

fn main() -> std::process::ExitCode {
    ringfence::init();
    support::run(
        [
            crash::cases(),
            forms::cases(),
            limits::cases(),
            turns::cases(),
        ]
        .concat(),
    )
}
