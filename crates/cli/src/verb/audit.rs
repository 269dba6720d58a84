//! `ringfence audit`: what ran, who approved it, and whether the record is whole.

mod story;

use std::collections::VecDeque;
use std::process::ExitCode;

use anyhow::Result;
use ringfence::audit::{self, Entry};
use ringfence::config::Config;
use serde_json::json;

use super::suggest;
use crate::arguments::Common;
use crate::opening::Places;
use crate::paint;
use crate::reveal;

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
    /// Print every record
    Show,
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
    let places = Places::find(None)?;
    let config = Config::from(&places.resolve(crate::opening::flag_values(&Common::default())?)?);
    let place = places.audit_place(&config)?;
    match &arguments.what {
        What::Stats(period) => suggest::stats(period, arguments.json),
        What::Verify => verify(&place, arguments.json),
        What::Show => {
            if place.dir.exists() {
                for entry in audit::read(&place.dir)? {
                    show(&entry?, arguments.json)?;
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        What::Tail { lines } => {
            let mut last = VecDeque::new();
            if place.dir.exists() {
                for entry in audit::read(&place.dir)? {
                    last.push_back(entry?);
                    if last.len() > *lines {
                        last.pop_front();
                    }
                }
            }
            for entry in &last {
                show(entry, arguments.json)?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The exit code where there is no log.
const NOTHING_TO_VERIFY: u8 = 3;

fn verify(place: &audit::AuditPlace, as_json: bool) -> Result<ExitCode> {
    let report = audit::verify(place)?;
    // Nothing says that there ever was a log: neither that it is whole nor that it was taken away.
    let nothing = report.files.is_empty();
    if as_json {
        paint::line(&serde_json::to_string_pretty(&json!({
            "intact": (!nothing).then_some(report.is_intact()),
            "records": report.records(),
            "files": report.files,
        }))?);
    } else {
        if nothing {
            paint::line(&format!(
                "nothing to verify: no log and no register of one in {}",
                reveal::line(&place.dir.display().to_string())
            ));
        } else if report.is_intact() {
            paint::line(&format!(
                "intact: {} records in {} files",
                report.records(),
                report.files.len()
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

fn show(entry: &Entry, as_json: bool) -> Result<()> {
    if as_json {
        paint::line(&serde_json::to_string(entry)?);
        return Ok(());
    }
    let text = story::line(&entry.record);
    paint::line(&reveal::line(&format!("{} {text}", entry.at)));
    Ok(())
}
