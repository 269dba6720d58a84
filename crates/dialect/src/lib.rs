//! What did the model say?
//!
//! - [`item`]: the items of a conversation, with the field names that they have on the wire
//! - [`message`]: a message taken apart into text, thoughts and scripts
//! - [`provider`]: the APIs by which models are reached: answers read, requests written
//! - [`said`]: what a script said while it ran
//! - [`script_error`]: what can go wrong with a script, as it is told to the model
//!
//! **Invariant:** pure. No I/O, no clock, no async in here, and nothing is run.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod item;
pub mod message;
pub mod provider;
pub mod said;
pub mod script_error;

pub use item::{
    FunctionCall, FunctionCallOutput, Item, Language, Message, OutputMetadata, Reasoning,
    ScriptStatus, ScriptToolCall, ScriptToolCallOutput,
};
pub use said::{Dropped, LogLevel, LogLine, ProgressKind, ProgressLine, Said};
pub use script_error::{ErrorCode, Phase, ScriptError};
