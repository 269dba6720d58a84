//! The tools as a script sees them: under which names, and how a call becomes one of the engine's.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{exec, spawn};
use crate::config::ExposeConfig;
use crate::declarations::{self, Declared, Returns};
use crate::engine::{Call, Engine};
use crate::error::CallError;
use crate::registry::{Attended, TaskId};
use crate::tools::arguments::nearest;
use crate::tools::{Registered, ToolSet, snake_case};

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
    returns: Returns,
    target: Target,
}

#[derive(Clone)]
enum Target {
    Exec,
    SpawnExec,
    SpawnCancel,
    Tool(Registered),
}

/// What a call has come to.
pub(super) enum Reached {
    /// Its end, with this reply.
    Reply(Value),
    /// A task that goes on by itself.
    Task(Arc<Attended>),
}

/// The tools that scripts see by this configuration.
pub fn exposed(config: &ExposeConfig, tools: &ToolSet) -> Result<Vec<Exposed>, CallError> {
    let mut exposed: Vec<_> = config
        .tools
        .iter()
        .map(|name| expose(name, tools))
        .collect::<Result<_, _>>()?;
    if config.enable_spawn {
        exposed.extend(spawning());
    }
    Ok(exposed)
}

fn spawning() -> [Exposed; 2] {
    [
        Exposed {
            name: spawn::EXEC.to_owned(),
            description: spawn::EXEC_DESCRIPTION.to_owned(),
            schema: spawn::exec_schema(),
            returns: Returns::Task(exec::output_schema()),
            target: Target::SpawnExec,
        },
        Exposed {
            name: spawn::CANCEL.to_owned(),
            description: spawn::CANCEL_DESCRIPTION.to_owned(),
            schema: spawn::cancel_schema(),
            returns: Returns::Promise(json!({ "type": "boolean" })),
            target: Target::SpawnCancel,
        },
    ]
}

fn expose(name: &str, tools: &ToolSet) -> Result<Exposed, CallError> {
    if name == "exec" {
        return Ok(Exposed {
            name: name.to_owned(),
            description: exec::DESCRIPTION.to_owned(),
            schema: exec::schema(),
            returns: Returns::Promise(exec::output_schema()),
            target: Target::Exec,
        });
    }
    let snake = snake_case(name);
    // A script that runs scripts would have no bounds.
    let mut known = tools.iter().filter(|tool| tool.name() != "run_script");
    let found = known.find(|tool| tool.name() == name || snake_case(tool.name()) == snake);
    match found {
        Some(tool) => Ok(Exposed {
            name: name.to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
            returns: Returns::Promise(tool.output_schema()),
            target: Target::Tool(tool.clone()),
        }),
        None => Err(CallError::UnknownTool {
            name: name.to_owned(),
            suggestion: nearest(&snake, tools.iter().map(Registered::name)),
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
        let reply = match &self.target {
            Target::Exec => {
                let reply = exec::run(engine, call, arguments).await;
                reply.map(|reply| engine.processed(&self.name, reply))
            }
            Target::SpawnExec => {
                let task = spawn::start(engine, call, task, arguments).await?;
                return Ok(Reached::Task(task));
            }
            Target::SpawnCancel => spawn::cancel(engine, call, &arguments).await,
            Target::Tool(tool) => engine.call_as(call, tool.name(), arguments).await,
        };
        reply.map(Reached::Reply)
    }

    /// What is wrong with arguments that a script has written out, if anything is.
    pub(super) fn check(&self, arguments: Value) -> Result<(), CallError> {
        match &self.target {
            Target::Exec => exec::check(arguments),
            Target::SpawnExec => spawn::check_exec(arguments),
            Target::SpawnCancel => spawn::check_cancel(&arguments),
            Target::Tool(_) => match unknown_field(&self.schema, &arguments) {
                None => Ok(()),
                Some(field) => Err(CallError::BadArguments {
                    tool: self.name.clone(),
                    message: format!("there is no field `{field}`"),
                }),
            },
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

fn unknown_field(schema: &Value, arguments: &Value) -> Option<String> {
    let known = schema.get("properties")?.as_object()?;
    let given = arguments.as_object()?;
    given.keys().find(|key| !known.contains_key(*key)).cloned()
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
