//! The protocol described: methods and notifications with the schemas of what they carry, and the errors.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::wire::{
    AbandonedParams, CallParams, CallResult, ClientAnswer, ClosedParams, Closing, DroppedParams,
    FaultData, FaultKind, Found, FunctionParams, FunctionResult, Happened, InitializeParams,
    InitializeResult, InvokeParams, InvokeResult, NotedLog, NotedReport, Nothing, OfCall,
    QuestionParams, ReleaseParams, Released, ShutdownParams, ToolsResult, UnexpectedParams,
    WithdrawnParams,
};

/// The version of the protocol.
pub const VERSION: u64 = 1;

/// A request or a notification.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// What it is for.
    pub(crate) summary: &'static str,
    pub(crate) params: fn() -> Value,
    /// Nothing for a notification.
    pub(crate) result: Option<fn() -> Value>,
}

const fn request(
    name: &'static str,
    summary: &'static str,
    params: fn() -> Value,
    result: fn() -> Value,
) -> Method {
    Method {
        name,
        summary,
        params,
        result: Some(result),
    }
}

const fn notification(name: &'static str, summary: &'static str, params: fn() -> Value) -> Method {
    Method {
        name,
        summary,
        params,
        result: None,
    }
}

/// What a client asks of a session.
pub(crate) const METHODS: &[Method] = &[
    request(
        "initialize",
        "Opens the session. The first request; once it has been answered, the others count.",
        taken::<InitializeParams>,
        given::<InitializeResult>,
    ),
    request(
        "tools",
        "Lists the tools that can be called, with the schemas of what they take and reply.",
        taken::<Nothing>,
        given::<ToolsResult>,
    ),
    request(
        "call",
        "Calls a tool. Any number of calls may be under way; each is answered when it is done.",
        taken::<CallParams>,
        given::<CallResult>,
    ),
    request(
        "cancel",
        "Stops a call, which is then answered. Also as a notification.",
        taken::<OfCall>,
        given::<Found>,
    ),
    request(
        "background",
        "Moves the command of a `bash` call to the background; the call is answered with its task. Also as a notification.",
        taken::<OfCall>,
        given::<Found>,
    ),
    request(
        "invoke",
        "Calls a function of a script that was handed to a function of the client's, while its run lives.",
        taken::<InvokeParams>,
        given::<InvokeResult>,
    ),
    request(
        "release",
        "Lets go of functions of scripts. Also as a notification. What is left goes with the run.",
        taken::<ReleaseParams>,
        given::<Released>,
    ),
    request(
        "shutdown",
        "Ends the session: calls are cancelled and answered, what runs is killed, `closed` is the last line.",
        taken::<ShutdownParams>,
        given::<Closing>,
    ),
];

/// What a session asks of a client.
pub(crate) const OF_THE_CLIENT: &[Method] = &[
    request(
        "question",
        "Asks whether something may happen.",
        given::<QuestionParams>,
        taken::<ClientAnswer>,
    ),
    request(
        "function",
        "Calls a function that the client lent to code.",
        given::<FunctionParams>,
        taken::<FunctionResult>,
    ),
];

/// What a session tells a client.
pub(crate) const NOTIFICATIONS: &[Method] = &[
    notification(
        "event",
        "Something happened in a call. Dropped if the client does not read.",
        given::<Happened<'_>>,
    ),
    notification(
        "report",
        "The code of a `run_code` call reported something. Dropped like events.",
        given::<NotedReport>,
    ),
    notification(
        "log",
        "The code of a `run_code` call wrote to its console. Dropped like events.",
        given::<NotedLog>,
    ),
    notification(
        "events_dropped",
        "Events, reports or logs were dropped because the client did not read.",
        given::<DroppedParams>,
    ),
    notification(
        "question_withdrawn",
        "A question need not be answered any more.",
        given::<WithdrawnParams>,
    ),
    notification(
        "function_abandoned",
        "The run that called a function of the client's has ended.",
        given::<AbandonedParams>,
    ),
    notification(
        "unexpected_response",
        "The client answered what was not asked, or what cannot be read. Dropped like events.",
        given::<UnexpectedParams>,
    ),
    notification(
        "closed",
        "The session has ended, and what ended with it. The last line.",
        given::<ClosedParams>,
    ),
];

/// The protocol as JSON, for programs that make clients.
pub fn description() -> Value {
    let errors: Vec<Value> = FaultKind::ALL
        .iter()
        .map(|kind| json!({"code": kind.number(), "name": kind.name(), "meaning": kind.meaning()}))
        .collect();
    json!({
        "protocol": "ringfence session",
        "version": VERSION,
        "transport": "JSON-RPC 2.0, one JSON value to a line, UTF-8",
        "methods": all(METHODS),
        "client_methods": all(OF_THE_CLIENT),
        "notifications": all(NOTIFICATIONS),
        "errors": errors,
        "error_data": given::<FaultData>(),
    })
}

fn all(methods: &[Method]) -> Value {
    let described = methods.iter().map(|method| {
        let mut about = Map::new();
        about.insert("summary".to_owned(), json!(method.summary));
        about.insert("params".to_owned(), (method.params)());
        if let Some(result) = method.result {
            about.insert("result".to_owned(), result());
        }
        (method.name.to_owned(), Value::Object(about))
    });
    Value::Object(described.collect())
}

/// The schema of what is read.
fn taken<T: JsonSchema>() -> Value {
    schema::<T>(SchemaSettings::default().into_generator())
}

/// The schema of what is written: what is left out when there is nothing to tell is not required.
fn given<T: JsonSchema>() -> Value {
    schema::<T>(SchemaSettings::default().for_serialize().into_generator())
}

fn schema<T: JsonSchema>(generator: SchemaGenerator) -> Value {
    generator.into_root_schema_for::<T>().to_value()
}
