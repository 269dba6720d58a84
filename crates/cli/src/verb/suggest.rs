//! `ringfence audit stats` and `ringfence rules suggest`: what was asked most, and the rules that
//! would have spared it.

use std::process::ExitCode;

use anyhow::Result;
use ringfence::audit;
use ringfence::config::Config;
use ringfence::history::{History, Suggestion, suggest};
use serde_json::json;

use crate::locations::Locations;
use crate::paint;
use crate::period::Period;
use ringfence_protocol::reveal;

/// As many commands are shown.
const SHOWN: usize = 15;
/// As much of each.
const WIDTH: usize = 160;

/// Arguments of both.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How far to look back: 90m, 24h, 7d, 2w
    #[arg(long, value_name = "PERIOD", default_value = "7d")]
    since: Period,
}

fn history(locations: &Locations, since: Period) -> Result<History> {
    let config = Config::from(&locations.resolve(Vec::new())?);
    let folders = locations.audit_folders(&config)?;
    let home = locations.home.as_deref();
    Ok(if folders.dir.exists() {
        History::since(audit::read(&folders.dir)?, since.start(), home)
    } else {
        History::default()
    })
}

pub(crate) fn stats(arguments: &Arguments, as_json: bool) -> Result<ExitCode> {
    let stats = history(&Locations::find(None)?, arguments.since)?.stats();
    if as_json {
        paint::line(&serde_json::to_string_pretty(&stats)?);
        return Ok(ExitCode::SUCCESS);
    }
    paint::line(&format!(
        "{} calls: {} ran unasked, {} were approved, {} declined, {} refused; {} ran outside the fence",
        stats.calls, stats.unasked, stats.approved, stats.declined, stats.refused, stats.outside
    ));
    if stats.unreadable > 0 {
        paint::line(&format!(
            "{} lines could not be read; run `ringfence audit verify`",
            stats.unreadable
        ));
    }
    if !stats.asked.is_empty() {
        paint::line("asked about most:");
    }
    for counted in stats.asked.iter().take(SHOWN) {
        paint::line(&format!(
            "  {:>4} asked, {:>4} approved  {}",
            counted.asked,
            counted.approved,
            shown(&counted.command)
        ));
        paint::line(&format!("       {}", shown(&counted.because)));
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn rules(arguments: &Arguments, as_json: bool) -> Result<ExitCode> {
    let locations = Locations::find(None)?;
    let history = history(&locations, arguments.since)?;
    let found = suggest(&history, &locations.rules()?);
    if as_json {
        let report = json!({ "stats": history.stats(), "suggestions": found });
        paint::line(&serde_json::to_string_pretty(&report)?);
        return Ok(ExitCode::SUCCESS);
    }
    let stats = history.stats();
    let asked = stats.approved + stats.declined;
    paint::line(&format!("{asked} questions in {} calls", stats.calls));
    if found.is_empty() {
        paint::line(
            "no rule would have spared one: nothing was approved every time, or no safe rule covers it",
        );
    }
    for suggestion in &found {
        show(suggestion);
    }
    if let Some(path) = locations.user_rules().filter(|_| !found.is_empty()) {
        paint::line(&format!(
            "\nput those that you want into {}",
            reveal::line(&path.display().to_string())
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn show(suggestion: &Suggestion) {
    paint::line(&format!(
        "\n# would have spared {} questions: {}",
        suggestion.spares,
        reveal::line(&suggestion.summary)
    ));
    for command in &suggestion.commands {
        paint::line(&format!("#   asked:  {}", shown(command)));
    }
    for command in &suggestion.also {
        paint::line(&format!("#   and lets through: {}", shown(command)));
    }
    if suggestion.also.is_empty() {
        paint::line("#   nothing else in this time");
    }
    for line in reveal::lines(suggestion.rule.trim_end()) {
        paint::line(&line);
    }
}

fn shown(text: &str) -> String {
    reveal::cut(&reveal::line(text), WIDTH)
}
