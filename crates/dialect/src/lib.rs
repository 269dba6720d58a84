//! What did the model say?
//!
//! - [`item`]: the items of a conversation, with the field names that they have on the wire
//! - [`message`]: a message taken apart into text, thoughts and scripts
//! - [`script_error`]: what can go wrong with a script, as it is told to the model
//!
//! **Invariant:** pure. No I/O, no clock, no async in here, and nothing is run.

#![forbid(unsafe_code)]

pub mod item;
pub mod message;
pub mod script_error;

pub use item::{
    Item, Language, Message, OutputMetadata, Reasoning, ScriptStatus, ScriptToolCall,
    ScriptToolCallOutput,
};
pub use script_error::{ErrorCode, Phase, ScriptError};
