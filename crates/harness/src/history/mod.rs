//! What was asked, and what came of it: the audit log as the numbers behind better rules.
//!
//! The log is read and never believed further than that: what comes out are counts, and rules that
//! a person looks at before they are kept.

mod stats;
mod suggest;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ringfence_policy::facts::{self, CommandText, Facts};
use ringfence_policy::{Ground, ShellKind};
use serde::Serialize;

use crate::audit::{
    Answer, CallId, Command, Decision, Entry, Intent, ReadError, Record, SessionId, Timestamp,
};

pub use stats::{Counted, Stats};
pub use suggest::{Suggestion, suggest};

/// The calls of a period.
#[derive(Debug, Clone, Default)]
pub struct History {
    calls: Vec<PastCall>,
    /// Lines that could not be read.
    unreadable: u64,
}

/// How a call was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decided {
    /// It ran without a question.
    Unasked,
    /// Somebody said yes.
    Approved,
    /// Somebody said no, or nothing.
    Declined,
    /// It was refused without a question.
    Refused,
}

/// A call that was made.
#[derive(Debug, Clone)]
struct PastCall {
    intent: Intent,
    decided: Decided,
    /// Why somebody was asked.
    because: Option<String>,
    /// Whether it ran, or was to run, outside the fence.
    outside: bool,
    ground: Ground,
}

/// What is known of a question before the intent that follows it.
#[derive(Default)]
struct Open {
    because: Option<String>,
    answer: Option<Answer>,
}

impl History {
    /// The calls since a moment, from the records of a log.
    pub fn since(
        entries: impl Iterator<Item = Result<Entry, ReadError>>,
        since: Timestamp,
        home: Option<&Path>,
    ) -> Self {
        let mut history = Self::default();
        let mut workspaces: HashMap<SessionId, PathBuf> = HashMap::new();
        let mut open: HashMap<CallId, Open> = HashMap::new();
        for entry in entries {
            let Ok(Entry { at, record, .. }) = entry else {
                history.unreadable += 1;
                continue;
            };
            match record {
                Record::SessionStarted(started) => {
                    workspaces.insert(started.session, started.cwd);
                }
                _ if at < since => {}
                Record::ApprovalAsked(asked) => {
                    open.entry(asked.call).or_default().because = Some(asked.reason);
                }
                Record::ApprovalAnswered(answered) => {
                    open.entry(answered.call).or_default().answer = Some(answered.answer);
                }
                Record::Intent(intent) => {
                    let workspace = workspaces.get(&intent.session).unwrap_or(&intent.cwd);
                    let mut ground = Ground::at(workspace);
                    ground.cwd.clone_from(&intent.cwd);
                    ground.home = home.map(Path::to_path_buf);
                    let asked = open.remove(&intent.call).unwrap_or_default();
                    history.calls.push(PastCall::of(intent, asked, ground));
                }
                _ => {}
            }
        }
        history
    }
}

impl PastCall {
    fn of(intent: Intent, asked: Open, ground: Ground) -> Self {
        let decided = match (asked.answer, intent.verdict) {
            (Some(Answer::Approved | Answer::ApprovedForSession | Answer::ApprovedWithRule), _) => {
                Decided::Approved
            }
            // Nobody answered before the call was given up.
            (Some(_), _) | (None, Decision::Ask) => Decided::Declined,
            (None, Decision::Deny) => Decided::Refused,
            (None, _) => Decided::Unasked,
        };
        Self {
            outside: intent.sandbox == "none" && intent.verdict == Decision::Allow,
            because: asked.because,
            intent,
            decided,
            ground,
        }
    }

    fn was_asked(&self) -> bool {
        matches!(self.decided, Decided::Approved | Decided::Declined)
    }

    /// The command for a person to read.
    fn text(&self) -> String {
        match &self.intent.command {
            Command::Line(line) => line.clone(),
            Command::Argv(argv) => argv.join(" "),
        }
    }

    /// What the command would do; nothing if it is none, or not all of it is on record.
    fn facts(&self) -> Option<Facts> {
        let (shell, cut) = (self.intent.shell.as_deref(), self.text());
        if cut.contains("[redacted]") || cut.ends_with(" more bytes]") {
            return None;
        }
        match (&self.intent.command, shell) {
            (Command::Argv(argv), _) => Some(facts::understand(CommandText::Argv(argv))),
            (Command::Line(text), Some(shell)) => {
                let kind = ShellKind::of_program(&shell.to_string_lossy())?;
                Some(facts::understand(CommandText::Shell { kind, text }))
            }
            // A script, a patch, a connection.
            (Command::Line(_), None) => None,
        }
    }
}
