//! The tools that a model can call. Each is one file: its arguments, its action, its reply.

mod apply_patch;
pub(crate) mod arguments;
mod bash;
pub(crate) mod bash_task;
pub(crate) mod command;
mod content;
mod exec_command;
mod file_search;
mod poll;
mod run_code;
mod run_script;
mod shell;
mod shell_command;
mod write_stdin;

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use crate::engine::{Call, Engine};
use crate::error::CallError;
pub(crate) use command::exec_output;

/// A reply that is still awaited.
pub type Reply<'a> = Pin<Box<dyn Future<Output = Result<Value, CallError>> + Send + 'a>>;

/// A tool.
#[derive(Clone, Copy)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// What it does, for a model.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: fn() -> Value,
    run: for<'a> fn(&'a Engine, &'a Call, Value) -> Reply<'a>,
}

/// Every tool.
pub const TOOLS: &[Tool] = &[
    shell::TOOL,
    shell_command::TOOL,
    exec_command::TOOL,
    write_stdin::TOOL,
    bash::TOOL,
    bash_task::OUTPUT,
    bash_task::STOP,
    bash_task::LIST,
    apply_patch::TOOL,
    file_search::TOOL,
    run_code::TOOL,
    run_script::TOOL,
];

/// The tool of a name.
pub fn find(name: &str) -> Result<&'static Tool, CallError> {
    TOOLS
        .iter()
        .find(|tool| tool.name == name || tool.aliases.contains(&name))
        .ok_or_else(|| {
            let names = TOOLS
                .iter()
                .flat_map(|tool| std::iter::once(&tool.name).chain(tool.aliases));
            CallError::UnknownTool {
                name: name.to_owned(),
                suggestion: arguments::nearest(name, names.copied()),
            }
        })
}

impl Engine {
    /// Calls a tool by its name.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        self.call_as(&self.new_call(), name, arguments).await
    }

    /// Calls a tool by its name, as a call that the caller can cancel.
    pub async fn call_as(
        &self,
        call: &Call,
        name: &str,
        arguments: Value,
    ) -> Result<Value, CallError> {
        let tool = find(name)?;
        let reply = (tool.run)(self, call, arguments).await?;
        Ok(self.processed(tool.name, reply))
    }
}
