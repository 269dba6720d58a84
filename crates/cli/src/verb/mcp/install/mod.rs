//! `ringfence mcp install`: an entry in an agent's configuration, which starts the server.

mod check;
mod client;
mod difference;
mod jsonc;
mod toml_text;
mod yaml_text;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use client::{Client, Scope, Started};

use crate::paint::{self, visible};

/// Arguments of `mcp install`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence mcp install claude                       print the entry, and where it goes
  ringfence mcp install codex --write --check        write it, start the server as Codex would, call a tool
  ringfence mcp install cursor --scope project --write -- --tools shell --network off
  ringfence mcp install codex --undo

What is written is shown first. Comments and everything else in the file stay as they are; the file as it was is
beside it, with `.before-ringfence` at the end of its name.")]
pub(crate) struct Arguments {
    /// The agent
    client: Client,
    /// Whom the entry is for
    #[arg(long, value_name = "WHO", default_value = "user")]
    scope: Scope,
    /// Change the agent's file
    #[arg(long, conflicts_with = "undo")]
    write: bool,
    /// Start the server as the agent would, and call a tool
    #[arg(long, conflicts_with = "undo")]
    check: bool,
    /// Take the entry out again
    #[arg(long)]
    undo: bool,
    /// Flags of `ringfence mcp` that the entry shall have
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

pub(crate) fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let environment = std::env::vars().collect();
    let client = arguments.client;
    let file = client.file(arguments.scope, &environment)?;
    // A file that is a link is changed where it is.
    let file = file.canonicalize().unwrap_or(file);
    let before = read(&file)?;
    if arguments.undo {
        return undo(client, &file, &before);
    }
    let started = started(client, &arguments.flags)?;
    let unusable = || {
        let shown = file.display();
        format!("{shown} cannot be changed without a loss; add the entry by hand")
    };
    let after = client
        .with_entry(&before, &started)
        .with_context(unusable)?;
    show(&file, &before, &after);
    if arguments.write && before != after {
        keep(&backup(&file), &before, &file)?;
        write(&file, &after)?;
        paint::line(&format!(
            "written; {} is as it was before",
            visible(&backup(&file).display().to_string())
        ));
    } else if !arguments.write && before != after {
        paint::line("nothing is written: --write does that");
    }
    paint::line(&format!(
        "its own shell goes past the fence: {}",
        client.own_shell()
    ));
    if let Some(how) = client.own_questions() {
        paint::line(&format!(
            "it asks about every call, beside what Ringfence asks: {how}"
        ));
    }
    if arguments.check {
        let now = read(&file)?;
        let started = client.started_by(&now).unwrap_or(started);
        let found = check::run(&started)?;
        paint::line(&format!(
            "it works: {} tools, first answer after {} ms",
            found.tools,
            found.first_answer.as_millis()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// What the entry starts: this program.
fn started(client: Client, flags: &[String]) -> Result<Started> {
    let program = std::env::current_exe().context("it is not known where this program is")?;
    let program = program
        .to_str()
        .context("the path of this program is no text")?;
    let mut arguments = vec!["mcp".to_owned()];
    if !flags.iter().any(|flag| flag == "--cwd") {
        arguments.extend(client.workspace_flags().iter().map(|&flag| flag.to_owned()));
    }
    arguments.extend(flags.iter().cloned());
    Ok(Started {
        program: program.to_owned(),
        arguments,
    })
}

fn undo(client: Client, file: &Path, before: &str) -> Result<ExitCode> {
    let backup = backup(file);
    let after = client.without_entry(before)?;
    if after == before {
        bail!("{} has no entry of ours", file.display());
    }
    // If nothing else has changed since, it is again what it was, to the letter.
    let old = read(&backup)?;
    let entered = client.started_by(before);
    let entered = entered.and_then(|started| client.with_entry(&old, &started).ok());
    let same = entered.is_some_and(|entered| entered == before) || old.trim() == after.trim();
    let after = if same { old } else { after };
    show(file, before, &after);
    if after.is_empty() {
        fs::remove_file(file)?;
    } else {
        write(file, &after)?;
    }
    let _ = fs::remove_file(backup);
    paint::line("taken out");
    Ok(ExitCode::SUCCESS)
}

fn show(file: &Path, before: &str, after: &str) {
    paint::line(&visible(&file.display().to_string()));
    if before == after {
        paint::line("  has it already");
    }
    for line in difference::lines(before, after) {
        if before != after {
            paint::line(&format!("  {}", visible(&line)));
        }
    }
}

fn backup(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".before-ringfence");
    file.with_file_name(name)
}

fn read(file: &Path) -> Result<String> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", file.display())),
    }
}

/// Keeps the file as it was; what was kept at the first time stays.
fn keep(backup: &Path, before: &str, file: &Path) -> Result<()> {
    if backup.exists() || !file.exists() {
        return Ok(());
    }
    write_like(backup, before, file)
}

fn write(file: &Path, text: &str) -> Result<()> {
    write_like(file, text, file)
}

/// Writes all of a file or nothing, readable by those who can read `like`.
fn write_like(file: &Path, text: &str, like: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let failed = || format!("{} cannot be written", file.display());
    fs::create_dir_all(folder).with_context(failed)?;
    let name = ringfence::identifier::random(".ringfence");
    let new = folder.join(name);
    let written = fs::write(&new, text).and_then(|()| {
        if let Ok(metadata) = fs::metadata(like) {
            fs::set_permissions(&new, metadata.permissions())?;
        }
        fs::rename(&new, file)
    });
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written.with_context(failed)
}
