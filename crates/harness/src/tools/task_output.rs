//! What is new of a background task, as `bash_task_output` and `bash_task_stop` reply it.

use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use super::content::{Content, ContentBlock};
use super::reply::{Remarks, millis};
use crate::engine::Engine;
use crate::output::{Excerpt, HeadTail};
use crate::registry::{KeptCommand, State, TaskId};

/// What is new of a task.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskReply {
    /// What it has printed to standard output since the last time.
    stdout: String,
    /// What it has printed to standard error since the last time.
    stderr: String,
    /// Its exit code; null if it still runs.
    pub(super) exit_code: Option<i32>,
    /// Whether it was stopped.
    interrupted: bool,
    /// Whether standard output is an image.
    is_image: bool,
    /// The task.
    background_task_id: TaskId,
    /// How it stands.
    status: State,
    /// How much of the output is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_bytes: Option<u64>,
    /// How many lines the filter dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    filtered_lines: Option<usize>,
    /// The output in blocks, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Vec<ContentBlock>>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// The file with the whole output, if that was long.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_output_path: Option<String>,
    /// Whether that file has only the beginning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    raw_output_cut: bool,
    /// The task that keeps what it left running.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_running_task_id: Option<TaskId>,
    #[serde(flatten)]
    remarks: Remarks,
}

impl TaskReply {
    /// Fetches what is new and tells it.
    pub(super) fn of(
        engine: &Engine,
        id: TaskId,
        task: &KeptCommand,
        filter: Option<&Regex>,
    ) -> Self {
        let (mut fresh, _) = task.fetch();
        let (end, state) = (task.end(), task.state());
        let end = end.as_ref();
        let dropped = filter.map(|filter| {
            keep_lines(&mut fresh.stdout, filter) + keep_lines(&mut fresh.stderr, filter)
        });
        let content = Content::of(engine, &fresh, None);
        let (stdout, stderr) = (&content.stdout.excerpt, &content.stderr.excerpt);
        let omitted = stdout.omitted_bytes + stderr.omitted_bytes;
        let file = task.file();
        Self {
            stdout: stdout.text.clone(),
            stderr: stderr.text.clone(),
            exit_code: end.and_then(|end| end.exit_code),
            interrupted: state == State::Cancelled,
            is_image: content.stdout.has_image(),
            background_task_id: id,
            status: state,
            omitted_bytes: Some(omitted).filter(|bytes| *bytes > 0),
            filtered_lines: dropped,
            structured_content: content.blocks(),
            duration_ms: end.map(|end| millis(end.duration)),
            raw_output_cut: file.as_ref().is_some_and(|file| file.is_cut),
            raw_output_path: file.map(|file| file.path.display().to_string()),
            left_running_task_id: end.and_then(|end| end.task.clone()),
            remarks: end.map(Remarks::on_end).unwrap_or_default(),
        }
    }
}

/// Keeps the lines in which a pattern is found, and says how many it dropped.
fn keep_lines(buffer: &mut HeadTail, filter: &Regex) -> usize {
    let whole = Excerpt::of(buffer, usize::MAX).text;
    let (kept, dropped): (Vec<&str>, Vec<&str>) = whole
        .split_inclusive('\n')
        .partition(|line| filter.is_match(line.trim_end_matches('\n')));
    *buffer = HeadTail::new(whole.len() * 2);
    buffer.push(kept.concat().as_bytes());
    dropped.len()
}
