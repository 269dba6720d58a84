//! The `ringfence` program: runs commands inside a fence, for people and for agents.

mod arguments;
mod bridge;
mod exit;
mod opening;
mod paint;
mod period;
mod prompt;
mod reveal;
mod terminal;
mod verb;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ringfence::init();
    let arguments = arguments::Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let result = runtime.map_err(Into::into).and_then(|runtime| {
        let result = runtime.block_on(verb::serve(arguments));
        // A question that nobody answered still waits for its key: don't wait with it.
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
