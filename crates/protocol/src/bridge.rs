//! The bridge of one call of `run_code`: functions that cross between the client and the code.

use std::sync::Arc;

use ringfence::code::CodeBridge;
use ringfence::script::{
    CodeExecutionLog, Function, HostError, HostFunction, HostResult, JsonFunctions, Value,
};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::link::Link;
use crate::rpc;
use crate::wire::{AbandonedParams, FunctionParams, FunctionResult, NotedLog, NotedReport};

/// The bridge of one call.
pub(crate) struct CallBridge {
    link: Arc<Link>,
    /// The client's id of the call.
    id: Json,
}

/// `{"$": "function", …}` as a client writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tagged {
    #[serde(rename = "$")]
    _tag: String,
    name: Option<String>,
    #[serde(default)]
    sync: bool,
    handle: Option<String>,
}

impl CallBridge {
    pub(crate) fn new(link: &Arc<Link>, id: Json) -> Arc<Self> {
        Arc::new(Self {
            link: Arc::clone(link),
            id,
        })
    }

    /// A value as the client gets it; an error if the client holds too many functions already.
    pub(crate) fn write(self: &Arc<Self>, value: &Value) -> Result<Json, HostError> {
        let mut crossing = Crossing::of(self);
        let json = value.to_json_with(&mut crossing);
        if crossing.too_many {
            let message = "the client holds too many functions of this run; it has to release some";
            return Err(HostError::named("RangeError", message));
        }
        Ok(json)
    }

    /// A value as the client wrote it.
    pub(crate) fn read(self: &Arc<Self>, json: &Json) -> Result<Value, String> {
        let read = Value::from_json_with(json, &mut Crossing::of(self));
        read.map_err(|error| error.to_string())
    }

    /// A function of the client's.
    fn client_function(self: &Arc<Self>, name: String, sync: bool) -> HostFunction {
        let bridge = Arc::clone(self);
        let shown = name.clone();
        let body = move |arguments: Vec<Value>| {
            let (bridge, name) = (Arc::clone(&bridge), name.clone());
            async move { bridge.call_client(name, arguments, sync).await }
        };
        if sync {
            HostFunction::waited(&shown, body)
        } else {
            HostFunction::asynchronous(&shown, body)
        }
    }

    async fn call_client(
        self: Arc<Self>,
        function: String,
        arguments: Vec<Value>,
        sync: bool,
    ) -> HostResult {
        let link = &self.link;
        if link.outbox.is_full() {
            let message = "the client does not read what it is asked";
            return Err(HostError::named("RangeError", message));
        }
        let arguments: Result<Vec<Json>, HostError> =
            arguments.iter().map(|value| self.write(value)).collect();
        let params = FunctionParams {
            id: self.id.clone(),
            function,
            arguments: arguments?,
            sync,
        };
        let abandon = {
            let outbox = link.outbox.clone();
            move |request| {
                let params = AbandonedParams { request };
                outbox.send(&rpc::notification("function_abandoned", &params));
            }
        };
        let mut asked = link
            .requests
            .ask(&link.outbox, "function", &params, abandon);
        match asked.answer().await {
            Ok(result) => self.returned(asked.id(), result),
            Err(error) => {
                let name = error.data.get("name").and_then(Json::as_str);
                Err(HostError::named(name.unwrap_or("Error"), error.message))
            }
        }
    }

    /// What the client returned.
    fn returned(self: &Arc<Self>, request: &str, result: Json) -> HostResult {
        let read = serde_json::from_value::<FunctionResult>(result);
        let read = read.map_err(|error| error.to_string());
        let value = read.and_then(|result| match result.value {
            Some(json) => self.read(&json),
            None => Ok(Value::Undefined),
        });
        value.map_err(|message| {
            self.link.unexpected(json!(request), &message);
            let message = format!("the client's answer cannot be read: {message}");
            HostError::named("TypeError", message)
        })
    }

    /// Whether the call that this bridge is of has ended.
    pub(crate) fn end(self: &Arc<Self>) {
        self.link.handles.release_run(self);
    }
}

impl CodeBridge for CallBridge {
    fn function(self: Arc<Self>, tagged: &Map<String, Json>) -> Result<HostFunction, String> {
        match Tagged::read(tagged)? {
            Tagged {
                name: Some(name),
                sync,
                ..
            } => Ok(self.client_function(name, sync)),
            _ => Err("a function of another run cannot be given to this one".to_owned()),
        }
    }

    fn report(&self, value: &Value) {
        let noted = NotedReport {
            id: self.id.clone(),
            value: value.to_json(),
        };
        self.link.outbox.offer(&rpc::notification("report", &noted));
    }

    fn log(&self, line: &CodeExecutionLog) {
        let noted = NotedLog {
            id: self.id.clone(),
            level: line.level.as_str(),
            args: line.args.iter().map(Value::to_json).collect(),
            timestamp: Value::Number(line.timestamp).to_json(),
        };
        self.link.outbox.offer(&rpc::notification("log", &noted));
    }
}

impl Tagged {
    fn read(tagged: &Map<String, Json>) -> Result<Self, String> {
        let read = serde_json::from_value::<Self>(Json::Object(tagged.clone()));
        let read = read.map_err(|error| error.to_string())?;
        if read.name.is_some() == read.handle.is_some() {
            return Err("it has either a `name` or a `handle`".to_owned());
        }
        Ok(read)
    }
}

/// Functions on their way across.
struct Crossing<'a> {
    bridge: &'a Arc<CallBridge>,
    too_many: bool,
}

impl<'a> Crossing<'a> {
    fn of(bridge: &'a Arc<CallBridge>) -> Self {
        Self {
            bridge,
            too_many: false,
        }
    }
}

impl JsonFunctions for Crossing<'_> {
    fn write(&mut self, function: &Function) -> Json {
        match function {
            Function::Host(function) => json!({"$": "function", "name": function.name()}),
            Function::Script(function) => {
                let handles = &self.bridge.link.handles;
                let handle = handles.hold(function.clone(), self.bridge);
                self.too_many |= handle.is_none();
                json!({"$": "function", "handle": handle})
            }
        }
    }

    fn read(&mut self, tagged: &Map<String, Json>) -> Result<Value, String> {
        match Tagged::read(tagged)? {
            Tagged {
                name: Some(name),
                sync,
                ..
            } => Ok(self.bridge.client_function(name, sync).into()),
            Tagged { handle, .. } => {
                let handle = handle.unwrap_or_default();
                let held = self.bridge.link.handles.get(&handle);
                let held = held.filter(|held| Arc::ptr_eq(&held.bridge, self.bridge));
                let held = held.ok_or_else(|| format!("this run has no function `{handle}`"))?;
                Ok(Value::Function(Function::Script(held.function)))
            }
        }
    }
}
