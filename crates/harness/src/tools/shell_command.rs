//! `shell_command`: a text for the user's shell, as spec 2 has it.

use std::time::Duration;

use ringfence_policy::action::RunCommand;
use ringfence_policy::command_line::Profile;
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{SandboxPermissions, exec_output, how, in_shell, workdir};
use super::{Tool, arguments};
use crate::error::CallError;
use crate::output::Ansi;

pub(super) const TOOL: Tool = Tool {
    name: "shell_command",
    aliases: &[],
    description: "Runs a text in the user's shell inside the fence and returns its output.",
    schema: arguments::schema::<Arguments>,
    run: |engine, call, value| {
        Box::pin(async move {
            let arguments: Arguments = arguments::read("shell_command", value)?;
            if arguments.command.trim().is_empty() {
                return Err(CallError::EmptyCommand);
            }
            let cwd = workdir(engine, arguments.workdir.as_deref())?;
            let timeout = arguments
                .timeout_ms
                .map_or(engine.config.shell.timeout, Duration::from_millis);
            let login = arguments.login.unwrap_or(engine.config.shell.login);
            let profile = if login {
                Profile::Login
            } else {
                Profile::Plain
            };
            let shell = engine.shell.clone();
            let (line, environment) =
                in_shell(engine, call, &shell, arguments.command, profile).await;
            let command = RunCommand {
                tool: "shell_command".to_owned(),
                line,
                cwd,
                environment,
                fence: arguments.sandbox_permissions.into(),
                justification: arguments.justification,
                description: None,
            };
            let outcome = engine
                .run_command(call, command, how(engine, timeout))
                .await?;
            Ok(exec_output(engine, &outcome, arguments.ansi))
        })
    },
};

/// The arguments of `shell_command`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
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
