//! `ringfence code`: JavaScript or TypeScript in a process of its own.

use std::convert::Infallible;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use ringfence::script::{CodeExecutionResult, CodeOptions, Language, Status, Value};
use ringfence::{Call, CallError, Cancel};

use super::run::{FirstInterrupt, stop_on_signal};
use crate::opening::{self, Caller};
use crate::{arguments, bridge, paint};

/// Arguments of `code`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence code untrusted.ts
  echo 'export default 6 * 7' | ringfence code -
  ringfence code sum.ts --fn add --args '[1, 2]'
  ringfence code scan.ts --import fs=./data --global limit=10 --timeout 5

The code has no files, no network and no other program. Its default export (or --fn) is printed as
JSON. Exit code 0 on success, 1 if the code failed, 124 if it took too long.")]
pub(crate) struct Arguments {
    /// The file, or `-` for standard input
    file: String,
    /// The export to run
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    /// Its arguments, as a JSON array
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    /// A global for the code (may be repeated)
    #[arg(long, value_name = "NAME=JSON")]
    global: Vec<String>,
    /// Another module, from a file (may be repeated)
    #[arg(long, value_name = "./NAME=FILE")]
    module: Vec<String>,
    /// A bridge: fs=DIR to read files below a folder, console to print at once, clock to wait
    #[arg(long, value_name = "BRIDGE")]
    import: Vec<String>,
    /// The most memory, in MiB
    #[arg(long, value_name = "MIB")]
    memory: Option<u64>,
    /// The most time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Print the whole result as JSON
    #[arg(long)]
    json: bool,
}

const FAILED: u8 = 1;
const TIMED_OUT: u8 = 124;

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    let source = read(&arguments.file)?;
    let options = options(&arguments)?;
    let engine = opening::open(
        &arguments::Common::default(),
        Caller::Person,
        ringfence::event::nowhere(),
    )?;
    let deadline = Some(Duration::from_secs(arguments.timeout));
    let cancel = Cancel::new();
    let call = Call {
        cancel: cancel.clone(),
        ..engine.new_call()
    };
    let result = tokio::select! {
        result = engine.run_code(&call, source, options, deadline) => result?,
        never = stop_on_signal::<Infallible>(&cancel, FirstInterrupt::Ends) => match never? {},
        // Its process ends with the wait for it.
        () = cancel.cancelled() => return Err(CallError::Cancelled.into()),
    };
    if arguments.json {
        paint::line(&serde_json::to_string_pretty(&result.to_json())?);
    } else {
        show(&result)?;
    }
    Ok(match result.status {
        Status::Success => ExitCode::SUCCESS,
        Status::Terminated => ExitCode::from(TIMED_OUT),
        _ => ExitCode::from(FAILED),
    })
}

fn read(file: &str) -> Result<String> {
    if file == "-" {
        let mut source = String::new();
        std::io::stdin()
            .read_to_string(&mut source)
            .context("standard input cannot be read")?;
        return Ok(source);
    }
    std::fs::read_to_string(file).with_context(|| format!("{file} cannot be read"))
}

fn options(arguments: &Arguments) -> Result<CodeOptions> {
    let mut options = CodeOptions::new();
    if arguments.file != "-" {
        let name = Path::new(&arguments.file)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        options = options.filename(&name);
        let extension = name.rsplit('.').next().unwrap_or_default();
        if matches!(extension, "js" | "mjs") {
            options = options.language(Language::JavaScript);
        }
    }
    if arguments.function.is_some() || arguments.args.is_some() {
        let values = match &arguments.args {
            Some(text) => match parse(text, "--args")? {
                serde_json::Value::Array(items) => items
                    .iter()
                    .map(Value::from_json)
                    .collect::<Result<Vec<_>, _>>()?,
                _ => anyhow::bail!("--args takes a JSON array, such as '[1, \"two\"]'"),
            },
            None => Vec::new(),
        };
        options = options.execute(arguments.function.as_deref().unwrap_or("default"), values);
    }
    for text in &arguments.global {
        let (name, value) = pair(text, "--global", "NAME=JSON")?;
        options = options.global(name, Value::from_json(&parse(value, "--global")?)?);
    }
    for text in &arguments.module {
        let (name, file) = pair(text, "--module", "./NAME=FILE")?;
        options = options.module(name, &read(file)?);
    }
    for asked in &arguments.import {
        options = bridge::add(options, asked)?;
    }
    if let Some(mebibytes) = arguments.memory {
        options = options.memory_limit_bytes(mebibytes << 20);
    }
    Ok(options)
}

fn pair<'a>(text: &'a str, flag: &str, form: &str) -> Result<(&'a str, &'a str)> {
    text.split_once('=')
        .with_context(|| format!("{flag} takes {form}, not `{text}`"))
}

fn parse(text: &str, flag: &str) -> Result<serde_json::Value> {
    serde_json::from_str(text).with_context(|| format!("{flag} `{text}` is not JSON"))
}

fn show(result: &CodeExecutionResult) -> Result<()> {
    for log in &result.logs {
        paint::aside(&bridge::console_line(&log.args));
    }
    if let Some(error) = &result.error {
        paint::complain(&format!("{}: {}", error.name, error.message));
        if let Some(stack) = error.stack.as_deref().filter(|stack| !stack.is_empty()) {
            paint::aside(stack.trim_end());
        }
    }
    match &result.result {
        Some(Value::Undefined) | None => {}
        Some(value) => paint::line(&serde_json::to_string_pretty(&value.to_json())?),
    }
    Ok(())
}
