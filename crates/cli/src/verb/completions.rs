//! `ringfence completions`: completions for a shell.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(crate) fn serve(arguments: &Arguments) -> ExitCode {
    let mut command = crate::arguments::Arguments::command();
    clap_complete::generate(
        arguments.shell,
        &mut command,
        "ringfence",
        &mut std::io::stdout(),
    );
    ExitCode::SUCCESS
}
