//! The tools as whoever embeds the library has them: what they take and return, and tools of one's own.
//!
//! This program is its own warden and worker, so its `main` serves first.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test program without the harness that the lints know"
)]

mod conform;
mod names;
mod own;
mod replies;
mod schemas;
mod stage;

use libtest_mimic::{Arguments, Trial};

fn main() -> std::process::ExitCode {
    ringfence::init();
    let cases = [
        names::cases(),
        own::cases(),
        replies::cases(),
        schemas::cases(),
    ]
    .concat();
    let trials = cases.into_iter().map(|(name, case)| {
        Trial::test(name, move || {
            case();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
