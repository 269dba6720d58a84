//! Which calls of the log are wanted, as flags.

use anyhow::{Result, anyhow};
use ringfence::audit::{Decision, Filter, Outcome, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::period::Period;

/// Conditions that a call must meet, all of them.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Wanted {
    /// Not before: a period up to now (90m, 24h, 7d, 2w) or a moment (2026-01-31, 2026-01-31T08:00:00Z)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Before, in the same form
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Made through this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// With this verdict
    #[arg(long, value_parser = ["allow", "ask", "deny"])]
    verdict: Option<String>,
    /// Of a command of this class
    #[arg(long, value_parser = ["read-only", "safe", "unknown", "suspicious", "dangerous"])]
    class: Option<String>,
    /// Ended like this
    #[arg(long, value_parser = ["ok", "failed", "refused", "timed_out", "cancelled", "abandoned"])]
    outcome: Option<String>,
    /// In this folder or below it, or with this path in the command
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// With this host in it
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// With this text in the command, the reason or the rule
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

impl Wanted {
    pub(super) fn filter(&self) -> Result<Filter> {
        Ok(Filter {
            since: self.since.as_deref().map(moment).transpose()?,
            until: self.until.as_deref().map(moment).transpose()?,
            session: self.session.clone(),
            tool: self.tool.clone(),
            verdict: word::<Decision>(self.verdict.as_deref())?,
            class: self.class.clone(),
            path: self.path.clone(),
            host: self.host.clone(),
            text: self.text.clone(),
            outcome: word::<Outcome>(self.outcome.as_deref())?,
        })
    }
}

/// A word of the log's own.
fn word<T: DeserializeOwned>(word: Option<&str>) -> Result<Option<T>> {
    let value = word.map(|word| serde_json::from_value(Value::from(word)));
    Ok(value.transpose()?)
}

/// A period up to now, a day, or a moment.
fn moment(text: &str) -> Result<Timestamp> {
    if let Ok(period) = text.parse::<Period>() {
        return Ok(period.start());
    }
    let whole = match text.len() {
        10 => format!("{text}T00:00:00.000Z"),
        20 => text.replacen('Z', ".000Z", 1),
        _ => text.to_owned(),
    };
    whole.parse().map_err(|_| {
        anyhow!("`{text}` is neither a period (90m, 24h, 7d, 2w) nor a moment (2026-01-31, 2026-01-31T08:00:00Z)")
    })
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn moments_are_read() {
        for (text, read) in [
            ("2026-01-31", "2026-01-31T00:00:00.000Z"),
            ("2026-01-31T08:09:10Z", "2026-01-31T08:09:10.000Z"),
            ("2026-01-31T08:09:10.123Z", "2026-01-31T08:09:10.123Z"),
        ] {
            assert_eq!(moment(text).unwrap().to_string(), read);
        }
        assert!(moment("7d").unwrap() < moment("1h").unwrap());
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-01-31T25:00:00Z",
            "2026-1-3",
        ] {
            assert!(moment(text).is_err(), "{text}");
        }
    }
}
