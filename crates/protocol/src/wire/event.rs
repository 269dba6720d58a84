//! Events: what happens while a call runs.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Something that happened.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Happened<'a> {
    /// The id of the call's request.
    pub id: Value,
    /// What happened.
    #[serde(flatten)]
    pub event: CallEvent<'a>,
}

/// Something that happened to a call. The calls of a script come under the script's id.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallEvent<'a> {
    /// The harness's own id of the call that it happened to.
    pub call: &'a str,
    /// `script_started`, `script_completed`, `script_timed_out`, `script_cancelled` or `script_error`, for the
    /// beginning and the end of a script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<&'static str>,
    /// What happened.
    #[serde(flatten)]
    pub told: Told<'a>,
}

/// What happened. A closed list, which is the harness's own.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Told<'a> {
    /// A call has started. Each has exactly one end.
    Begin {
        /// The tool.
        tool: &'a str,
        /// The command, for a person.
        command: &'a str,
        /// Where it runs.
        cwd: String,
        /// The harness's id of the script that made the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        parent: Option<&'a str>,
    },
    /// A command printed something.
    Output {
        /// `stdout` or `stderr`.
        stream: &'static str,
        /// Whole characters of it.
        text: &'a str,
    },
    /// A command printed more than is told here; the reply and the file have more of it.
    NotStreamed {
        /// How many bytes no event has.
        bytes: u64,
    },
    /// A command is still running. Told once a second.
    Progress {
        /// For how long.
        elapsed_ms: u64,
        /// Lines that it has printed.
        lines: u64,
        /// Bytes that it has printed.
        bytes: u64,
    },
    /// A command takes long, and `background` would move it to the background.
    CanMoveToBackground {},
    /// A command that lived on after its call has ended.
    Ended {
        /// Its exit code.
        exit_code: i32,
    },
    /// A script said something.
    Said {
        /// `progress`, `warning` or `log`.
        tone: &'static str,
        /// The method of the console, for a `log`.
        #[serde(skip_serializing_if = "Option::is_none")]
        level: Option<&'static str>,
        /// What.
        text: &'a str,
    },
    /// Something that a person should know and that no reply says.
    Notice {
        /// What.
        text: &'a str,
    },
    /// A call has ended.
    End {
        /// The exit code, if a command ran.
        exit_code: Option<i32>,
        /// How long it took.
        duration_ms: u64,
        /// `ok`, `failed`, `refused`, `timed_out`, `cancelled` or `abandoned`.
        outcome: &'static str,
        /// Why, if it did not end well and there is a code for it.
        error: Option<&'a str>,
    },
}
