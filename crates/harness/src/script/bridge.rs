//! The host's end of a script's bridge: it passes on what the script asks for and says. The run decides.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ringfence_dialect::{ErrorCode, LogLevel, ProgressKind, Said};
use ringfence_script::{CodeExecutionLog, Reply, ToolCall, ToolHost};
use tokio::sync::{mpsc, oneshot};

use super::facade::{self, Exposed};
use super::failure;
use super::ledger::Answer;
use super::said::Record;
use crate::audit::CallId;
use crate::event::{Event, EventSink, Tone};

/// What a script's side of the bridge asks for.
pub(super) enum Ask {
    Call(ToolCall, Answer),
    Cancel(u64),
}

/// The host's end of a script's bridge. It only passes on: the run decides.
pub(super) struct Bridge {
    pub(super) asks: mpsc::UnboundedSender<Ask>,
    pub(super) exposed: Vec<Exposed>,
    pub(super) record: Mutex<Record>,
    pub(super) events: EventSink,
    pub(super) call: CallId,
}

impl Bridge {
    /// What the script said, as far as it is kept.
    pub(super) fn said(&self, dropped_logs: u64) -> Said {
        self.record().taken(dropped_logs)
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, tone: Tone, text: String) {
        let call = self.call.clone();
        (self.events)(&Event::Said { call, tone, text });
    }
}

impl ToolHost for Bridge {
    fn call(&self, call: ToolCall) -> Reply {
        let (answer, answered) = oneshot::channel();
        let _ = self.asks.send(Ask::Call(call, answer));
        Box::pin(async {
            let gone = || failure::refused(ErrorCode::HarnessInternalError, "the script has ended");
            answered.await.unwrap_or_else(|_| Err(gone()))
        })
    }

    fn cancel(&self, number: u64) {
        let _ = self.asks.send(Ask::Cancel(number));
    }

    fn missing(&self, path: &str) -> (String, Vec<String>) {
        let names = self.exposed.iter().map(|tool| tool.name.clone());
        (facade::missing(&self.exposed, path), names.collect())
    }

    fn progress(&self, message: &str, kind: &str) {
        let (kind, tone) = match kind {
            "warn" => (ProgressKind::Warn, Tone::Warning),
            _ => (ProgressKind::Info, Tone::Progress),
        };
        let told = self.record().progress(kind, message);
        if let Some(message) = told {
            self.say(tone, message);
        }
    }

    fn log(&self, log: &CodeExecutionLog) {
        let words: Vec<String> = log
            .args
            .iter()
            .map(|word| {
                word.text()
                    .map_or_else(|| word.to_json().to_string(), std::borrow::Cow::into_owned)
            })
            .collect();
        let level = match log.level {
            ringfence_script::LogLevel::Log => LogLevel::Log,
            ringfence_script::LogLevel::Info => LogLevel::Info,
            ringfence_script::LogLevel::Warn => LogLevel::Warn,
            ringfence_script::LogLevel::Error => LogLevel::Error,
            ringfence_script::LogLevel::Debug => LogLevel::Debug,
        };
        let told = self.record().log(level, &words.join(" "));
        self.say(Tone::Log(level), told);
    }
}
