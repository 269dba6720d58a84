//! The tools that a model can call. Each is one file: what it takes, what it does, what it replies.
//!
//! - [`Tool`]: what a tool is; [`ToolSet`]: those of an engine, built in or brought along
//! - `registered`: a tool without its types; `judged`: a tool that acts by itself

mod apply_patch;
pub(crate) mod arguments;
mod bash;
pub(crate) mod bash_task;
mod code_output;
pub(crate) mod command;
mod content;
mod exec_command;
mod exec_output;
mod file_search;
mod judged;
mod poll;
mod process_output;
mod registered;
pub(crate) mod reply;
mod run_code;
mod run_script;
mod shell;
mod shell_command;
mod task_output;
mod tool;
mod tool_set;
mod write_stdin;

use serde_json::Value;

use crate::engine::{Call, Engine};
use crate::error::CallError;
pub use content::ContentBlock;
pub use exec_output::{ExecToolCallOutput, StreamOutput};
pub use registered::Registered;
pub use reply::{BackgroundProcess, Remarks};
pub use tool::{Invocation, Tool};
pub(crate) use tool_set::snake_case;
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
        let tool = self.tools.find(name)?;
        let reply = tool.call(self, call, arguments).await?;
        Ok(self.processed(tool.name(), reply))
    }
}
