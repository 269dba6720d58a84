//! `ringfence session`: many tool calls in one session, over standard input and output.
//!
//! What one call starts, the next one finds: processes, background tasks, the network and `/tmp` of the
//! session. A program speaks the session protocol (`rpc`); for a few calls from a shell a line for each is
//! enough (`thin`). The first line says which it is.

pub(super) mod client_options;
mod input;
mod rpc;
mod thin;

use std::process::ExitCode;

use anyhow::Result;
use ringfence::{CallError, Cancel};
use ringfence_protocol::MessageLimits;
use serde_json::{Value, json};

use super::run::{FirstInterrupt, stop_on_signal};
use crate::arguments::Common;
use crate::paint;
use input::{Came, Input};

/// Arguments of `session`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence session --describe
  printf '%s\\n' '{\"id\": 1, \"tool\": \"bash\", \"arguments\": {\"command\": \"ls\"}}' | ringfence session
  mkfifo in && ringfence session --events < in

A program speaks JSON-RPC 2.0, one message to a line, beginning with `initialize`: calls, events,
questions that it answers, functions that it lends to code. See docs/session-protocol.md.

Without that, each line of input is a call: {\"id\": ID, \"tool\": NAME, \"arguments\": {…}}, where ID is any
JSON value, or {\"cancel\": ID} to stop one, or {\"background\": ID} to move its command to the background.
Each line of output is {\"id\": ID, \"reply\": {…}} or {\"id\": ID, \"error\": {\"code\": …, \"message\": …}},
and with --events {\"id\": ID, \"event\": {…}} while a call runs.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Tell what happens while calls run, too (a client of JSON-RPC says so itself)
    #[arg(long)]
    events: bool,
    /// What is spoken; the first line says so unless given
    #[arg(long, value_name = "PROTOCOL")]
    protocol: Option<Protocol>,
    /// Print the session protocol as JSON, with schemas, and do nothing else
    #[arg(long)]
    describe: bool,
}

/// What is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Protocol {
    /// The session protocol
    Jsonrpc,
    /// A call to a line
    Lines,
}

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    if arguments.describe {
        let description = ringfence_protocol::description();
        paint::line(&serde_json::to_string_pretty(&description)?);
        return Ok(ExitCode::SUCCESS);
    }
    let mut input = Input::standard(MessageLimits::default().line_bytes)?;
    let (protocol, first) = match arguments.protocol {
        Some(protocol) => (protocol, None),
        None => match decide(&mut input).await? {
            Some((protocol, first)) => (protocol, Some(first)),
            // Nobody said anything. What is wrong with the flags and the files is told all the same.
            None => (Protocol::Lines, None),
        },
    };
    match protocol {
        Protocol::Jsonrpc => rpc::serve(arguments.common, input, first).await,
        Protocol::Lines => thin::serve(&arguments, input, first).await,
    }
}

/// What is spoken, by the first line that is an object or a batch, and that line.
async fn decide(input: &mut Input) -> Result<Option<(Protocol, Vec<u8>)>> {
    let stop = Cancel::new();
    tokio::select! {
        decided = first_message(input) => decided,
        never = stop_on_signal(&stop, FirstInterrupt::Ends) => never,
        () = stop.cancelled() => Err(CallError::Cancelled.into()),
    }
}

async fn first_message(input: &mut Input) -> Result<Option<(Protocol, Vec<u8>)>> {
    loop {
        let wrong = match input.next().await? {
            Came::Line(line) => match serde_json::from_slice::<Value>(&line) {
                Ok(message) if speaks_rpc(&message) => {
                    return Ok(Some((Protocol::Jsonrpc, line)));
                }
                Ok(Value::Object(_)) => return Ok(Some((Protocol::Lines, line))),
                Ok(_) => thin::FORMS.to_owned(),
                Err(error) => format!("the line is not JSON: {error}"),
            },
            Came::TooLong => thin::TOO_LONG.to_owned(),
            Came::End => return Ok(None),
        };
        if !thin::say(&thin::bad_line(&wrong)) {
            return Ok(None);
        }
    }
}

fn speaks_rpc(message: &Value) -> bool {
    match message {
        Value::Object(fields) => fields.contains_key("jsonrpc"),
        Value::Array(batch) => batch.iter().any(|one| one.get("jsonrpc").is_some()),
        _ => false,
    }
}

/// An error that belongs to no call.
fn error_line(code: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message}})
}
