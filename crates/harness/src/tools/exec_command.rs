//! `exec_command`: a command that may outlive the call, on a terminal unless told otherwise.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ringfence_jail::TerminalSize;
use ringfence_policy::action::RunCommand;
use ringfence_policy::command_line::{CommandLine, Shell};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use tokio::time::Instant;

use super::command::{SandboxPermissions, in_shell, profile, workdir};
use super::poll::{self, Size, WaitFor};
use super::process_output::{ProcessOutput, Told};
use super::{Invocation, Tool};
use crate::engine::{Call, Engine, Keys, ProcessStart, StartedProcess};
use crate::error::CallError;
use crate::output::{Ansi, TERM};
use crate::registry::{KeptCommand, ProcessId};
use crate::shell::named_shell;

const NAME: &str = "exec_command";

/// The tool.
pub(super) struct ExecCommand;

impl Tool for ExecCommand {
    type Arguments = Arguments;
    type Reply = ProcessOutput;

    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Starts a command inside the fence, on a terminal or on pipes, and returns what it \
                  has printed after a while. If it still runs then, `process_id` names it for \
                  `write_stdin`."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: Arguments,
    ) -> Result<ProcessOutput, CallError> {
        Box::pin(run(at.engine, at.call, arguments)).await
    }
}

/// The arguments of `exec_command`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The program and its arguments, for example `["python3", "-i"]`, or a text for the shell.
    command: Command,
    /// Whether it runs on a terminal (unless told otherwise) or on pipes.
    #[serde(default = "on_a_terminal")]
    tty: bool,
    /// The size of the terminal (24 rows and 80 columns unless told).
    size: Option<Size>,
    /// How long to wait for its end before returning, in milliseconds (10000 unless configured
    /// otherwise).
    yield_time_ms: Option<u64>,
    /// What ends the wait early: its exit alone, or the first output.
    #[serde(default)]
    wait_for: WaitFor,
    /// A regular expression; output in which it is found ends the wait early.
    pattern: Option<String>,
    /// The id that it shall have; one is chosen if absent.
    #[serde(default, deserialize_with = "optional_id")]
    process_id: Option<String>,
    /// The most output to return, in tokens.
    max_output_tokens: Option<u64>,
    /// The folder to run in, relative to the session's.
    workdir: Option<String>,
    /// The shell that runs a text: one of the machine's own, by its name or path.
    shell: Option<PathBuf>,
    /// Whether the user's profile applies to a text (it does, unless configured otherwise).
    login: Option<bool>,
    /// Whether the reply shows the screen of the terminal.
    #[serde(default)]
    screen: bool,
    /// What becomes of escape sequences, such as colours, in the output.
    ansi: Option<Ansi>,
    /// Where to run: where the policy puts it, or outside the fence after a question.
    #[serde(default)]
    sandbox_permissions: SandboxPermissions,
    /// Why it has to run outside the fence.
    justification: Option<String>,
}

/// A command in either form.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Command {
    /// A program and its arguments.
    Words(Vec<String>),
    /// A text for the shell.
    Text(String),
}

fn optional_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    struct Id(#[serde(deserialize_with = "poll::id_text")] String);
    Ok(Option::<Id>::deserialize(deserializer)?.map(|Id(id)| id))
}

async fn run(
    engine: &Engine,
    call: &Call,
    arguments: Arguments,
) -> Result<ProcessOutput, CallError> {
    let since = Instant::now();
    let terminal = match (arguments.tty, arguments.size) {
        (true, None) => Some(TerminalSize::default()),
        (true, Some(size)) => Some(size.checked(NAME)?),
        (false, None) if !arguments.screen => None,
        (false, _) => return Err(bad("`size` and `screen` need a terminal: leave `tty` on")),
    };
    let id = checked_id(arguments.process_id.clone())?;
    if let Some(id) = &id
        && let Ok(kept) = engine.registry.process(id)
    {
        return return_to(engine, call, arguments, (id, &kept)).await;
    }
    let reserved = engine.registry.reserve(id)?;
    let otherwise = engine.config.process.yield_time;
    let deadline = poll::deadline(engine, arguments.yield_time_ms, otherwise)?;
    let patience = deadline.saturating_duration_since(Instant::now());
    let until = poll::until(NAME, arguments.wait_for, arguments.pattern.as_deref())?;
    let most_chars = poll::most_chars(engine, arguments.max_output_tokens);
    let (screen, ansi) = (arguments.screen, arguments.ansi);
    let command = command(engine, call, arguments).await?;
    let id = reserved.id().clone();
    let start = ProcessStart {
        reserved,
        terminal,
        until: &until,
        patience,
    };
    let StartedProcess {
        kept,
        not_retried,
        retried,
    } = Box::pin(engine.open_process(call, command, start)).await?;
    let mut reply = Told {
        engine,
        id: &id,
        kept: &kept,
        most_chars,
        screen,
        ansi,
        since,
    }
    .reply()?;
    reply.remarks.not_retried = not_retried;
    reply.remarks.retried = retried;
    if reply.exit_code.is_none() && engine.ends_with(call) {
        reply.warning = Some(CallError::EndsWithCall.to_string());
    }
    Ok(reply)
}

/// Returns to a command that runs already under the id: nothing is started.
async fn return_to(
    engine: &Engine,
    call: &Call,
    arguments: Arguments,
    (id, kept): (&ProcessId, &KeptCommand),
) -> Result<ProcessOutput, CallError> {
    let since = Instant::now();
    let until = poll::until(NAME, arguments.wait_for, arguments.pattern.as_deref())?;
    let otherwise = engine.config.process.yield_time;
    let deadline = poll::deadline(engine, arguments.yield_time_ms, otherwise)?;
    let running = engine.registry.process_command(id);
    let wait = (&until, deadline);
    engine
        .type_input(call, NAME, (id, kept), Keys::default(), wait)
        .await?;
    let told = Told {
        engine,
        id,
        kept,
        most_chars: poll::most_chars(engine, arguments.max_output_tokens),
        screen: arguments.screen && kept.screen(|_| ()).is_some(),
        ansi: arguments.ansi,
        since,
    };
    let mut reply = told.reply()?;
    reply.warning = Some(format!(
        "nothing was started: `{id}` is `{running}`, to which this call returned; another \
         `process_id`, or none, starts another command"
    ));
    Ok(reply)
}

fn on_a_terminal() -> bool {
    true
}

fn bad(message: &str) -> CallError {
    CallError::BadArguments {
        tool: NAME.to_owned(),
        message: message.to_owned(),
    }
}

fn checked_id(id: Option<String>) -> Result<Option<ProcessId>, CallError> {
    const LONGEST: usize = 64;
    match id {
        Some(id) if id.is_empty() || id.len() > LONGEST || id.chars().any(char::is_control) => Err(
            bad("`process_id` has 1 to 64 characters, none of them a control character"),
        ),
        other => Ok(other.map(ProcessId)),
    }
}

/// The command that the arguments ask for.
async fn command(
    engine: &Engine,
    call: &Call,
    arguments: Arguments,
) -> Result<RunCommand, CallError> {
    let cwd = workdir(engine, arguments.workdir.as_deref())?;
    let (line, mut environment) = match arguments.command {
        Command::Words(_) if arguments.shell.is_some() || arguments.login.is_some() => {
            return Err(bad("`shell` and `login` are for a command that is a text"));
        }
        Command::Words(words) if words.is_empty() => return Err(CallError::EmptyCommand),
        Command::Words(words) => (CommandLine::Argv(words), engine.environment.clone()),
        Command::Text(text) if text.trim().is_empty() => return Err(CallError::EmptyCommand),
        Command::Text(text) => {
            let shell = shell(engine, arguments.shell)?;
            let profile = profile(engine, arguments.login);
            in_shell(engine, call, &shell, text, profile).await
        }
    };
    for_a_program(&mut environment, arguments.tty);
    Ok(RunCommand {
        tool: NAME.to_owned(),
        line,
        cwd,
        environment,
        fence: arguments.sandbox_permissions.into(),
        justification: arguments.justification,
        description: None,
    })
}

fn shell(engine: &Engine, path: Option<PathBuf>) -> Result<Shell, CallError> {
    let Some(path) = path else {
        return Ok(engine.shell.clone());
    };
    // The user's own needs no leave: it was looked at when the session was opened.
    if path == engine.shell.path {
        return Ok(engine.shell.clone());
    }
    Ok(named_shell(&path, &engine.changeable())?)
}

/// Variables that make programs print for a program: no colours, no pagers, one language.
fn for_a_program(environment: &mut BTreeMap<String, String>, tty: bool) {
    const FIXED: &[(&str, &str)] = &[
        ("NO_COLOR", "1"),
        ("LANG", "C.UTF-8"),
        ("LC_CTYPE", "C.UTF-8"),
        ("LC_ALL", "C.UTF-8"),
        ("COLORTERM", ""),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GH_PAGER", "cat"),
    ];
    let term = if tty { TERM } else { "dumb" };
    for (name, value) in FIXED.iter().chain(&[("TERM", term)]) {
        environment.insert((*name).to_owned(), (*value).to_owned());
    }
}
