//! What the suites of this folder share: engines to test, and tests as a table.
//!
//! A suite is its own warden and worker, so its `main` has to serve first and cannot be the usual one: each file of
//! tests names its own in `cases`. One that is missing there is unused code.

#![allow(
    dead_code,
    unused_macros,
    reason = "each suite that includes it uses a part of it"
)]

pub(crate) mod opening;
pub(crate) mod steps;

use std::future::Future;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The name and the body of a test.
pub(crate) type Case = (&'static str, fn());

/// Tests that are plain functions.
macro_rules! plain {
    ($($name:ident),+ $(,)?) => {
        vec![$((concat!(module_path!(), "::", stringify!($name)), $name as fn())),+]
    };
}

/// Tests that wait.
macro_rules! asynchronous {
    ($($name:ident),+ $(,)?) => {
        vec![$((
            concat!(module_path!(), "::", stringify!($name)),
            (|| $crate::support::block_on($name())) as fn(),
        )),+]
    };
}

/// Runs what the command line asks for.
pub(crate) fn run(cases: Vec<Case>) -> ExitCode {
    let trials = cases.into_iter().map(|(path, case)| {
        // Without the name of the suite, which whoever runs it knows.
        let name = path.split_once("::").map_or(path, |(_, name)| name);
        Trial::test(name, move || {
            case();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Waits for a future, on this thread alone.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}
