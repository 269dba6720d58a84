//! What crosses between a client and a session, as types. All names are `snake_case`; what tools take and
//! reply has the names that each tool gives it.

mod call;
mod event;
mod fault;
mod function;
mod grant;
mod initialize;
mod question;
mod shutdown;
mod tools;

pub use call::{CallParams, CallResult, Found, NotedLog, NotedReport, OfCall};
pub use event::{CallEvent, Happened, Told};
pub use fault::{Fault, FaultData, FaultKind};
pub use function::{
    AbandonedParams, FunctionParams, FunctionResult, InvokeParams, InvokeResult, ReleaseParams,
    Released,
};
pub use grant::Grant;
pub use initialize::{
    Capabilities, InitializeParams, InitializeResult, LimitOptions, Named, SessionOptions,
};
pub use question::{
    AnswerKind, ClientAnswer, Holds, Proposed, QuestionKind, QuestionParams, Reach, ScriptLine,
    Withdrawn, WithdrawnParams,
};
pub use shutdown::{ClosedParams, Closing, ClosingReason, Ended, ShutdownParams};
pub use tools::{ToolDescription, ToolsResult};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Nothing.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Events that were not told because the client did not read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DroppedParams {
    /// How many, since the last time that this was said.
    pub count: u64,
}

/// A response to a request that is not open: never made, answered already, or withdrawn.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnexpectedParams {
    /// The id of the response.
    pub id: Value,
    /// What is wrong with it.
    pub reason: String,
}
