//! A turn of a model: what it said in answer to one request, in order, whoever's API it came by.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Provider;
use super::raw::{Object, Raw};

/// A turn of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The API that it came by.
    pub provider: Provider,
    /// The id that the API gave it.
    pub id: String,
    /// The model that said it.
    pub model: String,
    /// What it said, in order. Scripts are in the texts.
    pub parts: Vec<Part>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
    /// Whether its calls may run side by side.
    pub order: CallOrder,
    /// What goes into the history, byte for byte as it came (as far as it did not come in pieces).
    pub items: Vec<Raw>,
    /// The whole response, fingerprints and all that is not known included.
    pub response: Object,
}

impl Turn {
    /// The structured calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &StructuredCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }

    /// All that is said, without thoughts.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) | Part::Refusal(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The response as the body of a whole answer.
    pub fn body(&self) -> String {
        self.response.to_raw().text().to_owned()
    }
}

/// A part of what a model said.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Something thought, as far as it is told.
    Thinking(String),
    /// Something said. There may be scripts in it.
    Text(String),
    /// What it said instead of doing what it was asked for.
    Refusal(String),
    /// A call of a tool.
    Call(StructuredCall),
    /// Something that is carried and not looked into: the provider's own tools, and whatever is new.
    Other {
        /// Its `type`.
        kind: String,
        /// All of it.
        raw: Raw,
    },
}

/// A call of a tool in the provider's own form.
#[derive(Debug, Clone, PartialEq)]
pub struct StructuredCall {
    /// The id that its result must carry. Some servers leave it empty.
    pub call_id: String,
    /// The form of the call, which the result's form follows.
    pub form: CallForm,
    /// The name of the tool as the model wrote it; that of the form where there is none.
    pub name: String,
    /// What it is called with.
    pub input: CallInput,
}

/// The form of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallForm {
    /// `function_call`, an entry of `tool_calls`, `tool_use`: a name and an object.
    Function,
    /// `custom_tool_call`: a name and a text.
    Custom,
    /// `local_shell_call`: one command as an argument vector.
    LocalShell,
    /// `shell_call`: lines for a shell.
    Shell,
    /// `apply_patch_call`: one change of one file.
    ApplyPatch,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub enum CallInput {
    /// An object, or whatever JSON the model wrote. Of the forms without a name: their `action` or `operation`.
    Json(Value),
    /// A text.
    Text(String),
    /// What was meant to be JSON and is not, or is not whole. The call gets an error for its result.
    Unreadable {
        /// What came.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Whether the calls of a turn may run side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOrder {
    /// The provider says so.
    SideBySide,
    /// One after the other.
    OneByOne,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It was done.
    End,
    /// It waits for the results of its calls.
    Calls,
    /// It ran into the limit of its output.
    OutputLimit,
    /// The conversation is as long as the model can take.
    ContextLimit,
    /// It wrote one of the texts that end it.
    Sequence(String),
    /// It was asked to go on later: the same conversation is to be sent again.
    Paused,
    /// It refused, or what it said was withheld.
    Refused,
    /// Something else.
    Other(String),
}

/// What a turn cost, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// What it read, that from a cache included.
    pub input: u64,
    /// What of that came from a cache.
    pub cached: u64,
    /// What it wrote, thoughts included.
    pub output: u64,
    /// What of that was thought, where it is told.
    pub reasoning: u64,
}

impl Usage {
    /// All tokens.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

/// Something that becomes known of a turn while it comes in. Pieces put together are the part.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEvent {
    /// A piece of a thought.
    Thinking(String),
    /// A piece of what is said.
    Text(String),
    /// A call has begun.
    CallBegun {
        /// Its place among the calls of the turn.
        call: usize,
        /// Its id.
        call_id: String,
        /// The tool.
        name: String,
    },
    /// A piece of what a tool is called with.
    CallInput {
        /// The call's place among those of the turn.
        call: usize,
        /// The piece.
        piece: String,
    },
    /// A part is whole.
    PartDone,
    /// The turn is whole.
    Done,
}
