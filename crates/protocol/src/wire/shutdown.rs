//! `shutdown` and `closed`: how a session ends, and what ends with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How to end.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShutdownParams {
    /// How long calls under way may take to end by themselves, in milliseconds; not at all unless told.
    #[serde(default)]
    pub wait_ms: u64,
}

/// What ended with the session.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Closing {
    /// The ids of the calls that were cancelled.
    pub cancelled: Vec<Value>,
    /// What ran in the background.
    pub ended: Vec<Ended>,
}

/// Something that ran in the background and ended with the session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Ended {
    /// Its `process_id` or task id.
    pub id: String,
    /// What it ran.
    pub command: String,
}

/// The end of a session. Nothing follows.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClosedParams {
    /// Why it ended.
    pub reason: ClosingReason,
    /// What ended with it.
    #[serde(flatten)]
    pub closing: Closing,
}

/// Why a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClosingReason {
    /// The client said so.
    Shutdown,
    /// The client's messages ended.
    EndOfInput,
    /// The program was told to stop.
    Stopped,
}
