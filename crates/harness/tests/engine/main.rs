//! An engine as whoever embeds it has one: commands that live on, questions, races, the one door.
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

mod background;
mod door;
mod host_questions;
mod http_questions;
mod interactive;
mod kept_output;
mod many_processes;
mod one_session;
mod races;
mod session_approvals;
mod streaming;

fn main() -> std::process::ExitCode {
    ringfence::init();
    support::run(
        [
            background::cases(),
            door::cases(),
            host_questions::cases(),
            http_questions::cases(),
            interactive::cases(),
            kept_output::cases(),
            many_processes::cases(),
            one_session::cases(),
            races::cases(),
            session_approvals::cases(),
            streaming::cases(),
        ]
        .concat(),
    )
}
