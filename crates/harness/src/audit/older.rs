//! Lines of older versions, which lack what was added since. What they say tells what that would have
//! been.

use serde_json::{Map, Value};

use super::line::Body;
use super::outcome::Outcome;
use super::record::Record;

/// Reads a line that this version would not have written, if an older one did.
pub(super) fn read(line: &[u8]) -> Option<Body<Record>> {
    let mut fields: Map<String, Value> = serde_json::from_slice(line).ok()?;
    if fields.get("event")? == "outcome" && !fields.contains_key("outcome") {
        let outcome = outcome(&fields);
        // The code of an error that was none.
        if outcome == Outcome::Ok {
            fields.remove("error");
        }
        fields.insert("outcome".to_owned(), serde_json::to_value(outcome).ok()?);
    }
    serde_json::from_value(Value::Object(fields)).ok()
}

/// How a call ended of which that is not written.
fn outcome(fields: &Map<String, Value>) -> Outcome {
    let error = fields.get("error").and_then(Value::as_str);
    let exit_code = fields.get("exit_code").and_then(Value::as_i64);
    let timed_out = fields.get("timed_out") == Some(&Value::Bool(true));
    match (timed_out, error, exit_code) {
        (true, ..) => Outcome::TimedOut,
        (false, Some("ok"), _) | (false, None, None | Some(0)) => Outcome::Ok,
        (false, ..) => Outcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{AuditFolders, AuditLog, SystemClock, read, verify};
    use super::*;

    /// What the first version wrote, with how each call is said to have ended today.
    fn first_version() -> Vec<(Value, Option<Outcome>)> {
        let ended = |more: Value| {
            let mut line = json!({
                "event": "outcome", "call": "call_1", "session": "ses_1", "duration_ms": 5, "timed_out": false,
                "denied_by_sandbox": false, "stdout_bytes": 3, "stderr_bytes": 0
            });
            line.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            line
        };
        vec![
            (
                json!({"event": "session_started", "session": "ses_1", "cwd": "/w", "sandbox": "workspace-write",
                    "approval": "on-failure", "front": "cli", "version": "0.1.0"}),
                None,
            ),
            (
                json!({"event": "intent", "call": "call_1", "session": "ses_1", "tool": "bash", "command": "make",
                    "cwd": "/w", "sandbox": "native", "verdict": "allow", "reason": "safe"}),
                None,
            ),
            (
                json!({"event": "approval_asked", "call": "call_1", "session": "ses_1", "command": ["make"],
                    "reason": "unknown"}),
                None,
            ),
            (
                json!({"event": "approval_answered", "call": "call_1", "session": "ses_1", "answer": "approved",
                    "by": "terminal", "waited_ms": 7}),
                None,
            ),
            (ended(json!({"exit_code": 0})), Some(Outcome::Ok)),
            (ended(json!({"exit_code": 2})), Some(Outcome::Failed)),
            (
                ended(json!({"exit_code": 124, "timed_out": true})),
                Some(Outcome::TimedOut),
            ),
            (ended(json!({"error": "ok"})), Some(Outcome::Ok)),
            (
                ended(json!({"error": "launch_failed"})),
                Some(Outcome::Failed),
            ),
            (ended(json!({})), Some(Outcome::Ok)),
            (
                json!({"event": "session_ended", "session": "ses_1", "calls": 1}),
                None,
            ),
        ]
    }

    #[test]
    fn logs_of_the_first_version_are_read_and_verified() {
        let state = tempfile::tempdir().unwrap();
        let folders = AuditFolders::in_state(state.path(), None);
        let log = AuditLog::open(&folders, SystemClock).unwrap();
        let lines = first_version();
        for (line, _) in &lines {
            log.keep(line).unwrap();
        }
        let read: Vec<_> = read(&folders.dir).unwrap().map(Result::unwrap).collect();
        let found = read.iter().map(|entry| match &entry.record {
            Record::Outcome(ended) => Some((ended.outcome, ended.error.as_deref())),
            _ => None,
        });
        let expected = lines.iter().map(|(line, outcome)| {
            let error = line.get("error").and_then(Value::as_str);
            outcome.map(|outcome| (outcome, error.filter(|code| *code != "ok")))
        });
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        drop(log);
        let report = verify(&folders).unwrap();
        assert!(report.is_intact(), "{report:?}");
    }

    #[test]
    fn what_no_version_wrote_is_not_read() {
        for line in [
            json!({"event": "outcome", "call": "call_1"}),
            json!({"event": "outcom", "session": "ses_1"}),
            json!(["outcome"]),
        ] {
            assert!(super::read(line.to_string().as_bytes()).is_none(), "{line}");
        }
    }
}
