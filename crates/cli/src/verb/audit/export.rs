//! `ringfence audit export`: the log for other programs.

use std::collections::HashMap;
use std::io::Write;

use anyhow::Result;
use ringfence::audit::{
    CallEnded, CallId, Decision, Entry, Intent, Outcome, ReadError, Record, SessionId, Timestamp,
};
use serde::Serialize;

use super::{story, wanted::Wanted};

/// Arguments of `audit export`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// JSON lines with every record, or comma-separated values with a row for each call
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) wanted: Wanted,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// A record a line, as `audit show --json` prints it.
    Jsonl,
    /// A call a row; one without an end comes last.
    Csv,
}

/// A call in the table: its intent and how it ended, in the words of the log.
#[derive(Serialize)]
struct Row<'a> {
    at: Timestamp,
    session: &'a SessionId,
    call: &'a CallId,
    parent: Option<&'a CallId>,
    tool: &'a str,
    command: String,
    cwd: String,
    sandbox: &'a str,
    verdict: Decision,
    class: Option<&'a str>,
    reason: String,
    rule: Option<&'a str>,
    approved_by: Option<&'a str>,
    outcome: Option<Outcome>,
    exit_code: Option<i32>,
    duration_ms: Option<u64>,
    fence: Option<&'a str>,
    denied_by_sandbox: Option<bool>,
    stdout_bytes: Option<u64>,
    stderr_bytes: Option<u64>,
    error: Option<&'a str>,
}

impl<'a> Row<'a> {
    fn of(at: Timestamp, intent: &'a Intent, ended: Option<&'a CallEnded>) -> Self {
        Self {
            at,
            session: &intent.session,
            call: &intent.call,
            parent: intent.parent.as_ref(),
            tool: &intent.tool,
            command: inert(story::text(&intent.command)),
            cwd: inert(intent.cwd.display().to_string()),
            sandbox: &intent.sandbox,
            verdict: intent.verdict,
            class: intent.class.as_deref(),
            reason: inert(intent.reason.clone()),
            rule: intent.rule.as_deref(),
            approved_by: intent.approved_by.as_deref(),
            outcome: ended.map(|ended| ended.outcome),
            exit_code: ended.and_then(|ended| ended.exit_code),
            duration_ms: ended.map(|ended| ended.duration_ms),
            fence: ended.and_then(|ended| ended.fence.as_deref()),
            denied_by_sandbox: ended.map(|ended| ended.denied_by_sandbox),
            stdout_bytes: ended.map(|ended| ended.stdout_bytes),
            stderr_bytes: ended.map(|ended| ended.stderr_bytes),
            error: ended.and_then(|ended| ended.error.as_deref()),
        }
    }
}

/// A text that a spreadsheet does not take for a formula, whatever a model made it begin with.
fn inert(text: String) -> String {
    match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{text}"),
        _ => text,
    }
}

/// Writes records.
pub(super) fn write(
    entries: impl Iterator<Item = Result<Entry, ReadError>>,
    format: Format,
    out: &mut dyn Write,
) -> Result<()> {
    match format {
        Format::Jsonl => {
            for entry in entries {
                writeln!(out, "{}", serde_json::to_string(&entry?)?)?;
            }
            Ok(())
        }
        Format::Csv => write_rows(entries, out),
    }
}

fn write_rows(
    entries: impl Iterator<Item = Result<Entry, ReadError>>,
    out: &mut dyn Write,
) -> Result<()> {
    let mut rows = csv::Writer::from_writer(out);
    // A call that is tried again has several intents, each followed by its outcome.
    let mut open: HashMap<(SessionId, CallId), (Timestamp, Box<Intent>)> = HashMap::new();
    for entry in entries {
        let Entry { at, record, .. } = entry?;
        match record {
            Record::Intent(intent) => {
                let key = (intent.session.clone(), intent.call.clone());
                open.insert(key, (at, Box::new(intent)));
            }
            Record::Outcome(ended) => {
                let key = (ended.session.clone(), ended.call.clone());
                if let Some((at, intent)) = open.remove(&key) {
                    rows.serialize(Row::of(at, &intent, Some(&ended)))?;
                }
            }
            _ => {}
        }
    }
    let mut without_end: Vec<_> = open.into_values().collect();
    without_end.sort_by_key(|(at, _)| *at);
    for (at, intent) in without_end {
        rows.serialize(Row::of(at, &intent, None))?;
    }
    Ok(rows.flush()?)
}
