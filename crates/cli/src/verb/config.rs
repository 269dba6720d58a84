//! `ringfence config`: every setting and where it comes from.

use std::process::ExitCode;

use anyhow::Result;
use ringfence::config::built_in;

use crate::arguments::Common;
use crate::flags::flag_values;
use crate::locations::Locations;
use crate::paint;

/// Arguments of `config`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print every setting
    Show {
        #[command(flatten)]
        common: Common,
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
        /// Print the built-in lists of what cannot be read and what cannot be changed
        #[arg(long, conflicts_with = "origin")]
        defaults: bool,
    },
}

pub(crate) fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let What::Show {
        common,
        origin,
        defaults,
    } = &arguments.what;
    if *defaults {
        return show_defaults(common.json);
    }
    let locations = Locations::find(common.cwd.as_deref())?;
    let resolved = locations.resolve(flag_values(common)?)?;
    for refused in &resolved.refused {
        paint::remark(&refused.to_string());
    }
    if common.json {
        paint::line(&serde_json::to_string_pretty(&resolved.to_json())?);
        return Ok(ExitCode::SUCCESS);
    }
    let lines = if *origin {
        resolved.lines_with_origin()
    } else {
        resolved.lines()
    };
    paint::line(&lines.join("\n"));
    Ok(ExitCode::SUCCESS)
}

fn show_defaults(as_json: bool) -> Result<ExitCode> {
    let lists = built_in();
    if as_json {
        paint::line(&serde_json::to_string_pretty(&lists)?);
        return Ok(ExitCode::SUCCESS);
    }
    for list in lists {
        paint::line(&format!("# {}\n# {}", list.what, list.changed_by()));
        for path in list.paths {
            paint::line(&path);
        }
        paint::line("");
    }
    Ok(ExitCode::SUCCESS)
}
