//! The tools as a script sees them: under which names, and how a call becomes one of the engine's.

use std::sync::Arc;

use serde_json::{Value, json};

use super::commands::{CommandTarget, Task};
use super::spawn;
use crate::config::ExposeConfig;
use crate::declarations::{self, Declared, Returns};
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::registry::TaskId;
use crate::tools::arguments::{self, nearest};
use crate::tools::{HTTP, RegisteredTool, ToolSet, http_switched_off, shape, snake_case};

/// Names that every script has and that touch nothing: looking for tools, and looking at one.
pub(super) const SEARCH: &str = "search";
pub(super) const DESCRIBE: &str = "describe";

/// A tool that a script sees.
#[derive(Clone)]
pub struct Exposed {
    /// Its path below `tools`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its argument.
    pub schema: Value,
    pub(super) returns: Returns,
    pub(super) target: Target,
}

#[derive(Clone)]
pub(super) enum Target {
    Command(CommandTarget),
    Tool(RegisteredTool),
}

/// What a call has come to.
pub(super) enum Reached {
    /// Its end, with this reply.
    Reply(Value),
    /// A task that goes on by itself.
    Task(Arc<Task>),
}

/// The tools that scripts see by this configuration.
pub fn exposed(config: &ExposeConfig, tools: &ToolSet) -> Result<Vec<Exposed>, CallError> {
    let named = config.tools.iter().map(String::as_str);
    let named = named.filter(|name| !config.enable_http || *name != HTTP);
    let switched_on = config.enable_http.then_some(HTTP);
    let mut exposed: Vec<_> = named
        .chain(switched_on)
        .map(|name| expose(name, tools))
        .collect::<Result<_, _>>()?;
    if config.enable_spawn {
        exposed.extend(CommandTarget::spawning());
    }
    Ok(exposed)
}

fn expose(name: &str, tools: &ToolSet) -> Result<Exposed, CallError> {
    if let Some(exposed) = CommandTarget::expose(name) {
        return Ok(exposed);
    }
    let snake = snake_case(name);
    // A script that runs scripts would have no bounds.
    let mut known = tools.iter().filter(|tool| tool.name() != "run_script");
    let found = known.find(|tool| tool.name() == name || snake_case(tool.name()) == snake);
    match found {
        None if name == HTTP => Err(http_switched_off()),
        Some(tool) => Ok(Exposed {
            name: name.to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
            returns: Returns::Promise(tool.output_schema()),
            target: Target::Tool(tool.clone()),
        }),
        None => Err(CallError::UnknownTool {
            name: name.to_owned(),
            suggestion: nearest(&snake, tools.iter().map(RegisteredTool::name)),
        }),
    }
}

impl Exposed {
    /// Calls it, through the same door as any other call. A task that it starts gets this id.
    pub(super) async fn call(
        &self,
        engine: &Engine,
        call: &Call,
        arguments: Value,
        task: TaskId,
    ) -> Result<Reached, CallError> {
        let reached = self.reach(engine, call, arguments, task).await;
        reached.map_err(|error| self.named(error))
    }

    async fn reach(
        &self,
        engine: &Engine,
        call: &Call,
        arguments: Value,
        task: TaskId,
    ) -> Result<Reached, CallError> {
        match &self.target {
            Target::Command(command) => command.reach(engine, call, arguments, task).await,
            Target::Tool(tool) => {
                let reply = engine.call_as(call, tool.name(), arguments).await;
                reply.map(Reached::Reply)
            }
        }
    }

    /// What is wrong with arguments that a script has written out, if anything is. Some of them may not be known.
    pub(super) fn check(&self, arguments: Value) -> Result<(), CallError> {
        self.check_shape(&arguments)?;
        if shape::has_unknown(&arguments) {
            return Ok(());
        }
        match &self.target {
            Target::Command(command) => command.check(arguments),
            Target::Tool(_) => Ok(()),
        }
    }

    fn check_shape(&self, arguments: &Value) -> Result<(), CallError> {
        match &self.target {
            Target::Command(command) if command.knows_better() => Ok(()),
            _ => arguments::check(&self.name, &self.schema, arguments),
        }
    }

    /// The same error with the name that the script used.
    fn named(&self, error: CallError) -> CallError {
        let tool = self.name.clone();
        match error {
            CallError::BadArguments { message, .. } => CallError::BadArguments { tool, message },
            CallError::UnknownField {
                field,
                suggestion,
                known,
                ..
            } => CallError::UnknownField {
                tool,
                field,
                suggestion,
                known,
            },
            other => other,
        }
    }

    /// The tool as a model reads about it.
    pub fn declared(&self) -> Declared {
        Declared {
            name: self.name.clone(),
            description: self.description.clone(),
            schema: self.schema.clone(),
            returns: self.returns.clone(),
        }
    }
}

/// The paths that a script finds below `tools`.
pub(super) fn paths(exposed: &[Exposed]) -> Vec<String> {
    let own = [SEARCH, DESCRIBE].map(str::to_owned);
    exposed
        .iter()
        .map(|tool| tool.name.clone())
        .chain(own)
        .collect()
}

/// What to say of a tool that is not there.
pub(super) fn missing(exposed: &[Exposed], path: &str) -> String {
    let names: Vec<_> = exposed.iter().map(|tool| tool.name.as_str()).collect();
    let switch = match path.split('.').next().unwrap_or_default() {
        "mcp" => Some("script.expose.enable_mcp"),
        "spawn" if !names.contains(&spawn::EXEC) => Some("script.expose.enable_spawn"),
        "http" => Some("script.expose.enable_http"),
        _ => None,
    };
    let hint = match (nearest(path, names.iter().copied()), switch) {
        (Some(name), _) => format!("; did you mean `{name}`?"),
        (None, Some(key)) => format!("; `{key}` is off"),
        (None, None) => String::new(),
    };
    format!(
        "there is no tool `{path}`{hint} (there are: {})",
        names.join(", ")
    )
}

/// The answer of `tools.search` or `tools.describe`, which are no calls of a tool.
pub(super) fn look_up(
    exposed: &[Exposed],
    path: &str,
    argument: &Value,
) -> Option<Result<Value, String>> {
    let wanted = argument.as_str().unwrap_or_default();
    let all: Vec<Declared> = exposed.iter().map(Exposed::declared).collect();
    match path {
        SEARCH => {
            let found = declarations::search(&all, wanted).into_iter();
            let found =
                found.map(|tool| json!({ "name": tool.name, "description": tool.description }));
            Some(Ok(found.collect()))
        }
        DESCRIBE => {
            let tool = all.iter().find(|tool| tool.name == wanted);
            Some(
                tool.map(declarations::describe)
                    .ok_or_else(|| missing(exposed, wanted)),
            )
        }
        _ => None,
    }
}
