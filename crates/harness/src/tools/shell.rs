//! `shell`: a program and its arguments, as spec 2 has it.

use std::time::Duration;

use ringfence_policy::action::RunCommand;
use ringfence_policy::command_line::CommandLine;
use schemars::JsonSchema;
use serde::Deserialize;

use super::command::{SandboxPermissions, exec_output, how, workdir};
use super::{Tool, arguments};
use crate::error::CallError;
use crate::output::Ansi;

pub(super) const TOOL: Tool = Tool {
    name: "shell",
    aliases: &["container.exec"],
    description: "Runs a program with arguments inside the fence and returns its output.",
    schema: arguments::schema::<Arguments>,
    run: |engine, call, value| {
        Box::pin(async move {
            let arguments: Arguments = arguments::read("shell", value)?;
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
                environment: engine.environment.clone(),
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

/// The arguments of `shell`.
#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
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
