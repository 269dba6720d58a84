//! `shell`: a program and its arguments.

use std::time::Duration;

use ringfence_policy::action::RunCommand;
use ringfence_policy::command_line::CommandLine;
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{SandboxPermissions, on_pipes, workdir};
use super::exec_output::{self, ExecToolCallOutput};
use super::{Invocation, Tool};
use crate::error::CallError;
use crate::output::Ansi;

/// The tool.
pub(super) struct Shell;

impl Tool for Shell {
    type Arguments = Arguments;
    type Reply = ExecToolCallOutput;

    fn name(&self) -> &'static str {
        "shell"
    }

    fn aliases(&self) -> &[&str] {
        &["container.exec"]
    }

    fn description(&self) -> &'static str {
        "Runs a program with arguments inside the fence and returns its output."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: Arguments,
    ) -> Result<ExecToolCallOutput, CallError> {
        let Invocation { engine, call, .. } = at;
        if arguments.command.first().is_none_or(String::is_empty) {
            return Err(CallError::EmptyCommand);
        }
        let timeout = arguments
            .timeout_ms
            .map_or(engine.config.shell.timeout, Duration::from_millis);
        let command = RunCommand {
            tool: "shell".to_owned(),
            cwd: workdir(engine, arguments.workdir.as_deref())?,
            line: CommandLine::Argv(arguments.command),
            environment: on_pipes(&engine.environment),
            fence: arguments.sandbox_permissions.into(),
            justification: arguments.justification,
            description: None,
        };
        exec_output::run(engine, call, command, timeout, arguments.ansi).await
    }
}

/// The arguments of `shell`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The program and its arguments, for example `["ls", "-la"]`.
    command: Vec<String>,
    /// The folder to run in, relative to the session's.
    workdir: Option<String>,
    /// The most time to take, in milliseconds (10000 unless configured otherwise).
    timeout_ms: Option<u64>,
    /// Where to run: where the policy puts it, or outside the fence after a question.
    #[serde(default)]
    sandbox_permissions: SandboxPermissions,
    /// Why it has to run outside the fence.
    justification: Option<String>,
    /// What becomes of escape sequences, such as colours, in the output.
    ansi: Option<Ansi>,
}
