//! What happens in a loop as lines of JSON, for programs.

use ringfence::agent::{AgentError, AgentEvent, AgentListener, AgentReport};
use ringfence::dialect::provider::TurnEvent;
use serde_json::{Value, json};

use crate::paint;

/// Prints a line for each thing that happens.
pub(super) struct Lines;

impl AgentListener for Lines {
    fn hear(&self, event: &AgentEvent<'_>) {
        if let Some(line) = told(event) {
            paint::line(&line.to_string());
        }
    }
}

fn told(event: &AgentEvent<'_>) -> Option<Value> {
    Some(match event {
        AgentEvent::Asked { turn } => json!({"type": "asked", "turn": turn}),
        AgentEvent::Piece(TurnEvent::Text(text)) => json!({"type": "text", "text": text}),
        AgentEvent::Piece(TurnEvent::Thinking(text)) => json!({"type": "thinking", "text": text}),
        AgentEvent::Failed {
            code,
            message,
            tries_again,
        } => {
            json!({"type": "failed", "code": code, "message": message, "tries_again": tries_again})
        }
        AgentEvent::StepBegan { step, tool, call } => json!({
            "type": "step_began", "step": step, "tool": tool,
            "call": call.map(ToString::to_string),
        }),
        AgentEvent::StepEnded { step, .. } => json!({"type": "step_ended", "step": step}),
        AgentEvent::TurnEnded { items, changes } => {
            json!({"type": "turn_ended", "items": items, "changes": changes})
        }
        AgentEvent::Compacted => json!({"type": "compacted"}),
        _ => return None,
    })
}

/// The last line.
pub(super) fn report(report: &AgentReport, conversation: Option<&str>) -> Value {
    json!({
        "type": "result",
        "ended": report.ended,
        "text": report.text,
        "turns": report.turns,
        "steps": report.steps,
        "failed_steps": report.failed_steps,
        "usage": {
            "input": report.usage.input, "cached": report.usage.cached,
            "output": report.usage.output, "reasoning": report.usage.reasoning,
        },
        "duration_ms": u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
        "changed_files": report.changed_files,
        "conversation": conversation,
    })
}

/// The last line, where the loop broke off.
pub(super) fn failed(error: &anyhow::Error, conversation: Option<&str>) -> Value {
    let code = error.downcast_ref::<AgentError>().map(AgentError::code);
    json!({
        "type": "error",
        "code": code.unwrap_or("failed"),
        "message": format!("{error:#}"),
        "conversation": conversation,
    })
}
