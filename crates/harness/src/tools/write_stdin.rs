//! `write_stdin`: typing to a command that `exec_command` started, and waiting for what it says.

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use super::poll::{self, Size, WaitFor};
use super::process_output::{ProcessOutput, Told};
use super::{Invocation, Tool};
use crate::engine::{Call, Engine, Keys};
use crate::error::CallError;
use crate::output::Ansi;
use crate::registry::{InputError, ProcessId};

const NAME: &str = "write_stdin";

/// The tool.
pub(super) struct WriteStdin;

impl Tool for WriteStdin {
    type Arguments = Arguments;
    type Reply = ProcessOutput;

    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Types to a command that `exec_command` left running, waits, and returns what it \
                  has printed since. Without `input` it only waits."
    }

    async fn run(
        &self,
        at: Invocation<'_>,
        arguments: Arguments,
    ) -> Result<ProcessOutput, CallError> {
        run(at.engine, at.call, arguments).await
    }
}

/// The arguments of `write_stdin`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The command, as `exec_command` named it.
    #[serde(deserialize_with = "poll::id_text")]
    process_id: String,
    /// What to type, byte for byte; "\u0003" interrupts.
    #[serde(default)]
    input: String,
    /// The new size of the terminal.
    resize: Option<Size>,
    /// Whether to end its input afterwards.
    #[serde(default)]
    close: bool,
    /// The longest to wait before returning, in milliseconds (250 unless configured otherwise).
    yield_time_ms: Option<u64>,
    /// What ends the wait early: its exit alone, or the first output.
    #[serde(default)]
    wait_for: WaitFor,
    /// A regular expression; output in which it is found ends the wait early.
    pattern: Option<String>,
    /// The most output to return, in tokens.
    max_output_tokens: Option<u64>,
    /// Whether the reply shows the screen of the terminal.
    #[serde(default)]
    screen: bool,
    /// What becomes of escape sequences, such as colours, in the output.
    ansi: Option<Ansi>,
}

async fn run(
    engine: &Engine,
    call: &Call,
    arguments: Arguments,
) -> Result<ProcessOutput, CallError> {
    let since = Instant::now();
    let until = poll::until(NAME, arguments.wait_for, arguments.pattern.as_deref())?;
    let otherwise = engine.config.process.input_yield_time;
    let deadline = poll::deadline(engine, arguments.yield_time_ms, otherwise)?;
    let size = arguments
        .resize
        .map(|size| size.checked(NAME))
        .transpose()?;
    let id = ProcessId(arguments.process_id);
    let kept = engine.registry.process(&id)?;
    if arguments.screen && kept.screen(|_| ()).is_none() {
        let reason = InputError::NoTerminal.to_string();
        return Err(CallError::NotTyped { id, reason });
    }
    let keys = Keys {
        text: arguments.input,
        closes: arguments.close,
        size,
    };
    let wait = (&until, deadline);
    engine
        .type_input(call, NAME, (&id, &kept), keys, wait)
        .await?;
    Told {
        engine,
        id: &id,
        kept: &kept,
        most_chars: poll::most_chars(engine, arguments.max_output_tokens),
        screen: arguments.screen,
        ansi: arguments.ansi,
        since,
    }
    .reply()
}
