//! `shell_command`: a text for the user's shell.

use std::time::Duration;

use ringfence_policy::action::RunCommand;
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{SandboxPermissions, in_shell, profile, workdir};
use super::exec_output::{self, ExecToolCallOutput};
use super::{Invocation, Tool};
use crate::error::CallError;
use crate::output::Ansi;

/// The tool.
pub(super) struct ShellCommand;

impl Tool for ShellCommand {
    type Arguments = Arguments;
    type Reply = ExecToolCallOutput;

    fn name(&self) -> &'static str {
        "shell_command"
    }

    fn description(&self) -> &'static str {
        "Runs a text in the user's shell inside the fence and returns its output."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: Arguments,
    ) -> Result<ExecToolCallOutput, CallError> {
        let Invocation { engine, call, .. } = at;
        if arguments.command.trim().is_empty() {
            return Err(CallError::EmptyCommand);
        }
        let cwd = workdir(engine, arguments.workdir.as_deref())?;
        let timeout = arguments
            .timeout_ms
            .map_or(engine.config.shell.timeout, Duration::from_millis);
        let profile = profile(engine, arguments.login);
        let shell = engine.shell.clone();
        let (line, environment) = in_shell(engine, call, &shell, arguments.command, profile).await;
        let command = RunCommand {
            tool: "shell_command".to_owned(),
            line,
            cwd,
            environment,
            fence: arguments.sandbox_permissions.into(),
            justification: arguments.justification,
            description: None,
        };
        exec_output::run(engine, call, command, timeout, arguments.ansi).await
    }
}

/// The arguments of `shell_command`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The text, for example "grep -r TODO src | head".
    command: String,
    /// The folder to run in, relative to the session's.
    workdir: Option<String>,
    /// Whether the user's profile applies (it does, unless configured otherwise).
    login: Option<bool>,
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
