//! The methods that a client can call.

use std::sync::Arc;
use std::time::Duration;

use ringfence::Call;
use ringfence::code::Bridge;
use ringfence::tools::RegisteredTool;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answering::{CLIENT, ClientApprover};
use crate::batch::Reply;
use crate::bridge::CallBridge;
use crate::description::{METHODS, VERSION};
use crate::dispatcher::{Dispatcher, Opened};
use crate::events::millis;
use crate::link::Link;
use crate::opener::Parts;
use crate::wire::{
    CallParams, CallResult, Fault, FaultKind, Found, InitializeParams, InitializeResult,
    InvokeParams, InvokeResult, Named, Nothing, OfCall, ReleaseParams, Released, ShutdownParams,
    ToolDescription, ToolsResult,
};

impl Dispatcher {
    /// Serves a request.
    pub(crate) fn serve(&self, method: &str, params: Value, reply: Reply) {
        match method {
            "initialize" => answer(reply, read(params).and_then(|asked| self.initialize(asked))),
            "tools" => answer(reply, read(params).and_then(|Nothing {}| self.tools())),
            "call" => self.call(params, reply),
            "cancel" => answer(reply, self.cancel(params)),
            "background" => answer(reply, self.background(params)),
            "invoke" => self.invoke(params, reply),
            "release" => answer(reply, self.release(params)),
            "shutdown" => match read(params) {
                Ok(ShutdownParams { wait_ms }) => {
                    self.begin_to_end(reply, Duration::from_millis(wait_ms));
                }
                Err(fault) => reply.send(Err(fault)),
            },
            unknown => reply.send(Err(unknown_method(unknown))),
        }
    }

    /// Serves what wants no answer. What is wrong with it nobody is told: that is what a notification is.
    pub(crate) fn notice(&self, method: &str, params: Value) {
        let _ = match method {
            "cancel" => self.cancel(params).map(drop),
            "background" => self.background(params).map(drop),
            "release" => self.release(params).map(drop),
            _ => Ok(()),
        };
    }

    fn initialize(&self, asked: InitializeParams) -> Result<InitializeResult, Fault> {
        let version = asked.protocol_version;
        if version != VERSION {
            let message = format!("version {version} of the protocol is not spoken here");
            let fault = Fault::new(FaultKind::NotInitialized, message);
            let mut fault = fault.code("unsupported_version").at("protocol_version");
            fault.data.supported = Some(vec![VERSION]);
            return Err(fault);
        }
        if !self.is_new() {
            let message = "the session is initialised already";
            let fault = Fault::new(FaultKind::NotInitialized, message);
            return Err(fault.code("already_initialized"));
        }
        let approver = ClientApprover::new(&self.link, Arc::clone(&self.patience));
        let parts = Parts {
            approver: Arc::new(approver),
            listener: self.link.listener(),
        };
        let engine = self.opener.open(&asked.options, parts).map_err(|error| {
            let fault = Fault::new(FaultKind::NotInitialized, error.message).code(error.code);
            match error.option {
                Some(option) => fault.at(format!("options.{option}")),
                None => fault,
            }
        })?;
        let tools = match &asked.options.tools {
            None => engine
                .tools()
                .iter()
                .map(|tool| tool.name().to_owned())
                .collect(),
            Some(names) => profile(engine.tools(), names)?,
        };
        // One that was opened and could not be used before this leaves nothing here.
        let _ = self.link.capabilities.set(asked.capabilities);
        let _ = self.patience.set(engine.question_timeout());
        let opened = Opened { engine, tools };
        let result = self.result(&opened);
        self.open(opened);
        Ok(result)
    }

    fn result(&self, opened: &Opened) -> InitializeResult {
        let engine = &opened.engine;
        let sandbox = engine.sandbox();
        InitializeResult {
            protocol_version: VERSION,
            server: Named {
                name: "ringfence".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            },
            session: engine.session().0.clone(),
            workspace: engine.workspace().display().to_string(),
            sandbox: sandbox.mode.to_string(),
            approval: engine.approval().to_string(),
            network: sandbox.network.to_string(),
            writable_roots: sandbox
                .effective_writable_roots()
                .iter()
                .map(|root| root.display().to_string())
                .collect(),
            tools: opened.tools.clone(),
            question_timeout_ms: millis(engine.question_timeout()),
            calls_at_once: self.limits.calls_at_once,
            requests_at_once: self.limits.requests,
            line_bytes: self.limits.line_bytes,
        }
    }

    fn tools(&self) -> Result<ToolsResult, Fault> {
        let opened = self.opened()?;
        let tools = opened.engine.tools().iter();
        let tools = tools.filter(|tool| opened.tools.iter().any(|name| name == tool.name()));
        Ok(ToolsResult {
            tools: tools.map(described).collect(),
        })
    }

    fn call(&self, params: Value, reply: Reply) {
        let begun = self.opened().and_then(|opened| {
            let asked: CallParams = read(params)?;
            let tool = opened
                .engine
                .tools()
                .find(&asked.tool)
                .map_err(Fault::from)?;
            let tool = tool.name().to_owned();
            if !opened.tools.contains(&tool) {
                let message = format!("`{tool}` is none of the tools of this session");
                let fault = Fault::new(FaultKind::InvalidParams, message);
                return Err(fault.code("unknown_tool").at("tool"));
            }
            if !asked.grants.is_empty() && !answers_itself(&opened.engine, &self.link) {
                let message = "the client does not answer questions here, and so grants nothing";
                let fault = Fault::new(FaultKind::InvalidParams, message);
                return Err(fault.code("not_the_clients").at("grants"));
            }
            let granted = opened.engine.granted(&asked.grants).map_err(|error| {
                let fault = Fault::new(FaultKind::InvalidParams, error.to_string());
                fault.code("cannot_be_granted").at("grants")
            })?;
            Ok((opened, tool, asked, granted))
        });
        let (opened, tool, asked, grants) = match begun {
            Ok(begun) => begun,
            Err(fault) => return reply.send(Err(fault)),
        };
        let bridge = CallBridge::new(&self.link, reply.id().value().clone());
        let call = Call {
            bridge: Some(Bridge(Arc::clone(&bridge) as _)),
            grants,
            ..opened.engine.new_call()
        };
        let turn = self.link.turns.turn();
        self.link.calls.is_call(reply.id(), &call, turn.clone());
        self.spawn(async move {
            tokio::select! {
                () = turn.come(&tool) => {}
                () = call.cancel.cancelled() => {}
            }
            let arguments = Value::Object(asked.arguments);
            let result = if call.cancel.is_cancelled() {
                Err(ringfence::CallError::Cancelled)
            } else {
                opened.engine.call_as(&call, &tool, arguments).await
            };
            bridge.end();
            let result = result.map(|reply| CallResult {
                reply,
                call: call.id.0.clone(),
            });
            drop((turn, opened));
            answer(reply, result.map_err(Fault::from));
        });
    }

    fn cancel(&self, params: Value) -> Result<Found, Fault> {
        let OfCall { id } = read(params)?;
        let found = self.link.calls.with(&id, |call| call.cancel.cancel());
        Ok(Found { found })
    }

    fn background(&self, params: Value) -> Result<Found, Fault> {
        let OfCall { id } = read(params)?;
        let found = self.link.calls.with(&id, |call| call.to_background.set());
        Ok(Found { found })
    }

    fn release(&self, params: Value) -> Result<Released, Fault> {
        let ReleaseParams { handles } = read(params)?;
        let released = self.link.handles.release(&handles);
        Ok(Released { released })
    }

    fn invoke(&self, params: Value, reply: Reply) {
        match read(params) {
            Ok(asked) => {
                let link = Arc::clone(&self.link);
                self.spawn(async move { answer(reply, invoked(&link, asked).await) });
            }
            Err(fault) => reply.send(Err(fault)),
        }
    }
}

/// Calls a function of a script.
async fn invoked(link: &Arc<Link>, asked: InvokeParams) -> Result<InvokeResult, Fault> {
    let InvokeParams { handle, arguments } = asked;
    let none = || {
        let message =
            format!("there is no function `{handle}`: it was released, or its run has ended");
        Fault::new(FaultKind::NoSuchHandle, message).at("handle")
    };
    let held = link.handles.get(&handle).ok_or_else(none)?;
    let read = arguments.iter().enumerate().map(|(at, json)| {
        held.bridge.read(json).map_err(|message| {
            Fault::new(FaultKind::InvalidParams, message).at(format!("arguments[{at}]"))
        })
    });
    let arguments = read.collect::<Result<Vec<_>, Fault>>()?;
    let returned = held.function.call(arguments).await;
    let returned = returned.and_then(|value| held.bridge.write(&value));
    returned
        .map(|value| InvokeResult { value })
        .map_err(|error| {
            // The run took it along.
            if held.function.is_gone() {
                return none();
            }
            let mut fault = Fault::new(FaultKind::FunctionThrew, error.message);
            fault.data.name = Some(error.name);
            fault
        })
}

/// The tools that a client asked for, by their own names.
fn profile(tools: &ringfence::tools::ToolSet, names: &[String]) -> Result<Vec<String>, Fault> {
    let own = names.iter().enumerate().map(|(at, name)| {
        let found = tools.find(name).map(|tool| tool.name().to_owned());
        found.map_err(|error| Fault::from(error).at(format!("options.tools[{at}]")))
    });
    own.collect()
}

fn described(tool: &RegisteredTool) -> ToolDescription {
    ToolDescription {
        name: tool.name().to_owned(),
        aliases: tool
            .aliases()
            .iter()
            .map(|&alias| alias.to_owned())
            .collect(),
        description: tool.description().to_owned(),
        schema: tool.schema(),
        output_schema: tool.output_schema(),
    }
}

fn unknown_method(method: &str) -> Fault {
    let known: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
    let message = format!(
        "there is no method `{method}`; there are {}",
        known.join(", ")
    );
    Fault::new(FaultKind::UnknownMethod, message)
}

/// Reads params; what does not fit is told with its path.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    serde_path_to_error::deserialize(params).map_err(|error| {
        let path = error.path().to_string();
        Fault::new(FaultKind::InvalidParams, error.into_inner().to_string()).at(path)
    })
}

fn answer<T: Serialize>(reply: Reply, result: Result<T, Fault>) {
    reply.send(result.map(|result| json!(result)));
}

/// Whether questions of an engine are answered by the client.
fn answers_itself(engine: &ringfence::Engine, link: &Link) -> bool {
    let asked = link.capabilities.get();
    asked.is_some_and(|client| client.questions) && engine.approver_name() == CLIENT
}
