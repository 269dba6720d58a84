//! The harness's events as a client is told them.

use std::time::Duration;

use ringfence::audit::Outcome;
use ringfence::event::{Event, Tone};

use crate::wire::{CallEvent, Told};

/// An event as the client gets it. The steps inside of a call are for whoever measures them.
pub fn told<'a>(event: &'a Event<'_>) -> Option<CallEvent<'a>> {
    Some(CallEvent {
        call: &event.call().0,
        phase: event.script_phase(),
        told: what_happened(event)?,
    })
}

fn what_happened<'a>(event: &'a Event<'_>) -> Option<Told<'a>> {
    Some(match event {
        Event::Begin {
            tool,
            command,
            cwd,
            parent,
            ..
        } => Told::Begin {
            tool,
            command,
            cwd: cwd.display().to_string(),
            parent: parent.as_ref().map(|parent| parent.0.as_str()),
        },
        Event::Output { stream, text, .. } => Told::Output {
            stream: stream.name(),
            text,
        },
        Event::NotStreamed { bytes, .. } => Told::NotStreamed { bytes: *bytes },
        Event::Progress {
            elapsed,
            lines,
            bytes,
            ..
        } => Told::Progress {
            elapsed_ms: millis(*elapsed),
            lines: *lines,
            bytes: *bytes,
        },
        Event::CanMove { .. } => Told::CanMoveToBackground {},
        Event::Ended { exit_code, .. } => Told::Ended {
            exit_code: *exit_code,
        },
        Event::Said { tone, text, .. } => Told::Said {
            tone: tone.name(),
            level: match tone {
                Tone::Log(level) => Some(level.name()),
                Tone::Progress | Tone::Warning => None,
            },
            text,
        },
        Event::Notice { text, .. } => Told::Notice { text },
        Event::End {
            exit_code,
            duration,
            outcome,
            error,
            ..
        } => Told::End {
            exit_code: *exit_code,
            duration_ms: millis(*duration),
            outcome: name(*outcome),
            error: error.as_deref(),
        },
        Event::Opened { .. }
        | Event::TurnBegin { .. }
        | Event::TurnEnd { .. }
        | Event::Judging { .. }
        | Event::Judged { .. }
        | Event::Asked { .. }
        | Event::Answered { .. }
        | Event::Launching { .. }
        | Event::Launched { .. }
        | Event::Ran { .. }
        | Event::NotRun { .. } => return None,
    })
}

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Failed => "failed",
        Outcome::Refused => "refused",
        Outcome::TimedOut => "timed_out",
        Outcome::Cancelled => "cancelled",
        Outcome::Abandoned => "abandoned",
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
