//! `ringfence tools`: what a model can call, and how that is told to it.

use std::process::ExitCode;

use anyhow::Result;
use ringfence::config::Config;
use ringfence::declarations::{self, Declared};
use ringfence::script;
use ringfence::tools::{RegisteredTool, ToolSet};
use serde_json::{Value, json};

use crate::arguments::Common;
use crate::flags::flag_values;
use crate::locations::Locations;
use crate::paint;

/// Arguments of `tools`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence tools                 what there is to call
  ringfence tools --json          the same with the JSON schemas of arguments and replies
  ringfence tools --dts           what scripts see, as TypeScript declarations
  ringfence tools --prompt        a short text about scripts for a model's prompt")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Print what scripts see, as TypeScript declarations
    #[arg(long, conflicts_with = "prompt")]
    dts: bool,
    /// Print a text about scripts for a model's prompt
    #[arg(long)]
    prompt: bool,
}

pub(crate) fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let locations = Locations::find(arguments.common.cwd.as_deref())?;
    let resolved = locations.resolve(flag_values(&arguments.common)?)?;
    let config = Config::from(&resolved);
    let tools = ToolSet::built_in().enabling(&config.script.expose);
    let seen: Vec<Declared> = script::exposed(&config.script.expose, &tools)?
        .iter()
        .map(script::Exposed::declared)
        .collect();
    if arguments.dts {
        paint::line(declarations::declarations(&seen).trim_end());
    } else if arguments.prompt {
        paint::line(declarations::prompt(&seen, &config.script.limits).trim_end());
    } else if arguments.common.json {
        let all: Vec<Value> = tools.iter().map(schemas).collect();
        paint::line(&serde_json::to_string_pretty(&all)?);
    } else {
        for tool in tools.iter() {
            paint::line(&format!("{:<18}{}", tool.name(), tool.description()));
        }
        let names: Vec<String> = seen
            .iter()
            .map(|tool| format!("tools.{}", tool.name))
            .collect();
        paint::line(&format!("\nin scripts: {}", names.join(", ")));
    }
    Ok(ExitCode::SUCCESS)
}

fn schemas(tool: &RegisteredTool) -> Value {
    json!({
        "name": tool.name(),
        "aliases": tool.aliases(),
        "description": tool.description(),
        "schema": tool.schema(),
        "output_schema": tool.output_schema(),
    })
}
