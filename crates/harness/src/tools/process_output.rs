//! What `exec_command` and `write_stdin` tell of a command that may outlive the call.

use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use super::reply::{Remarks, millis};
use crate::engine::Engine;
use crate::error::CallError;
use crate::output::{Ansi, Captured, Excerpt, Face, Screen};
use crate::registry::{End, KeptCommand, ProcessId, TaskId};

/// What is new of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ProcessOutput {
    /// What it has printed since the last time.
    output: String,
    /// Its name for `write_stdin`; null if it has ended.
    process_id: Option<ProcessId>,
    /// Its exit code; null if it still runs.
    pub(super) exit_code: Option<i32>,
    /// How long the call took, in milliseconds.
    wall_time_ms: u64,
    /// How much of the output is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_bytes: Option<u64>,
    /// The screen of its terminal, if the call asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    screen: Option<ScreenPicture>,
    /// The file with the whole output, if that was long.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw_output_path: Option<String>,
    /// Whether that file has only the beginning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    raw_output_cut: bool,
    /// The task that keeps what it left running.
    #[serde(skip_serializing_if = "Option::is_none")]
    background_task_id: Option<TaskId>,
    #[serde(flatten)]
    pub(super) remarks: Remarks,
    /// That soon no more commands can be kept, or that nothing was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) warning: Option<String>,
}

/// The screen of a terminal.
#[derive(Debug, Serialize, JsonSchema)]
struct ScreenPicture {
    /// Its lines.
    text: String,
    /// Where the cursor is, counted from 0.
    cursor: ScreenCursor,
    /// The title that the program set.
    title: Option<String>,
    /// Whether it is the screen of a program that takes all of it, such as an editor.
    alternate: bool,
}

/// Where the cursor of a terminal is.
#[derive(Debug, Serialize, JsonSchema)]
struct ScreenCursor {
    /// The line.
    row: usize,
    /// The column, in cells: some characters take two.
    column: usize,
    /// Whether the program shows it.
    visible: bool,
}

/// What a call is told of a process.
pub(super) struct Told<'a> {
    pub(super) engine: &'a Engine,
    pub(super) id: &'a ProcessId,
    pub(super) kept: &'a KeptCommand,
    pub(super) most_chars: usize,
    pub(super) screen: bool,
    pub(super) ansi: Option<Ansi>,
    pub(super) since: Instant,
}

impl Told<'_> {
    /// Fetches what is new and tells it. Only one call is told of the end.
    pub(super) fn reply(self) -> Result<ProcessOutput, CallError> {
        let (fresh, end) = self.kept.fetch();
        let known = self.kept.end();
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

    fn told(&self, fresh: &Captured, end: Option<&End>) -> ProcessOutput {
        let ansi = self.ansi.unwrap_or(self.engine.config.output.ansi);
        let excerpt = Excerpt::shown(&fresh.stdout, self.most_chars, ansi);
        let picture = self.screen.then(|| self.kept.screen(ScreenPicture::of));
        let file = self.kept.file();
        ProcessOutput {
            output: excerpt.text,
            process_id: end.is_none().then(|| self.id.clone()),
            exit_code: end.and_then(|end| end.exit_code),
            wall_time_ms: millis(self.since.elapsed()),
            omitted_bytes: Some(excerpt.omitted_bytes).filter(|bytes| *bytes > 0),
            screen: picture.flatten(),
            raw_output_cut: file.as_ref().is_some_and(|file| file.is_cut),
            raw_output_path: file.map(|file| file.path.display().to_string()),
            background_task_id: end.and_then(|end| end.task.clone()),
            remarks: end.map(Remarks::on_end).unwrap_or_default(),
            warning: self.engine.registry.warning(),
        }
    }
}

impl ScreenPicture {
    fn of(screen: &Screen) -> Self {
        let picture = screen.picture();
        let mut text = picture.lines.join("\n");
        text.truncate(text.trim_end_matches('\n').len());
        Self {
            text,
            cursor: ScreenCursor {
                row: picture.cursor.row,
                column: picture.cursor.column,
                visible: picture.cursor.visible,
            },
            title: picture.title,
            alternate: picture.face == Face::Alternate,
        }
    }
}
