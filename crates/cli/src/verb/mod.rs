//! The verbs, one file each.

pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod check;
pub(crate) mod code;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod gateway;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod respond;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod script;
pub(crate) mod session;
pub(crate) mod shell;
pub(crate) mod status;
mod suggest;
pub(crate) mod tools;
pub(crate) mod trust;

use std::process::ExitCode;

use anyhow::Result;

use crate::arguments::{Arguments, Verb};
use crate::version;

/// Does what was asked.
pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    let Some(verb) = arguments.verb else {
        return Ok(version::print(arguments.verbose));
    };
    match verb {
        Verb::Run(arguments) => Box::pin(run::serve(arguments)).await,
        Verb::Shell(arguments) => Box::pin(shell::serve(arguments)).await,
        Verb::Call(arguments) => call::serve(arguments).await,
        Verb::Session(arguments) => session::serve(arguments).await,
        Verb::Mcp(arguments) => Box::pin(mcp::serve(arguments)).await,
        Verb::Check(arguments) => check::serve(&arguments),
        Verb::Code(arguments) => code::serve(arguments).await,
        Verb::Script(arguments) => script::serve(arguments).await,
        Verb::Respond(arguments) => respond::serve(arguments).await,
        Verb::Agent(arguments) => Box::pin(agent::serve(arguments)).await,
        Verb::Gateway(arguments) => Box::pin(gateway::serve(arguments)).await,
        Verb::Tools(arguments) => tools::serve(&arguments),
        Verb::Doctor(arguments) => doctor::serve(&arguments).await,
        Verb::Status(arguments) => status::serve(&arguments),
        Verb::Audit(arguments) => audit::serve(&arguments),
        Verb::Config(arguments) => config::serve(&arguments),
        Verb::Rules(arguments) => rules::serve(&arguments),
        Verb::Trust(arguments) => trust::serve(&arguments),
        Verb::Completions(arguments) => Ok(completions::serve(&arguments)),
        Verb::Man(arguments) => man::serve(&arguments),
    }
}
