//! Functions that cross: the client's that code calls, and the code's that the client calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Code calls a function of the client's.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FunctionParams {
    /// The id of the call's request.
    pub id: Value,
    /// The function, by the name that the client gave it.
    pub function: String,
    /// What it is called with, in the `$` form. A function among it is `{"$": "function", "handle": HANDLE}`, which
    /// `invoke` calls while the run lives and `release` lets go of.
    pub arguments: Vec<Value>,
    /// Whether the code waits for it, and does nothing else meanwhile but run its functions that are invoked.
    pub sync: bool,
}

/// What a function of the client's returns. An error response is thrown in the code: its `message`, and `data.name`
/// as the name of the error.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionResult {
    /// The value, in the `$` form; undefined unless told. It may hold further functions of the client's, and functions of
    /// the code by their handles.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Value")]
    pub value: Option<Value>,
}

/// Null is a value.
fn present<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(reader).map(Some)
}

/// Code does not wait for a function of the client's any more: its run has ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AbandonedParams {
    /// The id of the `function` request. A response to it is of no use any more.
    pub request: String,
}

/// The client calls a function of the code's.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvokeParams {
    /// The function.
    pub handle: String,
    /// What it is called with, in the `$` form.
    #[serde(default)]
    pub arguments: Vec<Value>,
}

/// What a function of the code's returned, once its promise, if it is one, has settled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InvokeResult {
    /// The value, in the `$` form.
    pub value: Value,
}

/// The client lets go of functions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseParams {
    /// The functions.
    pub handles: Vec<String>,
}

/// What was let go of.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Released {
    /// How many of them were held.
    pub released: usize,
}
