//! The host's end of a script's bridge: it passes on what the script asks for and says. The run decides.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use ringfence_dialect::ErrorCode;
use ringfence_script::{CodeExecutionLog, Reply, ToolCall, ToolHost};
use tokio::sync::{mpsc, oneshot};

use super::facade::{self, Exposed};
use super::failure;
use super::ledger::Answer;
use super::progress::Progress;
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
    pub(super) progress: Mutex<Progress>,
    pub(super) events: EventSink,
    pub(super) call: CallId,
}

impl Bridge {
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
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(message) = progress.admit(message, Instant::now()) else {
            return;
        };
        drop(progress);
        let tone = if kind == "warn" {
            Tone::Warning
        } else {
            Tone::Progress
        };
        self.say(tone, message);
    }

    fn log(&self, log: &CodeExecutionLog) {
        let words: Vec<String> = log
            .args
            .iter()
            .map(|word| {
                word.as_str()
                    .map_or_else(|| word.to_json().to_string(), str::to_owned)
            })
            .collect();
        self.say(Tone::Log, words.join(" "));
    }
}
