//! `ringfence trust`: shows what a project brings, and binds the user's consent to it.

use std::process::ExitCode;

use anyhow::{Context, Result};
use ringfence::config::Trust;

use crate::opening::Places;
use crate::paint::{self, visible};
use crate::trust;

/// Arguments of `trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A project's .ringfence/config.toml and .ringfence/rules.toml may tighten the fence at once. What
loosens it counts only once you have looked at it here and trusted it with --yes. The trust is
bound to the content: any change ends it.

Examples:
  ringfence trust            what this project brings, and what of it waits for your trust
  ringfence trust --yes      trust it as it is now
  ringfence trust --revoke   trust it no more")]
pub(crate) struct Arguments {
    /// The project; the current folder unless given
    #[arg(long, value_name = "DIR")]
    cwd: Option<std::path::PathBuf>,
    /// Trust the project as it is now
    #[arg(long, conflicts_with = "revoke")]
    yes: bool,
    /// Trust it no more
    #[arg(long)]
    revoke: bool,
}

pub(crate) fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let places = Places::find(arguments.cwd.as_deref())?;
    let state = places
        .state_home
        .as_ref()
        .context("there is no place to remember trust: set HOME or RINGFENCE_STATE_HOME")?;
    let workspace = &places.workspace;
    if arguments.revoke {
        let had = trust::revoke(state, workspace)?;
        let what = if had {
            "is no longer trusted"
        } else {
            "was not trusted"
        };
        paint::line(&format!("{} {what}", workspace.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let brought = trust::brought(workspace)?;
    if brought.is_empty() {
        paint::line(&format!(
            "{} brings nothing of its own",
            workspace.display()
        ));
        return Ok(ExitCode::SUCCESS);
    }
    for (path, text) in &brought {
        paint::line(&format!(
            "--- {}\n{}",
            path.display(),
            visible(text.trim_end())
        ));
    }
    if arguments.yes {
        trust::grant(state, workspace, &brought)?;
        // What was trusted must be right: a mistake in it is told now, not at the next command.
        places.resolve(Vec::new())?;
        places.rules()?;
        paint::line(&format!("{} is trusted as it is now", workspace.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let trusted = places.trust()? == Trust::Trusted;
    if trusted {
        paint::line("trusted as it is now");
    } else {
        for refused in &places.resolve(Vec::new())?.refused {
            paint::line(&format!("waits for your trust: {refused}"));
        }
        paint::line("not trusted; `ringfence trust --yes` trusts it as it is now");
    }
    Ok(ExitCode::SUCCESS)
}
