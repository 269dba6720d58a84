//! `ringfence man`: manual pages, made from the arguments that the program takes.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence man | man -l -
  ringfence man --out ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// Write the pages of the program and of each verb into this folder, which is made
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let command = crate::arguments::Arguments::command();
    match &arguments.out {
        Some(folder) => {
            let unusable = || format!("the pages cannot be written to {}", folder.display());
            std::fs::create_dir_all(folder).with_context(unusable)?;
            clap_mangen::generate_to(command, folder).with_context(unusable)?;
        }
        None => clap_mangen::Man::new(command).render(&mut std::io::stdout())?,
    }
    Ok(ExitCode::SUCCESS)
}
