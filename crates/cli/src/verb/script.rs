//! `ringfence script`: one script that calls tools.

use std::io::Read;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use ringfence::config::ScriptMode;
use ringfence::dialect::{ErrorCode, Item, Language, LogLevel, ScriptToolCallOutput};
use ringfence::event::{Event, Listener, Tone};
use ringfence::script::ScriptRequest;
use ringfence::{Call, Cancel};

use super::run::FirstInterrupt;
use crate::arguments::Common;
use crate::opening::{self, Caller};
use crate::{exit, paint, workspace};

/// Arguments of `script`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence script fix-tests.ts
  echo 'return (await tools.exec({command: [\"ls\"]})).stdout' | ringfence script -
  ringfence script --dry-run release.ts

The script is the body of an async function with `tools`, `context` and `console`; each call of a tool
is judged, asked about, confined and recorded like any other. What it returns is printed as JSON. Exit
code 0 on success, 1 if the script failed or a dry run finds that it would, 124 if it took too long, 137 if it
was stopped. What its tools had returned by then is printed too. See docs/tool-scripts.md.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// The file, or `-` for standard input
    file: String,
    /// Check the script and run nothing
    #[arg(long)]
    dry_run: bool,
    /// The most time, in seconds, within the configured limit
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
}

const FAILED: u8 = 1;
const TIMED_OUT: u8 = 124;

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    let mut request = ScriptRequest::new(read(&arguments.file)?);
    let extension = arguments.file.rsplit('.').next().unwrap_or_default();
    if matches!(extension, "js" | "mjs") {
        request.language = Language::Js;
    }
    request.timeout = arguments.timeout.map(Duration::from_secs);
    request.mode = arguments.dry_run.then_some(ScriptMode::DryRun);
    let json = arguments.common.json;
    let sink = if json {
        ringfence::event::nowhere()
    } else {
        live()
    };
    workspace::check(arguments.common.cwd.as_deref())?;
    let engine = opening::open(&arguments.common, Caller::Model, sink)?;
    let cancel = Cancel::new();
    let call = Call {
        cancel: cancel.clone(),
        ..engine.new_call()
    };
    let run = tokio::select! {
        run = engine.run_script(&call, request) => run?,
        never = super::run::stop_on_signal(&cancel, FirstInterrupt::Ends) => never?,
    };
    let output = run.output.clone();
    if json {
        let [_, item]: [Item; 2] = run.into_items();
        paint::line(&serde_json::to_string_pretty(&item)?);
    } else {
        show(&output)?;
    }
    Ok(match output.error.map(|error| error.code) {
        None => ExitCode::SUCCESS,
        Some(ErrorCode::ScriptTimeoutError) => ExitCode::from(TIMED_OUT),
        Some(ErrorCode::ScriptCancelledError) => ExitCode::from(exit::CANCELLED),
        Some(_) => ExitCode::from(FAILED),
    })
}

fn read(file: &str) -> Result<String> {
    let bytes = if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .context("standard input cannot be read")?;
        bytes
    } else {
        std::fs::read(file).with_context(|| format!("{file} cannot be read"))?
    };
    String::from_utf8(bytes).with_context(|| format!("{file} is not UTF-8"))
}

/// Tells what the script does as it does it.
pub(crate) fn live() -> Arc<dyn Listener> {
    Arc::new(|event: &Event<'_>| match event {
        Event::Begin { tool, command, .. } if tool != "run_script" => {
            paint::aside(&format!("▸ {tool} {command}"));
        }
        Event::End {
            exit_code: Some(code),
            duration,
            ..
        } => paint::aside(&format!(
            "  exit code {code} after {} ms",
            duration.as_millis()
        )),
        Event::Said { tone, text, .. } => match tone {
            Tone::Progress => paint::aside(&format!("· {text}")),
            Tone::Warning => paint::remark(text),
            Tone::Log(LogLevel::Log | LogLevel::Info | LogLevel::Debug) => paint::aside(text),
            Tone::Log(level) => paint::aside(&format!("{}: {text}", level.name())),
        },
        Event::Notice { text, .. } => paint::remark(text),
        _ => {}
    })
}

/// Prints what came of a script.
pub(crate) fn show(output: &ScriptToolCallOutput) -> Result<()> {
    for warning in &output.warnings {
        paint::remark(warning);
    }
    let dropped = output.said.dropped;
    for (many, what) in [
        (dropped.logs, "lines of the console"),
        (dropped.progress, "words on how it got on"),
    ] {
        if many > 0 {
            paint::remark(&format!("{many} {what} were dropped"));
        }
    }
    if let Some(error) = &output.error {
        paint::complain(&error.to_string());
        if let Some(stack) = &error.stack {
            let frames: Vec<_> = stack
                .lines()
                .filter(|line| line.trim_start().starts_with("at "))
                .collect();
            paint::aside(&frames.join("\n"));
        }
    }
    if let Some(json) = &output.output_json {
        let value: serde_json::Value = serde_json::from_str(json)?;
        paint::line(&serde_json::to_string_pretty(&value)?);
    }
    Ok(())
}
