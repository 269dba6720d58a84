//! `call`, `cancel`, `background`, and what is heard of a call's code while it runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Grant;

/// A call of a tool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallParams {
    /// The tool, by its name.
    pub tool: String,
    /// What it takes. In `run_code`, `{"$": "function", "name": NAME}` among imports, globals and arguments is a
    /// function of the client's that the code may call; `"sync": true` makes the code wait for it instead of
    /// getting a promise.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// What the client grants it beforehand, inside the fence: `grants` of a refusal or of `denials`, as they came. Only a client
    /// that answers questions can.
    #[serde(default)]
    pub grants: Vec<Grant>,
}

/// What came of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallResult {
    /// What the tool replies.
    pub reply: Value,
    /// The call as the audit log names it.
    pub call: String,
}

/// A call that is meant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfCall {
    /// The id of its request.
    pub id: Value,
}

/// Whether there was such a call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// False if no call with this id is under way: it has been answered, or was never made.
    pub found: bool,
}

/// Something that `run_code`'s code reported. All of it is in the reply, too.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotedReport {
    /// The id of the call's request.
    pub id: Value,
    /// What, in the `$` form.
    pub value: Value,
}

/// A line that `run_code`'s code wrote to its console. All of it is in the reply, too.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NotedLog {
    /// The id of the call's request.
    pub id: Value,
    /// The method of the console.
    pub level: &'static str,
    /// Its arguments, in the `$` form.
    pub args: Vec<Value>,
    /// When, in milliseconds since 1970.
    #[schemars(with = "f64")]
    pub timestamp: Value,
}
