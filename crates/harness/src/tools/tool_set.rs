//! The tools of an engine: a value, made from the built-in ones and those that a program adds.

use std::sync::Arc;

use thiserror::Error;

use super::arguments::nearest;
use super::registered::Registered;
use super::tool::Tool;
use super::{
    apply_patch, bash, bash_task, exec_command, file_search, run_code, run_script, shell,
    shell_command, write_stdin,
};
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

/// The tools of an engine, by name. Copies share them.
#[derive(Debug, Clone)]
pub struct ToolSet {
    tools: Arc<Vec<Registered>>,
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
                Registered::new(shell::Shell),
                Registered::new(shell_command::ShellCommand),
                Registered::new(exec_command::ExecCommand),
                Registered::new(write_stdin::WriteStdin),
                Registered::new(bash::Bash),
                Registered::new(bash_task::TaskOutput),
                Registered::new(bash_task::TaskStop),
                Registered::new(bash_task::TaskList),
                Registered::new(apply_patch::ApplyPatch),
                Registered::new(file_search::FileSearch),
                Registered::new(run_code::RunCode),
                Registered::new(run_script::RunScript),
            ]),
        }
    }

    /// The same with one more. Scripts see it once `script.expose.tools` names it.
    pub fn with(mut self, tool: impl Tool) -> Result<Self, ToolNameError> {
        let added = Registered::new(tool);
        for name in added.names() {
            self.refuse(name)?;
        }
        Arc::make_mut(&mut self.tools).push(added);
        Ok(self)
    }

    /// The tools, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Registered> {
        self.tools.iter()
    }

    /// The tool of a name.
    pub fn find(&self, name: &str) -> Result<&Registered, CallError> {
        let found = self
            .iter()
            .find(|tool| tool.names().any(|known| known == name));
        found.ok_or_else(|| CallError::UnknownTool {
            name: name.to_owned(),
            suggestion: nearest(name, self.iter().flat_map(Registered::names)),
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
        let has_it = |tool: &&Registered| tool.names().any(|known| snake_case(known) == spelled);
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
