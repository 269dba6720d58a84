//! The global `context` of a script: who and where it is, what it may use, and what it has left.

use ringfence_policy::permissions::ApprovalPolicy;
use serde_json::{Value, json};

use super::request::ScriptRequest;
use crate::engine::Engine;

/// The fixed part of `context`; the realm adds `telemetry`, `emitProgress` and the running budget.
pub(super) fn of(
    engine: &Engine,
    request: &ScriptRequest,
    script_id: &str,
    timeout_ms: u64,
    tools: &[String],
) -> Value {
    let limits = &engine.config.script.limits;
    let from = &request.conversation;
    let or = |given: &str, otherwise: &str| {
        if given.is_empty() {
            otherwise.to_owned()
        } else {
            given.to_owned()
        }
    };
    let session = engine.desk.session.0.clone();
    json!({
        "conversationId": or(&from.conversation_id, &session),
        "sessionId": session,
        "turnId": or(&from.turn_id, script_id),
        "scriptId": script_id,
        "workingDirectory": engine.ground.cwd,
        "provider": or(&from.provider, "none"),
        "model": or(&from.model, "none"),
        "sandbox": {
            "timeoutMs": timeout_ms,
            "memoryMb": limits.memory_mb,
            "toolBudget": limits.max_tool_calls,
            "maxConcurrentToolCalls": limits.max_concurrent_tool_calls,
            "mode": "enabled",
        },
        "capabilities": { "tools": tools },
        "approvals": { "required": engine.config.approval.policy != ApprovalPolicy::Never },
    })
}
