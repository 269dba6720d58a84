//! What the tools for kept commands share: how long a call waits and for what, and how a session
//! is told of in spec 2's words.

use std::time::Duration;

use regex::RegexBuilder;
use ringfence_jail::TerminalSize;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::command::{add, left_running};
use crate::engine::Engine;
use crate::error::CallError;
use crate::output::{Ansi, Captured, Excerpt, Face, Screen};
use crate::registry::{Attended, End, ProcessId, Until};

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

/// What a call is told of a session.
pub(super) struct Told<'a> {
    pub(super) engine: &'a Engine,
    pub(super) id: &'a ProcessId,
    pub(super) attended: &'a Attended,
    pub(super) most_chars: usize,
    pub(super) screen: bool,
    pub(super) ansi: Option<Ansi>,
    pub(super) since: Instant,
}

impl Told<'_> {
    /// Fetches what is new and tells it. Only one call is told of the end.
    pub(super) fn reply(self) -> Result<Value, CallError> {
        let (fresh, end) = self.attended.fetch();
        let known = self.attended.end();
        if let (None, Some(known)) = (&end, known)
            && fresh.stdout.total() == 0
        {
            return Err(CallError::ProcessEnded {
                id: self.id.clone(),
                exit_code: known.exit_code,
            });
        }
        if let Some(end) = &end {
            self.engine.registry.forget(self.id, end);
        }
        Ok(self.told(&fresh, end.as_ref()))
    }

    fn told(&self, fresh: &Captured, end: Option<&End>) -> Value {
        let ansi = self.ansi.unwrap_or(self.engine.config.output.ansi);
        let excerpt = Excerpt::shown(&fresh.stdout, self.most_chars, ansi);
        let mut reply = json!({
            "output": excerpt.text,
            "process_id": if end.is_none() { json!(self.id) } else { Value::Null },
            "exit_code": end.and_then(|end| end.exit_code),
            "wall_time_ms": self.since.elapsed().as_millis(),
        });
        if excerpt.omitted_bytes > 0 {
            reply["omitted_bytes"] = json!(excerpt.omitted_bytes);
        }
        if self.screen {
            reply["screen"] = self.attended.screen(picture).unwrap_or_default();
        }
        if let Some(end) = end {
            add_end(&mut reply, end, "raw_output_path", "background_task_id");
        }
        add(&mut reply, "warning", self.engine.registry.warning());
        reply
    }
}

/// What only an ended command has to tell.
pub(super) fn add_end(reply: &mut Value, end: &End, file: &str, task: &str) {
    if !end.findings.denials.is_empty() {
        reply["denials"] = json!(end.findings.denials);
    }
    if !end.findings.limits_hit.is_empty() {
        reply["limits_hit"] = json!(end.findings.limits_hit);
    }
    let path = end.file.as_ref().map(|path| path.display().to_string());
    add(reply, file, path);
    if !end.left_running.is_empty() {
        reply["background_processes"] = left_running(&end.left_running);
    }
    add(reply, task, end.task.as_ref().map(|task| task.0.clone()));
}

/// The screen of a terminal.
fn picture(screen: &Screen) -> Value {
    let picture = screen.picture();
    let mut text = picture.lines.join("\n");
    text.truncate(text.trim_end_matches('\n').len());
    json!({
        "text": text,
        "cursor": {
            "row": picture.cursor.row,
            "column": picture.cursor.column,
            "visible": picture.cursor.visible,
        },
        "title": picture.title,
        "alternate": picture.face == Face::Alternate,
    })
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
