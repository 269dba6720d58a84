//! The suite that needs workers: this program is its own worker, so its `main` serves first.
//!
//! Every case of `spec` and `marshaling` runs on every runtime; the rest concerns processes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test program without the harness that the lints know"
)]

mod differential;
mod escape;
mod kept;
mod marshaling;
mod memory;
mod process;
mod programs;
mod spec;
mod stage;
mod tool_script;

use libtest_mimic::{Arguments, Trial};
use stage::{Case, Stage};

fn main() -> std::process::ExitCode {
    ringfence_script::serve_worker();
    if std::env::args().nth(1).as_deref() == Some(process::SOAK_ARGUMENT) {
        process::soak();
        return std::process::ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for stage in [Stage::Forked, Stage::Thread] {
        let prefix = stage.name();
        for (name, case) in [
            spec::cases(),
            marshaling::cases(),
            escape::cases(),
            kept::cases(),
            tool_script::cases(),
        ]
        .concat()
        {
            trials.push(trial(format!("{prefix}::{name}"), stage, case));
        }
    }
    for stage in [Stage::Forked, Stage::Thread] {
        for (name, body) in programs::trials(stage) {
            trials.push(Trial::test(
                format!("{}::{name}", stage.name()),
                move || {
                    body();
                    Ok(())
                },
            ));
        }
    }
    trials.push(plain("programs::node_agrees", programs::node_agrees));
    for (name, case) in process::cases() {
        trials.push(trial(format!("process::{name}"), Stage::Forked, case));
    }
    for &(name, source) in memory::WAYS {
        trials.push(Trial::test(format!("memory::{name}"), move || {
            memory::exhausts(name, source);
            Ok(())
        }));
    }
    trials.push(plain(
        "differential::agrees_with_node",
        differential::agrees_with_node,
    ));
    trials.push(plain("process::soak", process::soak_apart));
    trials.push(plain(
        "thread::terminate_settles_at_once",
        process::thread_runtime_settles_at_once,
    ));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(name: String, stage: Stage, case: Case) -> Trial {
    Trial::test(name, move || {
        stage::run(case(stage));
        Ok(())
    })
}

fn plain(name: &str, body: fn()) -> Trial {
    Trial::test(name, move || {
        body();
        Ok(())
    })
}
