//! What one client can ask for.

use std::sync::{Arc, OnceLock};

use ringfence_protocol::OpenError;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ErrorData, Implementation,
    InitializeRequestParams, InitializeResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;

use crate::flight::Flight;
use crate::form;
use crate::house::House;
use crate::http::Principal;
use crate::instructions::INSTRUCTIONS;
use crate::outputs::{OutputError, Outputs};
use crate::parked::{Binding, Waiting};
use crate::refusal;
use crate::session::Session;
use crate::watch::{Watch, settle};

/// How long a list of tools may be kept: it does not change while the server runs.
const FRESH_MS: u64 = 3_600_000;

/// Serves one client.
pub struct Server {
    house: Arc<House>,
    /// The session of a client that shook hands.
    own: OnceLock<Arc<Session>>,
}

impl Server {
    /// A server for one client of a house.
    pub fn new(house: &Arc<House>) -> Self {
        Self {
            house: Arc::clone(house),
            own: OnceLock::new(),
        }
    }

    fn session(&self) -> Result<Arc<Session>, ErrorData> {
        match self.own.get() {
            Some(session) => Ok(Arc::clone(session)),
            None => self.house.shared().map_err(|error| not_opened(&error)),
        }
    }

    /// Goes on with a call that waits for the answers that came.
    fn resumed(
        &self,
        handle: &str,
        request: &CallToolRequestParams,
        binding: &Binding,
    ) -> Result<Flight, ErrorData> {
        let taken = self.house.parked.take(handle, binding);
        let Waiting {
            mut flight, asked, ..
        } = taken.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let responses = request.input_responses.as_ref();
        for (name, pending) in asked {
            let response = responses
                .and_then(|responses| responses.get(&name))
                .cloned();
            let answer = form::answer(&pending.params, response.unwrap_or_default());
            settle(&mut flight, pending, Some(answer));
        }
        Ok(flight)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        let mut this = Implementation::new("ringfence", env!("CARGO_PKG_VERSION"));
        this.title = Some("Ringfence".to_owned());
        ServerConfig::new(capabilities)
            .with_server_info(this)
            .with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.own.get().is_none() {
            let room = self.house.room().map_err(|error| not_opened(&error))?;
            let _ = self.own.set(room);
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.session()?.tools.clone();
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(FRESH_MS)
            .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let session = self.session().ok()?;
        session.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let session = self.session()?;
        let tool = session.engine.tools().find(&request.name);
        let tool = tool.map(|tool| tool.name().to_owned());
        let seen = |name: &String| session.tools.iter().any(|tool| tool.name == *name);
        let Some(tool) = tool.ok().filter(seen) else {
            return Err(no_such_tool(&session, &request.name));
        };
        let binding = Binding {
            principal: Principal::of(&context),
            tool: tool.clone(),
            arguments: request.arguments.clone().unwrap_or_default(),
        };
        let flight = if let Some(handle) = &request.request_state {
            self.resumed(handle, &request, &binding)?
        } else {
            self.house.refresh_rules();
            let most = self.house.limits.calls;
            let started = Flight::start(&session, &tool, binding.arguments.clone(), most);
            let Some(flight) = started else {
                return Ok(too_many(most));
            };
            flight
        };
        let watch = Watch {
            parked: &self.house.parked,
            binding,
            context,
        };
        watch.over(flight).await
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let outputs = self.session()?.outputs.list();
        Ok(ListResourcesResult::with_all_items(outputs)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = vec![Outputs::template()];
        Ok(ListResourceTemplatesResult::with_all_items(templates)
            .with_ttl_ms(FRESH_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.session()?.outputs.read(&request.uri);
        let contents = read.map_err(|error| {
            let message = error.to_string();
            match error {
                OutputError::Unknown(uri) => {
                    ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
                }
                OutputError::NoRange(_) => ErrorData::invalid_params(message, None),
                OutputError::Io(_) => ErrorData::internal_error(message, None),
            }
        })?;
        let result = ReadResourceResult::new(vec![contents])
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private);
        Ok(result.into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(session) = self.own.get().filter(|_| self.house.has_own_rooms()) {
            session.under_way.cancel_all();
        }
    }
}

fn not_opened(error: &OpenError) -> ErrorData {
    ErrorData::internal_error(error.message.clone(), Some(json!({ "code": error.code })))
}

fn no_such_tool(session: &Session, name: &str) -> ErrorData {
    let known: Vec<&str> = session.tools.iter().map(|tool| &*tool.name).collect();
    let message = format!("there is no tool `{name}`; there are {}", known.join(", "));
    ErrorData::invalid_params(message, None)
}

fn too_many(most: usize) -> CallToolResponse {
    let text = format!(
        "too_many_calls: {most} calls are under way, and no more are taken before some have ended; nothing was run"
    );
    refusal::failed(text, json!({ "code": "too_many_calls" })).into()
}
