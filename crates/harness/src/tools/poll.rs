//! What the tools for kept commands share: how long a call waits, for what, and how much it takes.

use std::time::Duration;

use regex::RegexBuilder;
use ringfence_jail::TerminalSize;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use tokio::time::Instant;

use crate::engine::Engine;
use crate::error::CallError;
use crate::registry::Until;

/// What ends a wait before its time is over. The command's end always does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WaitFor {
    /// Nothing else.
    #[default]
    Exit,
    /// The first new output.
    Output,
}

/// How large a pattern may get once compiled.
const PATTERN_BYTES: usize = 1 << 20;

/// A pattern that a call names.
pub(super) fn pattern(tool: &str, field: &str, text: &str) -> Result<regex::Regex, CallError> {
    RegexBuilder::new(text)
        .multi_line(true)
        .size_limit(PATTERN_BYTES)
        .build()
        .map_err(|error| CallError::BadArguments {
            tool: tool.to_owned(),
            message: format!("`{field}` is not a pattern: {error}"),
        })
}

/// What a call waits for.
pub(super) fn until(tool: &str, wait_for: WaitFor, text: Option<&str>) -> Result<Until, CallError> {
    Ok(match (text, wait_for) {
        (Some(text), _) => Until::Pattern(pattern(tool, "pattern", text)?),
        (None, WaitFor::Output) => Until::Output,
        (None, WaitFor::Exit) => Until::End,
    })
}

/// When a wait is over.
pub(super) fn deadline(
    engine: &Engine,
    asked: Option<u64>,
    otherwise: Duration,
) -> Result<Instant, CallError> {
    let most = engine.config.process.max_wait;
    let wait = asked.map_or(otherwise.min(most), Duration::from_millis);
    if wait > most {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        return Err(CallError::TimeoutTooLong {
            given: millis(wait),
            most: millis(most),
        });
    }
    Ok(Instant::now() + wait)
}

/// How many characters of output a call takes: as many as it says, in tokens of four, and never
/// more than configured.
pub(super) fn most_chars(engine: &Engine, tokens: Option<u64>) -> usize {
    const CHARS_PER_TOKEN: u64 = 4;
    let configured = engine.max_output_chars();
    tokens
        .and_then(|tokens| usize::try_from(tokens.saturating_mul(CHARS_PER_TOKEN)).ok())
        .map_or(configured, |asked| asked.min(configured))
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Size {
    /// Lines.
    rows: u16,
    /// Characters in a line.
    cols: u16,
}

impl Size {
    /// A size that a terminal can have.
    pub(super) fn checked(self, tool: &str) -> Result<TerminalSize, CallError> {
        if self.rows == 0 || self.cols == 0 {
            return Err(CallError::BadArguments {
                tool: tool.to_owned(),
                message: "a terminal has at least one row and one column".to_owned(),
            });
        }
        Ok(TerminalSize {
            rows: self.rows,
            columns: self.cols,
        })
    }
}

/// An id, which some write as a number.
pub(super) fn id_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Id {
        Text(String),
        Number(u64),
    }
    Ok(match Id::deserialize(deserializer)? {
        Id::Text(text) => text,
        Id::Number(number) => number.to_string(),
    })
}
