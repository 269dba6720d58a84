//! `ringfence audit`: what ran, who approved it, and whether the record is whole.

mod export;
mod story;
mod wanted;

use std::collections::VecDeque;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Result;
use ringfence::audit::{self, Entry};
use ringfence::config::Config;
use serde_json::json;

use super::suggest;
use crate::arguments::Common;
use crate::locations::Locations;
use crate::paint;
use ringfence_protocol::reveal;

/// Arguments of `audit`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print the records, or those of the calls that are wanted
    Show(wanted::Wanted),
    /// Write the records to standard output for other programs: JSON lines, or a table with a row for each call
    Export(export::Arguments),
    /// Print the last records
    Tail {
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: usize,
    },
    /// Check that no record was changed, removed, added or moved
    Verify,
    /// Count what was asked, what was approved and what ran unasked
    Stats(suggest::Arguments),
}

pub(crate) fn serve(arguments: &Arguments) -> Result<ExitCode> {
    let locations = Locations::find(None)?;
    let config = Config::from(&locations.resolve(crate::flags::flag_values(&Common::default())?)?);
    let folders = locations.audit_folders(&config)?;
    match &arguments.what {
        What::Stats(period) => suggest::stats(period, arguments.json),
        What::Verify => verify(&folders, arguments.json),
        What::Show(wanted) => printing(|out| {
            for entry in selected(&folders, wanted)? {
                writeln!(out, "{}", shown(&entry?, arguments.json)?)?;
            }
            Ok(())
        }),
        What::Export(wanted) => {
            printing(|out| export::write(selected(&folders, &wanted.wanted)?, wanted.format, out))
        }
        What::Tail { lines } => {
            let mut last = VecDeque::new();
            if folders.dir.exists() {
                for entry in audit::read(&folders.dir)? {
                    last.push_back(entry?);
                    if last.len() > *lines {
                        last.pop_front();
                    }
                }
            }
            for entry in &last {
                paint::line(&shown(entry, arguments.json)?);
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The exit code where there is no log.
const NOTHING_TO_VERIFY: u8 = 3;

fn verify(folders: &audit::AuditFolders, as_json: bool) -> Result<ExitCode> {
    let report = audit::verify(folders)?;
    // Nothing says that there ever was a log: neither that it is whole nor that it was taken away.
    let nothing = report.files.is_empty() && report.expired == 0;
    if as_json {
        paint::line(&serde_json::to_string_pretty(&json!({
            "intact": (!nothing).then_some(report.is_intact()),
            "records": report.records(),
            "expired": report.expired,
            "files": report.files,
        }))?);
    } else {
        if nothing {
            paint::line(&format!(
                "nothing to verify: no log and no register of one in {}",
                reveal::line(&folders.dir.display().to_string())
            ));
        } else if report.is_intact() {
            paint::line(&format!(
                "intact: {} records in {} files",
                report.records(),
                report.files.len()
            ));
        }
        if report.expired > 0 {
            paint::line(&format!(
                "{} older files were removed, as `audit.keep_days` or `audit.keep_bytes` says",
                report.expired
            ));
        }
        for (file, fault) in report.faults() {
            let line = fault
                .line()
                .map(|line| format!(":{line}"))
                .unwrap_or_default();
            let file = reveal::line(&file.file.display().to_string());
            paint::line(&format!("NOT INTACT: {file}{line}: {fault}"));
        }
    }
    Ok(if nothing {
        ExitCode::from(NOTHING_TO_VERIFY)
    } else if report.is_intact() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The records that are wanted.
fn selected(
    folders: &audit::AuditFolders,
    wanted: &wanted::Wanted,
) -> Result<impl Iterator<Item = Result<Entry, audit::ReadError>> + use<>> {
    let filter = wanted.filter()?;
    let selection = if folders.dir.exists() {
        Some(audit::select(&folders.dir, filter)?)
    } else {
        None
    };
    Ok(selection.into_iter().flatten())
}

/// Prints a lot to standard output. A reader that has gone away wants no more, which is no error.
fn printing(print: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<ExitCode> {
    let mut out = BufWriter::new(io::stdout().lock());
    let printed = print(&mut out).and_then(|()| Ok(out.flush()?));
    match printed {
        Err(error) if is_gone(&error) => Ok(ExitCode::SUCCESS),
        printed => printed.map(|()| ExitCode::SUCCESS),
    }
}

fn is_gone(error: &anyhow::Error) -> bool {
    let kind = match error.downcast_ref::<csv::Error>().map(csv::Error::kind) {
        Some(csv::ErrorKind::Io(error)) => Some(error.kind()),
        _ => error.downcast_ref::<io::Error>().map(io::Error::kind),
    };
    kind == Some(ErrorKind::BrokenPipe)
}

fn shown(entry: &Entry, as_json: bool) -> Result<String> {
    if as_json {
        return Ok(serde_json::to_string(entry)?);
    }
    let text = story::line(&entry.record);
    Ok(reveal::line(&format!("{} {text}", entry.at)))
}
