//! A tool of one's own: what it takes, what it replies, the action that it is judged by, and its run.

#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::error::Error;
use std::path::PathBuf;

use ringfence::policy::action::{Action, ApplyPatch};
use ringfence::tools::{Invocation, Tool, ToolSet};
use ringfence::{CallError, Engine};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Keeps a line in a file.
struct Note;

#[derive(Deserialize, JsonSchema)]
struct NoteArguments {
    /// The file, with its whole path.
    file: PathBuf,
    /// The line.
    line: String,
}

#[derive(Serialize, JsonSchema)]
struct NoteReply {
    /// How many bytes were kept.
    bytes: usize,
}

impl Tool for Note {
    type Arguments = NoteArguments;
    type Reply = NoteReply;

    fn name(&self) -> &'static str {
        "note"
    }

    fn description(&self) -> &'static str {
        "Keeps a line in a file."
    }

    fn action(&self, asked: &NoteArguments) -> Result<Option<Action>, CallError> {
        let (writes, guarded) = (vec![asked.file.clone()], Vec::new());
        Ok(Some(Action::ApplyPatch(ApplyPatch { writes, guarded })))
    }

    async fn run(&self, at: Invocation<'_>, asked: NoteArguments) -> Result<NoteReply, CallError> {
        let permit = at.permit.ok_or_else(|| CallError::failed("no permit"))?;
        // What was judged is what is done, and once only: the permit is used up by it.
        let (Action::ApplyPatch(patch), _) = permit.redeem() else {
            return Err(CallError::failed("a permit for something else"));
        };
        let line = asked.line + "\n";
        std::fs::write(&patch.writes[0], &line).map_err(CallError::failed)?;
        Ok(NoteReply { bytes: line.len() })
    }
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run() -> Result<(), Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    let tools = ToolSet::built_in().with(Note)?;
    let engine = Engine::builder(workspace.path()).tools(tools).open()?;
    for file in [workspace.path().join("note"), "/usr/note".into()] {
        let asked = json!({ "file": file, "line": "remember the milk" });
        match engine.call("note", asked).await {
            Ok(reply) => println!("noted: {reply}"),
            Err(error) => println!("refused: {error}"),
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    ringfence::init();
    run()
}
