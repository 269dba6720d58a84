//! `write_stdin`: typing to a command that `exec_command` started, and waiting for what it says.

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use super::poll::{self, Size, WaitFor};
use super::process_output::{ProcessOutput, Told};
use super::{Invocation, Tool};
use crate::engine::{Announced, Call, Engine};
use crate::error::CallError;
use crate::event::Event;
use crate::output::Ansi;
use crate::registry::{Attended, InputError, ProcessId};

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
    let attended = engine.registry.session(&id)?;
    let announced = Announced::of(
        &engine.desk,
        call,
        &Event::Begin {
            call: call.id.clone(),
            tool: NAME.to_owned(),
            command: format!("write to {id}"),
            cwd: engine.ground.cwd.clone(),
        },
    );
    let typed = async {
        if let Some(size) = size {
            attended.resize(size).await?;
        }
        if arguments.screen && attended.screen(|_| ()).is_none() {
            return Err(InputError::NoTerminal);
        }
        type_in(
            &attended,
            arguments.input.as_bytes(),
            arguments.close,
            deadline,
        )
        .await
    };
    typed.await.map_err(|reason| CallError::NotTyped {
        id: id.clone(),
        reason: reason.to_string(),
    })?;
    tokio::select! {
        () = attended.wait(&until, deadline) => {}
        // The command is not the call's: it lives on.
        () = call.cancel.cancelled() => {}
    }
    let reply = Told {
        engine,
        id: &id,
        attended: &attended,
        most_chars: poll::most_chars(engine, arguments.max_output_tokens),
        screen: arguments.screen,
        ansi: arguments.ansi,
        since,
    }
    .reply()?;
    announced.end(reply.exit_code);
    Ok(reply)
}

/// Types, unless the command has ended: then its end is what the call is told.
async fn type_in(
    attended: &Attended,
    input: &[u8],
    close: bool,
    deadline: Instant,
) -> Result<(), InputError> {
    // A call that waits for nothing still gets the time to type.
    const TO_TYPE: std::time::Duration = std::time::Duration::from_secs(1);
    let deadline = deadline.max(Instant::now() + TO_TYPE);
    let typed = async {
        if !input.is_empty() {
            attended.write(input, deadline).await?;
        }
        if close {
            attended.close(deadline).await?;
        }
        Ok(())
    };
    match typed.await {
        Err(InputError::Closed | InputError::Failed(_)) if attended.ends_soon().await => Ok(()),
        result => result,
    }
}
