//! The `ringfence` program: runs commands inside a fence, for people and for agents.

mod arguments;
mod exit;
mod opening;
mod paint;
mod prompt;
mod trust;
mod verb;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ringfence::init();
    let arguments = arguments::Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(verb::serve(arguments)),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
