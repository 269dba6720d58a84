//! The scripts of a turn, run by the engine one after the other.

use ringfence::config::ScriptMode;
use ringfence::dialect::Item;
use ringfence::dialect::provider::{Feedback, Part, Turn};
use ringfence::respond;
use ringfence::script::Conversation;
use ringfence::{CallError, Cancel, Engine};

/// What came of the scripts of a turn.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// What the model is told.
    pub(crate) feedback: Vec<Feedback>,
    /// What the client sees, behind what the model said.
    pub(crate) text: String,
}

/// Whether there may be a script in a turn.
pub(crate) fn may_have_scripts(turn: &Turn) -> bool {
    turn.parts
        .iter()
        .any(|part| matches!(part, Part::Text(text) if text.contains("tool-calls")))
}

/// Runs the scripts of a turn. Those that do not run are told of too.
pub(crate) async fn run(
    engine: &Engine,
    turn: &Turn,
    mode: Option<ScriptMode>,
    conversation: &Conversation,
    cancel: &Cancel,
) -> Result<Ran, CallError> {
    let mut ran = Ran::default();
    let begun = engine.begin_turn();
    for part in &turn.parts {
        let Part::Text(text) = part else { continue };
        let turn = respond::Turn {
            conversation: conversation.clone(),
            mode,
            id: Some(begun.id().clone()),
        };
        let is_disabled = engine.script_mode(&turn) == ScriptMode::Disabled;
        let items = engine
            .respond(turn, cancel.clone(), text.as_bytes())
            .await?;
        for item in items {
            match item {
                Item::ScriptToolCallOutput(output) => {
                    let json = serde_json::to_string(&output).unwrap_or_default();
                    // Nothing in it can end the mark.
                    let json = json.replace('<', "\\u003c");
                    ran.text
                        .extend(["\n\n<tool-results>\n", &json, "\n</tool-results>\n\n"]);
                    ran.feedback.push(Feedback::Script(output));
                }
                // In place of a script that does not run.
                Item::Message(said) if is_disabled && is_note(&said.text()) => {
                    ran.text.extend(["\n\n", &said.text(), "\n\n"]);
                }
                _ => {}
            }
        }
    }
    Ok(ran)
}

/// Whether a message is what stands in the place of a script that does not run.
fn is_note(text: &str) -> bool {
    text.starts_with('[') && text.ends_with("scripts are disabled (`script.mode`)]")
}
