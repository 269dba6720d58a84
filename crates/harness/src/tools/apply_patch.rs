//! `apply_patch`: files changed by a patch.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Invocation, Tool};
use crate::error::CallError;
use crate::patch::{Applied, ChangeKind, FileChange};

/// The tool.
pub(super) struct ApplyPatch;

impl Tool for ApplyPatch {
    type Arguments = Arguments;
    type Reply = PatchResult;

    fn name(&self) -> &'static str {
        "apply_patch"
    }

    fn aliases(&self) -> &[&str] {
        &["applyPatch"]
    }

    fn description(&self) -> &'static str {
        "Adds, updates, moves and deletes files by a patch: all of it, or nothing."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: Arguments,
    ) -> Result<PatchResult, CallError> {
        let Invocation { engine, call, .. } = at;
        let applied = engine.apply_patch(call, &arguments.patch).await?;
        Ok(PatchResult::of(applied))
    }
}

/// The arguments of `apply_patch`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The patch: `*** Begin Patch` … `*** End Patch`, or a unified diff.
    patch: String,
}

/// What came of a patch.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PatchResult {
    /// Always: a patch that was not applied is an error.
    success: bool,
    /// What has changed, a line for each file.
    summary: String,
    /// What has changed.
    changes: Vec<PatchChange>,
    /// What was done differently than the patch says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A file that a patch has changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PatchChange {
    /// The file.
    path: String,
    /// How.
    kind: PatchChangeKind,
    /// Where it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<String>,
}

/// How a file has changed.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PatchChangeKind {
    Add,
    Delete,
    Update,
}

impl PatchResult {
    fn of(applied: Applied) -> Self {
        Self {
            success: true,
            summary: summary(&applied.changes),
            changes: applied.changes.into_iter().map(PatchChange::of).collect(),
            notes: applied.notes,
        }
    }
}

impl PatchChange {
    fn of(change: FileChange) -> Self {
        Self {
            path: change.path,
            kind: match change.kind {
                ChangeKind::Add => PatchChangeKind::Add,
                ChangeKind::Delete => PatchChangeKind::Delete,
                ChangeKind::Update => PatchChangeKind::Update,
            },
            moved_from: change.moved_from,
        }
    }
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
