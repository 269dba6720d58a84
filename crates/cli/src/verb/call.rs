//! `ringfence call`: one tool call, as a model would make it.

use std::io::Read;
use std::process::ExitCode;

use anyhow::{Context, Result};
use ringfence::tools::ToolSet;
use ringfence::{Call, Cancel};
use serde_json::Value;

use super::run::{FirstInterrupt, stop_on_signal};
use crate::arguments::Common;
use crate::opening::{self, Caller};
use crate::{exit, paint, workspace};

/// Arguments of `call`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence call bash '{\"command\": \"ls -la\"}'
  ringfence call shell '{\"command\": [\"git\", \"status\"], \"timeout_ms\": 5000}'
  echo '{\"command\": \"make\"}' | ringfence call shell_command -

Prints the reply as JSON. Exit code 0 if there is a reply, whatever the command's own exit code,
and 1 if the call came to nothing, in which case the JSON holds an `error` with `code` and
`message`.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// The tool
    tool: String,
    /// Its arguments as JSON, or `-` to read them from standard input
    #[arg(value_name = "JSON")]
    input: String,
}

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    let Arguments {
        common,
        tool,
        input,
    } = arguments;
    let text = if input == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("standard input cannot be read")?;
        text
    } else {
        input
    };
    let cancel = Cancel::new();
    // The name is looked at first: it is the likelier mistake, and the error says more.
    let result = match ToolSet::every_built_in()
        .find(&tool)
        .and_then(|_| parse(&tool, &text))
    {
        Ok(arguments) => {
            workspace::check(common.cwd.as_deref())?;
            let engine = opening::open(&common, Caller::OneCall, ringfence::event::nowhere())?;
            let call = Call {
                cancel: cancel.clone(),
                ..engine.new_call()
            };
            tokio::select! {
                result = engine.call_as(&call, &tool, arguments) => result,
                never = stop_on_signal(&cancel, FirstInterrupt::Ends) => never?,
            }
        }
        Err(error) => Err(error),
    };
    let (reply, code) = match result {
        result if cancel.is_cancelled() => {
            let reply = result.unwrap_or_else(|error| error.to_json());
            (reply, ExitCode::from(exit::CANCELLED))
        }
        Ok(reply) => (reply, ExitCode::SUCCESS),
        Err(error) => (error.to_json(), ExitCode::FAILURE),
    };
    paint::line(&serde_json::to_string_pretty(&reply)?);
    Ok(code)
}

fn parse(tool: &str, text: &str) -> Result<Value, ringfence::CallError> {
    serde_json::from_str(text).map_err(|error| ringfence::CallError::BadArguments {
        tool: tool.to_owned(),
        message: format!("they are not JSON: {error}"),
    })
}
