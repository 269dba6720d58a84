//! `apply_patch`: files changed by a patch, as spec 1 has it.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tool, arguments};
use crate::patch::{Applied, ChangeKind, FileChange};

pub(super) const TOOL: Tool = Tool {
    name: "apply_patch",
    aliases: &["applyPatch"],
    description: "Adds, updates, moves and deletes files by a patch: all of it, or nothing.",
    schema: arguments::schema::<Arguments>,
    run: |engine, call, value| {
        Box::pin(async move {
            let arguments: Arguments = arguments::read("apply_patch", value)?;
            let applied = engine.apply_patch(call, &arguments.patch).await?;
            Ok(reply(&applied))
        })
    },
};

/// The arguments of `apply_patch`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// The patch: `*** Begin Patch` … `*** End Patch`, or a unified diff.
    patch: String,
}

fn reply(applied: &Applied) -> Value {
    let changes: Vec<Value> = applied.changes.iter().map(change).collect();
    let mut reply = json!({
        "success": true,
        "summary": summary(&applied.changes),
        "changes": changes,
    });
    if !applied.notes.is_empty() {
        reply["notes"] = json!(applied.notes);
    }
    reply
}

fn change(change: &FileChange) -> Value {
    let mut value = json!({ "path": change.path, "kind": change.kind.name() });
    if let Some(from) = &change.moved_from {
        value["movedFrom"] = json!(from);
    }
    value
}

fn summary(changes: &[FileChange]) -> String {
    if changes.is_empty() {
        return "Nothing changes: the files are like this already.".to_owned();
    }
    let mut summary = "The patch was applied:".to_owned();
    for change in changes {
        let letter = match change.kind {
            ChangeKind::Add => 'A',
            ChangeKind::Delete => 'D',
            ChangeKind::Update => 'M',
        };
        let _ = write!(summary, "\n{letter} {}", change.path);
    }
    summary
}
