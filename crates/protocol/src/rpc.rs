//! JSON-RPC 2.0: what a message is, and what a response looks like.

use serde_json::{Value, json};

use crate::wire::{Fault, FaultKind};

/// The longest id that a client may give, in bytes.
const LONGEST_ID: usize = 256;

/// The id that a client gave a request: a string or a number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Id(Value);

/// A message of the client's.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request {
        id: Id,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Value,
        outcome: Result<Value, ClientError>,
    },
}

/// An error that the client answered with.
#[derive(Debug, Clone)]
pub(crate) struct ClientError {
    pub(crate) message: String,
    pub(crate) data: Value,
}

impl Id {
    /// An id, if it can be one.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) if text.len() <= LONGEST_ID => Some(Self(value.clone())),
            Value::Number(_) => Some(Self(value.clone())),
            _ => None,
        }
    }

    /// What tells it from others: `1` and `"1"` are two.
    pub(crate) fn key(&self) -> String {
        self.0.to_string()
    }

    pub(crate) fn value(&self) -> &Value {
        &self.0
    }
}

/// Reads a message; what is wrong with it otherwise, and the id to say so to.
pub(crate) fn read(message: Value) -> Result<Incoming, (Option<Id>, Fault)> {
    let invalid = |id: Option<Id>, what: &str| {
        let fault = Fault::new(FaultKind::InvalidRequest, what);
        Err((id, fault))
    };
    let Value::Object(mut fields) = message else {
        return invalid(None, "a message is an object");
    };
    let given = fields.remove("id");
    let id = given.as_ref().and_then(Id::read);
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid(id, "a message has \"jsonrpc\": \"2.0\"");
    }
    let Some(method) = fields.remove("method") else {
        return match (given, outcome(&mut fields)) {
            (Some(id), Some(outcome)) => Ok(Incoming::Response { id, outcome }),
            _ => invalid(
                id,
                "a message has a \"method\", or an \"id\" with a \"result\" or an \"error\"",
            ),
        };
    };
    let Value::String(method) = method else {
        return invalid(id, "a \"method\" is a string");
    };
    let params = match fields.remove("params") {
        None => json!({}),
        Some(params @ Value::Object(_)) => params,
        Some(_) => {
            let fault = Fault::new(FaultKind::InvalidParams, "params are an object").at(".");
            return Err((id, fault));
        }
    };
    match (given, id) {
        (None, _) => Ok(Incoming::Notification { method, params }),
        (Some(_), Some(id)) => Ok(Incoming::Request { id, method, params }),
        (Some(_), None) => invalid(
            None,
            "an \"id\" is a number or a string of at most 256 bytes",
        ),
    }
}

/// What a response says.
fn outcome(fields: &mut serde_json::Map<String, Value>) -> Option<Result<Value, ClientError>> {
    match (fields.remove("result"), fields.remove("error")) {
        (Some(result), None) => Some(Ok(result)),
        (None, Some(mut error)) => {
            let message = error.get("message").and_then(Value::as_str);
            let message = message.unwrap_or("the client does not say why").to_owned();
            let data = error.get_mut("data").map(Value::take).unwrap_or_default();
            Some(Err(ClientError { message, data }))
        }
        _ => None,
    }
}

/// A response.
pub(crate) fn response(id: Option<&Id>, outcome: Result<Value, Fault>) -> Value {
    let id = id.map_or(Value::Null, |id| id.0.clone());
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(fault) => json!({"jsonrpc": "2.0", "id": id, "error": fault.to_json()}),
    }
}

/// A request of ours.
pub(crate) fn request(id: &str, method: &str, params: &impl serde::Serialize) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A notification of ours.
pub(crate) fn notification(method: &str, params: &impl serde::Serialize) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}
