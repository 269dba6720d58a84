//! The foreground: one command, followed to its end.

use std::io;
use std::time::Duration;

use ringfence_jail::TerminalSize;
use tokio::sync::mpsc;

use super::running::Step;
use super::{Cancel, Ending, Execution, Latch, Running};
use crate::output::Stream;

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// The command itself; no limit if absent.
    pub timeout: Option<Duration>,
    /// The longest that it may print nothing; no limit if absent.
    pub silence: Option<Duration>,
    /// Output after the command's end, which something it left running may hold back.
    pub drain: Duration,
    /// What becomes of it at the time-out.
    pub on_timeout: OnTimeout,
}

/// What becomes of a command that takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnTimeout {
    /// It is killed.
    Kill,
    /// It is handed over, alive.
    HandOver,
}

/// What a person does at the keyboard of a command's terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalInput {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The window has another size.
    Resized(TerminalSize),
}

/// Words from outside, heeded while a command runs.
#[derive(Debug)]
pub struct Outside<'a> {
    /// Stop it.
    pub cancel: &'a Cancel,
    /// Hand it over, alive.
    pub hand_over: &'a Latch,
    /// What is typed, for one on a terminal.
    pub typed: Option<mpsc::Receiver<TerminalInput>>,
}

/// What became of a command in the foreground.
#[derive(Debug)]
pub enum DriveResult {
    /// It has ended.
    Ended(Box<Execution>),
    /// It goes on, and belongs to whoever gets this.
    HandedOver(Box<Running>),
}

/// Follows a command to its end, or to where it is handed over.
pub async fn drive(
    mut running: Running,
    timing: Timing,
    mut outside: Outside<'_>,
    mut take: impl FnMut(Stream, &[u8]),
) -> io::Result<DriveResult> {
    let clock = running.clock().clone();
    let out_of_time = async {
        match timing.timeout {
            Some(timeout) => clock.reaches(timeout).await,
            None => std::future::pending().await,
        }
    };
    let typed = outside.typed.take();
    let terminal = running.terminal();
    let typing = async {
        if let (Some(terminal), Some(mut typed)) = (terminal, typed) {
            while let Some(next) = typed.recv().await {
                // A terminal that nobody holds any more takes no input; its end is seen elsewhere.
                let _ = match next {
                    TerminalInput::Bytes(bytes) => terminal.write_all(&bytes).await,
                    TerminalInput::Resized(size) => terminal.resize(size),
                };
            }
        }
        std::future::pending::<()>().await;
    };
    let ending = tokio::select! {
        ending = until_exit(&mut running, timing.silence, outside.cancel, &mut take) => ending?,
        () = out_of_time => match timing.on_timeout {
            OnTimeout::Kill => Ending::TimedOut,
            OnTimeout::HandOver => return Ok(DriveResult::HandedOver(Box::new(running))),
        },
        () = outside.hand_over.wait() => return Ok(DriveResult::HandedOver(Box::new(running))),
        () = outside.cancel.cancelled() => Ending::Cancelled,
        () = typing => Ending::Cancelled,
    };
    let execution = running.finish(ending, timing.drain, &mut take).await?;
    Ok(DriveResult::Ended(Box::new(execution)))
}

/// Takes in output until the command has ended or fallen silent.
async fn until_exit(
    running: &mut Running,
    silence: Option<Duration>,
    cancel: &Cancel,
    take: &mut impl FnMut(Stream, &[u8]),
) -> io::Result<Ending> {
    const SIGINT: i32 = 2;
    let clock = running.clock().clone();
    let mut interrupted = false;
    loop {
        let silent_for_too_long = async {
            match silence {
                Some(silence) => clock.reaches(clock.elapsed() + silence).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            step = running.step(take) => if step? == Step::Exited {
                return Ok(Ending::Exited);
            },
            () = cancel.interrupted(), if !interrupted => {
                interrupted = true;
                // One that ends at this moment needs no signal.
                let _ = running.signal(SIGINT);
            }
            () = silent_for_too_long => return Ok(Ending::FellSilent),
        }
    }
}
