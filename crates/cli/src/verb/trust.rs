//! `ringfence trust`: shows what a project brings, and binds the user's consent to it.

use std::process::ExitCode;

use anyhow::{Context, Result};
use ringfence::config::Trust;

use crate::locations::Locations;
use crate::paint;
use ringfence_protocol::reveal;

/// Arguments of `trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A project's .ringfence/config.toml and .ringfence/rules.toml may tighten the fence at once. What
loosens it counts only once you have looked at it here and trusted it with --yes. The trust is
bound to the content: any change ends it. A project holds in its subfolders too: the nearest
.ringfence from the current folder upwards is the one that is shown and trusted.

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
    let locations = Locations::find(arguments.cwd.as_deref())?;
    locations
        .state_home
        .as_ref()
        .context("there is no place to remember trust: set HOME or RINGFENCE_STATE_HOME")?;
    let trusted = locations.trust_store();
    // The nearest project is the one that is meant: those around it have folders of their own.
    let nearest = locations.projects.last();
    let root = nearest.map_or(&locations.workspace, |project| &project.root);
    let shown = reveal::line(&root.display().to_string());
    if arguments.revoke {
        let what = if trusted.revoke(root)? {
            "is no longer trusted"
        } else {
            "was not trusted"
        };
        paint::line(&format!("{shown} {what}"));
        return Ok(ExitCode::SUCCESS);
    }
    let Some(project) = nearest else {
        paint::line(&format!("{shown} brings nothing of its own"));
        return Ok(ExitCode::SUCCESS);
    };
    for (path, text) in project.files() {
        paint::line(&format!(
            "--- {}",
            reveal::line(&path.display().to_string())
        ));
        for line in reveal::lines(text.trim_end()) {
            paint::line(&line);
        }
    }
    if arguments.yes {
        trusted.grant(project)?;
        // What was trusted must be right: a mistake in it is told now, not at the next command.
        locations.resolve(Vec::new())?;
        locations.rules()?;
        paint::line(&format!("{shown} is trusted as it is now"));
        return Ok(ExitCode::SUCCESS);
    }
    if trusted.trust(project)? == Trust::Trusted {
        paint::line("trusted as it is now");
    } else {
        for refused in &locations.resolve(Vec::new())?.refused {
            paint::line(&reveal::line(&format!("waits for your trust: {refused}")));
        }
        paint::line("not trusted; `ringfence trust --yes` trusts it as it is now");
    }
    Ok(ExitCode::SUCCESS)
}
