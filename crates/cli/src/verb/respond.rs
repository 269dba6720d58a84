//! `ringfence respond`: a whole message of a model, with the scripts in it.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::mpsc;

use anyhow::{Context, Result};
use ringfence::Cancel;
use ringfence::config::ScriptMode;
use ringfence::dialect::Item;
use ringfence::respond::{Heard, Turn};
use ringfence::script::Conversation;

use super::run::FirstInterrupt;
use super::script;
use crate::arguments::Common;
use crate::opening::{self, Caller};
use crate::paint;

/// Arguments of `respond`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence respond answer.md
  some-model \"fix the tests\" | ringfence respond --json -
  ringfence respond --dry-run answer.md

Text is printed as it is. What stands between `<tool-calls>` and `</tool-calls>`, or in a fence that
begins with ```ts tool-calls, is run as soon as it is whole, one script after the other, and what it
returns is printed in its place. With --json the items of the message are printed: message, reasoning,
script_tool_call and script_tool_call_output. Exit code 0 if every script succeeded, and 1 otherwise.
See docs/tool-scripts.md.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// The file with the message, or `-` for standard input
    file: String,
    /// Check the scripts and run nothing
    #[arg(long, conflicts_with = "mode")]
    dry_run: bool,
    /// Whether scripts run, for this message; the provider's or the general setting unless given
    #[arg(long, value_name = "MODE", value_parser = ["disabled", "dry-run", "enabled"])]
    mode: Option<String>,
    /// Whose API the model is reached by, such as `openai` or `anthropic`
    #[arg(long, value_name = "NAME", default_value = "")]
    provider: String,
    /// The model, as scripts are told
    #[arg(long, value_name = "NAME", default_value = "")]
    model: String,
}

/// How much is read at once.
const PIECE: usize = 64 * 1024;

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    let json = arguments.common.json;
    let events = if json {
        ringfence::event::nowhere()
    } else {
        script::live()
    };
    let mode = match arguments.mode.as_deref() {
        Some("disabled") => Some(ScriptMode::Disabled),
        Some("enabled") => Some(ScriptMode::Enabled),
        Some(_) => Some(ScriptMode::DryRun),
        None => arguments.dry_run.then_some(ScriptMode::DryRun),
    };
    let turn = Turn {
        conversation: Conversation {
            provider: arguments.provider,
            model: arguments.model,
            ..Conversation::default()
        },
        mode,
        id: None,
    };
    let engine = opening::open(&arguments.common, Caller::Model, events)?;
    let cancel = Cancel::new();
    let (send, items) = mpsc::channel();
    let work = async {
        let mut told = |heard: Heard| match heard {
            Heard::Text(text) if !json => say(&text),
            Heard::Text(_) => {}
            Heard::Item(item) => {
                if !json {
                    show(&item);
                }
                // The other end is there until this is done.
                let _ = send.send(item);
            }
        };
        let mut responder = engine.responder(turn, cancel.clone());
        let mut source = open(&arguments.file)?;
        loop {
            // On a thread of its own, so that a signal is heard meanwhile.
            let (read, back) = tokio::task::spawn_blocking(move || {
                let mut piece = vec![0; PIECE];
                let read = source.read(&mut piece).map(|many| {
                    piece.truncate(many);
                    piece
                });
                (read, source)
            })
            .await?;
            source = back;
            let piece = read.with_context(|| format!("{} cannot be read", arguments.file))?;
            if piece.is_empty() {
                break;
            }
            responder.feed(&piece, &mut told).await?;
        }
        responder.finish(&mut told).await?;
        anyhow::Ok(())
    };
    let done = tokio::select! {
        done = work => done,
        never = super::run::stop_on_signal(&cancel, FirstInterrupt::Ends) => never?,
    };
    drop(send);
    let items: Vec<Item> = items.into_iter().collect();
    if json {
        paint::line(&serde_json::to_string_pretty(&items)?);
    }
    // What came about before it was stopped has been told by now.
    done?;
    let is_failure = items.iter().any(|item| match item {
        Item::ScriptToolCallOutput(output) => output.error.is_some(),
        _ => false,
    });
    Ok(ExitCode::from(u8::from(is_failure)))
}

fn open(file: &str) -> Result<Box<dyn Read + Send>> {
    if file == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    let opened = std::fs::File::open(file).with_context(|| format!("{file} cannot be read"))?;
    Ok(Box::new(opened))
}

/// Prints text as it comes.
fn say(text: &str) {
    let mut out = std::io::stdout();
    // A reader that has gone away is no error of ours.
    let _ = out
        .write_all(paint::visible(text).as_bytes())
        .and_then(|()| out.flush());
}

/// Prints what came of a script as a person reads it. Text has been printed as it came.
fn show(item: &Item) {
    if let Item::ScriptToolCallOutput(output) = item {
        // What a script returned is JSON, and nothing else can go wrong here.
        drop(script::show(output));
    }
}
