//! `ringfence mcp`: tools for an agent, over the Model Context Protocol.
//!
//! Standard output belongs to the protocol: whatever there is to say to a person goes to standard error.

mod install;
mod token;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::builder::PossibleValuesParser;
use ringfence::Cancel;
use ringfence_mcp::http::{self, Front, Guard};
use ringfence_mcp::{CancellationToken, House, Limits, Profile, Rooms};
use tokio::net::TcpListener;

use super::run::{FirstInterrupt, stop_on_signal};
use super::session::client_options::OnThisMachine;
use crate::arguments::Common;
use crate::{opening, paint, telemetry, workspace};

/// Arguments of `mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence mcp                              over standard input and output, as agents start servers
  ringfence mcp --tools shell                only what runs commands
  ringfence mcp install codex --write        enter it in an agent's configuration
  ringfence mcp --http 127.0.0.1:8765        over HTTP; the token is in RINGFENCE_MCP_TOKEN, or made up

Questions go to the agent's user where the agent can ask; otherwise the refusal says how to allow it.")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    common: Common,
    /// Which tools the agent sees
    #[arg(long, value_name = "PROFILE", default_value = "default",
          value_parser = PossibleValuesParser::new(Profile::NAMES.map(|(name, _)| name)))]
    tools: String,
    /// Serve over HTTP at this address, or at this port of the loopback
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// A file with the token that clients have to send; the variable `RINGFENCE_MCP_TOKEN` is looked at otherwise
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<std::path::PathBuf>,
    /// Another name that clients reach the server by (may be repeated)
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host_header: Vec<String>,
    /// A page that may call the server from a browser, such as `https://app.example` (may be repeated)
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Enter the server in an agent's configuration
    Install(install::Arguments),
}

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    if let Some(What::Install(arguments)) = &arguments.what {
        return install::serve(arguments);
    }
    workspace::check(arguments.common.cwd.as_deref())?;
    let rooms = match arguments.http {
        None => Rooms::One,
        Some(_) => Rooms::EachTheirOwn,
    };
    let profile = Profile::NAMES
        .into_iter()
        .find(|(name, _)| *name == arguments.tools)
        .map_or_else(Profile::default, |(_, profile)| profile);
    let Arguments {
        common,
        http,
        token_file,
        allow_host_header,
        allow_origin,
        ..
    } = arguments;
    let metrics = match http {
        Some(_) => telemetry::page(&opening::settings(&common)?.0),
        None => None,
    };
    let house = House::new(
        OnThisMachine::keeping(token::kept(token_file.as_deref())?, common),
        profile,
        rooms,
        Limits::default(),
    );
    house.open()?;
    let stop = CancellationToken::new();
    let serving = async {
        let Some(address) = &http else {
            let (input, output) = ringfence_mcp::stdio_pipes();
            ringfence_mcp::serve_lines(&house, input, output, stop.clone()).await?;
            return Ok(());
        };
        let listener = listen(address).await?;
        let at = listener.local_addr()?;
        let token = token::find(token_file.as_deref())?;
        token::announce(at, &token);
        let guard = Guard::new(token.text, at, &allow_host_header, &allow_origin);
        let front = Front { guard, metrics };
        http::serve(&house, listener, front, stop.clone()).await?;
        anyhow::Ok(())
    };
    let served = Box::pin(until_stopped(serving, &stop)).await;
    farewell(&house).await;
    served.map(|()| ExitCode::SUCCESS)
}

/// Serves until that is over, or a signal ends it.
async fn until_stopped(
    serving: impl Future<Output = Result<()>>,
    stop: &CancellationToken,
) -> Result<()> {
    let signalled = Cancel::new();
    tokio::select! {
        served = serving => served,
        () = signalled.cancelled() => {
            stop.cancel();
            Ok(())
        }
        never = stop_on_signal::<Infallible>(&signalled, FirstInterrupt::Ends) => match never? {},
    }
}

/// Ends what is running, and says so.
async fn farewell(house: &Arc<House>) {
    for ended in house.close().await {
        paint::remark(&format!(
            "ended with the server: {} ({})",
            ended.id, ended.command
        ));
    }
}

async fn listen(address: &str) -> Result<TcpListener> {
    let at: SocketAddr = match address.parse::<u16>() {
        Ok(port) => SocketAddr::from(([127, 0, 0, 1], port)),
        Err(_) => address.parse().with_context(|| {
            format!("`{address}` is no address; write 127.0.0.1:8765, or a port of the loopback")
        })?,
    };
    if !at.ip().is_loopback() {
        paint::remark(&format!(
            "{at} can be reached from other machines, and what is sent there is not encrypted"
        ));
    }
    match TcpListener::bind(at).await {
        Ok(listener) => Ok(listener),
        Err(error) => bail!("{at} cannot be listened on: {error}"),
    }
}
