//! The input of a kept command: a pipe or a terminal, or none.

use std::io;
use std::sync::Arc;

use ringfence_jail::{Terminal, TerminalSize};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::time::{Instant, timeout_at};

/// Where what is typed goes.
#[derive(Debug)]
pub(super) enum Input {
    /// It was started without.
    None,
    /// It was closed.
    Closed,
    /// To its standard input.
    Pipe(pipe::Sender),
    /// To its terminal.
    Terminal(Arc<Terminal>),
}

/// Why something could not be typed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    /// The command was started without an input.
    #[error("it was started without an input; start it with `exec_command` to write to it")]
    None,
    /// It was closed by an earlier call, or by the command.
    #[error("its input is closed")]
    Closed,
    /// Only terminals have a size.
    #[error("it does not run on a terminal; start it with `\"tty\": true`")]
    NoTerminal,
    /// The command does not read.
    #[error("it does not read its input; {written} of {asked} bytes were written")]
    Full {
        /// What went through.
        written: usize,
        /// What was to be written.
        asked: usize,
    },
    /// Anything else.
    #[error("the input cannot be written: {0}")]
    Failed(#[from] io::Error),
}

/// The character that a terminal makes a signal of.
const INTERRUPT: u8 = 3;
/// The character that a terminal takes for the end of input.
const END_OF_FILE: &[u8] = b"\x04";

impl Input {
    /// Writes byte for byte, until the deadline. On a pipe, `interrupt` is called for every
    /// interrupt character, in its place.
    pub(super) async fn write(
        &mut self,
        text: &[u8],
        deadline: Instant,
        interrupt: impl Fn(),
    ) -> Result<(), InputError> {
        let mut written = 0;
        let whole = async {
            while written < text.len() {
                let rest = &text[written..];
                written += self.write_some(rest, &interrupt).await?;
            }
            Ok(())
        };
        match timeout_at(deadline, whole).await {
            Ok(Err(InputError::Failed(error))) if error.kind() == io::ErrorKind::BrokenPipe => {
                *self = Self::Closed;
                Err(InputError::Closed)
            }
            Ok(result) => result,
            Err(_) => Err(InputError::Full {
                written,
                asked: text.len(),
            }),
        }
    }

    /// Writes a first part of what is not empty, and says how much.
    async fn write_some(&mut self, text: &[u8], interrupt: impl Fn()) -> Result<usize, InputError> {
        match self {
            Self::None => Err(InputError::None),
            Self::Closed => Err(InputError::Closed),
            Self::Terminal(terminal) => Ok(terminal.write(text).await?),
            Self::Pipe(_) if text[0] == INTERRUPT => {
                interrupt();
                Ok(1)
            }
            Self::Pipe(pipe) => {
                let next = text.iter().position(|byte| *byte == INTERRUPT);
                Ok(pipe.write(&text[..next.unwrap_or(text.len())]).await?)
            }
        }
    }

    /// Ends the input: a pipe is closed, a terminal gets the character for it.
    pub(super) async fn close(&mut self, deadline: Instant) -> Result<(), InputError> {
        match self {
            Self::Terminal(_) => self.write(END_OF_FILE, deadline, || {}).await,
            Self::None => Err(InputError::None),
            Self::Pipe(_) | Self::Closed => {
                *self = Self::Closed;
                Ok(())
            }
        }
    }

    /// Changes the size of the terminal.
    pub(super) fn resize(&self, size: TerminalSize) -> Result<(), InputError> {
        match self {
            Self::Terminal(terminal) => Ok(terminal.resize(size)?),
            _ => Err(InputError::NoTerminal),
        }
    }
}
