//! The tools that a model can call. Each is one file: what it takes, what it does, what it replies.
//!
//! - [`Tool`]: what a tool is; [`ToolSet`]: those of an engine, built in or brought along
//! - `registered_tool`: a tool without its types; `own_action`: a tool that acts by itself

mod apply_patch;
pub(crate) mod arguments;
#[cfg(feature = "commands")]
mod bash;
#[cfg(feature = "commands")]
pub(crate) mod bash_task;
#[cfg(feature = "scripts")]
mod code_output;
#[cfg(feature = "commands")]
pub(crate) mod command;
#[cfg(feature = "commands")]
mod content;
#[cfg(feature = "commands")]
mod exec_command;
#[cfg(feature = "commands")]
mod exec_output;
mod file_search;
#[cfg(feature = "commands")]
pub(crate) mod http;
mod own_action;
#[cfg(feature = "commands")]
mod poll;
#[cfg(feature = "commands")]
mod process_output;
mod registered_tool;
pub(crate) mod reply;
#[cfg(feature = "scripts")]
mod run_code;
#[cfg(feature = "scripts")]
mod run_script;
pub(crate) mod shape;
#[cfg(feature = "commands")]
mod shell;
#[cfg(feature = "commands")]
mod shell_command;
#[cfg(feature = "commands")]
mod task_output;
mod tool;
mod tool_set;
#[cfg(feature = "commands")]
mod write_stdin;

use serde_json::Value;

use crate::engine::{Call, Engine};
use crate::error::CallError;
#[cfg(feature = "commands")]
pub use content::ContentBlock;
#[cfg(feature = "commands")]
pub use exec_output::{ExecToolCallOutput, StreamOutput};
pub use registered_tool::RegisteredTool;
pub use reply::{BackgroundProcess, Remarks};
pub use tool::{Invocation, Tool};
#[cfg(feature = "scripts")]
pub(crate) use tool_set::snake_case;
pub(crate) use tool_set::{HTTP, http_switched_off};
pub use tool_set::{ToolNameError, ToolSet};

impl Engine {
    /// The tools that it serves.
    pub fn tools(&self) -> &ToolSet {
        &self.tools
    }

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
        let tool = match self.tools.find(name) {
            Err(CallError::UnknownTool { .. }) if name == HTTP => {
                return Err(http_switched_off());
            }
            found => found?,
        };
        let reply = tool.call(self, call, arguments).await?;
        Ok(self.processed(tool.name(), reply))
    }
}
