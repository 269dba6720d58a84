//! What happens while a call runs, as the client is told.

use ringfence::event::Event;
use serde_json::{Value, json};

/// An event as the client gets it.
pub(super) fn told(event: &Event<'_>) -> Value {
    match event {
        Event::Begin { tool, command, .. } => {
            json!({"type": "begin", "tool": tool, "command": command})
        }
        Event::Output { stream, text, .. } => {
            json!({"type": "output", "stream": stream.name(), "text": text})
        }
        Event::NotStreamed { bytes, .. } => json!({"type": "not_streamed", "bytes": bytes}),
        Event::Progress {
            elapsed,
            lines,
            bytes,
            ..
        } => json!({
            "type": "progress",
            "elapsed_ms": elapsed.as_millis(),
            "lines": lines,
            "bytes": bytes,
        }),
        Event::CanMove { .. } => json!({"type": "can_move_to_background"}),
        Event::Ended { exit_code, .. } => json!({"type": "ended", "exit_code": exit_code}),
        Event::Said { tone, text, .. } => {
            json!({"type": "said", "tone": tone.name(), "text": text})
        }
        Event::Notice { text, .. } => json!({"type": "notice", "text": text}),
        Event::End {
            exit_code,
            duration,
            ..
        } => json!({
            "type": "end",
            "exit_code": exit_code,
            "duration_ms": duration.as_millis(),
        }),
    }
}
