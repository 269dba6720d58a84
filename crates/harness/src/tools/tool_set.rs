//! The tools of an engine: a value, made from the built-in ones and those that a program adds.

use std::sync::Arc;

use thiserror::Error;

use super::arguments::nearest;
use super::registered_tool::RegisteredTool;
use super::tool::Tool;
use super::{apply_patch, file_search};
#[cfg(feature = "commands")]
use super::{bash, bash_task, exec_command, http, shell, shell_command, write_stdin};
#[cfg(feature = "scripts")]
use super::{run_code, run_script};
use crate::config::ExposeConfig;
use crate::error::CallError;

/// Names that scripts have below `tools` without any tool of that name.
const OF_SCRIPTS: &[&str] = &[
    "exec",
    "spawn",
    "search",
    "describe",
    "mcp",
    "http",
    "then",
    "constructor",
];
const LONGEST_NAME: usize = 64;

/// The tool that sends requests, which is off unless the configuration switches it on.
pub(crate) const HTTP: &str = "http";

/// The error of a call of `http` while it is off.
pub(crate) fn http_switched_off() -> CallError {
    CallError::SwitchedOff {
        tool: HTTP,
        setting: "script.expose.enable_http",
    }
}

/// The tools of an engine, by name. Copies share them.
#[derive(Debug, Clone)]
pub struct ToolSet {
    tools: Arc<Vec<RegisteredTool>>,
}

/// Why a tool cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ToolNameError {
    /// A tool of that name is there already.
    #[error("`{name}` is a name of the tool `{tool}` already; give yours another")]
    Taken {
        /// The name.
        name: String,
        /// The tool that has it.
        tool: String,
    },
    /// Scripts have something else by that name.
    #[error("`tools.{name}` means something else in scripts; give your tool another name")]
    Reserved {
        /// The name.
        name: String,
    },
    /// No model could call it by that name.
    #[error(
        "`{name}` is no name of a tool: take up to 64 letters, digits, `_` and `-`, beginning with a letter"
    )]
    NotAName {
        /// The name.
        name: String,
    },
}

impl ToolSet {
    /// The built-in tools.
    pub fn built_in() -> Self {
        Self {
            tools: Arc::new(vec![
                #[cfg(feature = "commands")]
                RegisteredTool::new(shell::Shell),
                #[cfg(feature = "commands")]
                RegisteredTool::new(shell_command::ShellCommand),
                #[cfg(feature = "commands")]
                RegisteredTool::new(exec_command::ExecCommand),
                #[cfg(feature = "commands")]
                RegisteredTool::new(write_stdin::WriteStdin),
                #[cfg(feature = "commands")]
                RegisteredTool::new(bash::Bash),
                #[cfg(feature = "commands")]
                RegisteredTool::new(bash_task::TaskOutput),
                #[cfg(feature = "commands")]
                RegisteredTool::new(bash_task::TaskStop),
                #[cfg(feature = "commands")]
                RegisteredTool::new(bash_task::TaskList),
                RegisteredTool::new(apply_patch::ApplyPatch),
                RegisteredTool::new(file_search::FileSearch),
                #[cfg(feature = "scripts")]
                RegisteredTool::new(run_code::RunCode),
                #[cfg(feature = "scripts")]
                RegisteredTool::new(run_script::RunScript),
            ]),
        }
    }

    /// The built-in tools, with those that are off unless the configuration switches them on.
    pub fn every_built_in() -> Self {
        Self::built_in().with_http()
    }

    /// The same with those built-in tools that are off unless the configuration switches them on.
    pub fn enabling(self, config: &ExposeConfig) -> Self {
        if config.enable_http {
            self.with_http()
        } else {
            self
        }
    }

    #[cfg(feature = "commands")]
    fn with_http(mut self) -> Self {
        if self.find(HTTP).is_err() {
            Arc::make_mut(&mut self.tools).push(RegisteredTool::new(http::Http));
        }
        self
    }

    /// There is none without the proxy.
    #[cfg(not(feature = "commands"))]
    fn with_http(self) -> Self {
        self
    }

    /// The same with one more. Scripts see it once `script.expose.tools` names it.
    pub fn with(mut self, tool: impl Tool) -> Result<Self, ToolNameError> {
        let added = RegisteredTool::new(tool);
        for name in added.names() {
            self.refuse(name)?;
        }
        Arc::make_mut(&mut self.tools).push(added);
        Ok(self)
    }

    /// The tools, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &RegisteredTool> {
        self.tools.iter()
    }

    /// The tool of a name.
    pub fn find(&self, name: &str) -> Result<&RegisteredTool, CallError> {
        let found = self
            .iter()
            .find(|tool| tool.names().any(|known| known == name));
        found.ok_or_else(|| CallError::UnknownTool {
            name: name.to_owned(),
            suggestion: nearest(name, self.iter().flat_map(RegisteredTool::names)),
        })
    }

    /// Says what is wrong with a new name.
    fn refuse(&self, name: &str) -> Result<(), ToolNameError> {
        let name_of = || name.to_owned();
        let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !begins || name.len() > LONGEST_NAME || !name.chars().all(fits) {
            return Err(ToolNameError::NotAName { name: name_of() });
        }
        // Scripts may write a name either way.
        let spelled = snake_case(name);
        if OF_SCRIPTS.contains(&spelled.as_str()) {
            return Err(ToolNameError::Reserved { name: name_of() });
        }
        let has_it =
            |tool: &&RegisteredTool| tool.names().any(|known| snake_case(known) == spelled);
        match self.iter().find(has_it) {
            Some(tool) => Err(ToolNameError::Taken {
                name: name_of(),
                tool: tool.name().to_owned(),
            }),
            None => Ok(()),
        }
    }
}

impl Default for ToolSet {
    fn default() -> Self {
        Self::built_in()
    }
}

/// A name as the built-in tools are spelled: `applyPatch` is `apply_patch`.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
