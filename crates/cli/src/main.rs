//! The `ringfence` program: runs commands inside a fence, for people and for agents.

mod arguments;
mod bridge;
mod exit;
mod flags;
mod locations;
mod model_place;
mod opening;
mod own_secrets;
mod paint;
mod period;
mod prompt;
mod size;
#[cfg(feature = "telemetry")]
mod telemetry;
#[cfg(not(feature = "telemetry"))]
#[path = "no_telemetry.rs"]
mod telemetry;
mod terminal;
mod verb;
mod version;
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
    telemetry::finish();
    match result {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
