//! `ringfence run`: a command of a person's, inside the fence, with its output as it comes.

use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use ringfence::event::{Event, Listener};
use ringfence::jail::LaunchError;
use ringfence::policy::command_line::CommandLine;
use ringfence::{Call, CallError, Cancel, Ending, Outcome, OutputSink, RunOptions, Stdio};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::Common;
use crate::opening::{self, Caller};
use crate::terminal::{CONSOLE, keyboard};
use crate::{exit, paint, prompt, workspace};

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence run -- npm install
  cat data.json | ringfence run -- jq .name
  ringfence run --writable ~/.cache --network full -- pip install requests
  ringfence run --sandbox read-only -- ./untrusted-script

The command may write in the current folder and nowhere else, has no network and no access to
keys, inherits standard input and has no time limit. Its exit code becomes ringfence's.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// Kill the command after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// The command
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    let Arguments {
        common,
        timeout,
        command,
    } = arguments;
    workspace::check(common.cwd.as_deref())?;
    let cancel = Cancel::new();
    let (sink, output_sink) = if common.json {
        (ringfence::event::nowhere(), None)
    } else {
        (remarks(), Some(live(cancel.clone())))
    };
    keyboard::give_to_read_only()?;
    let engine = opening::open(&common, Caller::Person, sink)?;
    let call = Call {
        cancel: cancel.clone(),
        ..engine.new_call()
    };
    let words = command.clone();
    let command = engine.person_command(CommandLine::Argv(command));
    let options = RunOptions {
        timeout: timeout.map(Duration::from_secs),
        stdio: Stdio::InheritedInput,
        output_sink,
        ..RunOptions::default()
    };
    let done = tokio::select! {
        outcome = engine.run_command(&call, command, options) => outcome,
        never = stop_on_signal(&cancel, FirstInterrupt::IsTheCommands) => never?,
    };
    let outcome = match done {
        Ok(outcome) => outcome,
        Err(error) => {
            if common.json {
                paint::line(&serde_json::to_string_pretty(&error.to_json())?);
            }
            return Err(not_run(error, &words));
        }
    };
    if common.json {
        paint::line(&serde_json::to_string_pretty(
            &engine.exec_output(&outcome),
        )?);
    } else {
        explain(&outcome);
    }
    Ok(exit::passed_on(outcome.execution.exit_code()))
}

/// What to say of a command that did not run.
fn not_run(error: CallError, words: &[String]) -> anyhow::Error {
    let is_a_line = matches!(words, [line] if line.contains(char::is_whitespace));
    let not_found = matches!(error, CallError::Launch(LaunchError::ProgramNotFound(_)));
    let error = anyhow::Error::from(error);
    if not_found && is_a_line {
        return error.context(format!(
            "the whole of `{0}` was taken for the name of a program; a shell reads a line: \
             `ringfence run -- bash -c '{0}'`",
            words[0]
        ));
    }
    error
}

/// Work that takes longer than this is told of.
const LONG: Duration = Duration::from_secs(2);

/// Passes on what no output says.
pub(crate) fn remarks() -> Arc<dyn Listener> {
    Arc::new(|event: &Event<'_>| match event {
        Event::Notice { text, .. } => paint::remark(text),
        Event::Progress { elapsed, lines, .. } if *elapsed >= LONG => {
            CONSOLE.show_progress(*elapsed, *lines);
        }
        Event::End { .. } => CONSOLE.clear_status(),
        _ => {}
    })
}

/// Writes output as it comes. A reader that goes away ends the command, as it would without us.
fn live(cancel: Cancel) -> OutputSink {
    let broken = AtomicBool::new(false);
    Arc::new(move |stream, bytes| {
        if broken.load(Ordering::Relaxed) {
            return;
        }
        if CONSOLE.print(stream, bytes).is_err() {
            broken.store(true, Ordering::Relaxed);
            cancel.cancel();
        }
    })
}

/// SIGTSTP, which has no name of its own in tokio.
const STOP: i32 = Signal::TSTP.as_raw();

/// How long a command has after Ctrl-C to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// Whose the first Ctrl-C is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstInterrupt {
    /// The command's, which may tidy up. The second one, or the end of its time, ends it.
    IsTheCommands,
    /// It ends everything.
    Ends,
}

/// Cancels the command at Ctrl-C and its like. Never comes back with anything but an error: the
/// cancelled command's outcome is what ends the wait.
pub(crate) async fn stop_on_signal<T>(cancel: &Cancel, first: FirstInterrupt) -> Result<T> {
    let mut patient = first == FirstInterrupt::IsTheCommands;
    let mut too_late: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(std::future::pending());
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut stop = signal(SignalKind::from_raw(STOP))?;
    loop {
        tokio::select! {
            // Ctrl-Z: the line about progress is not left behind on the shell's terminal.
            _ = stop.recv() => {
                CONSOLE.clear_status();
                rustix::process::kill_process(rustix::process::getpid(), Signal::STOP)?;
                continue;
            }
            _ = interrupt.recv() => if std::mem::take(&mut patient) {
                cancel.interrupt();
                too_late = Box::pin(tokio::time::sleep(GRACE));
                continue;
            },
            () = &mut too_late => too_late = Box::pin(std::future::pending()),
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
        }
        cancel.cancel();
    }
}

/// Tells what the fence refused, and what else the exit code does not say.
fn explain(outcome: &Outcome) {
    match outcome.execution.ending {
        Ending::TimedOut => paint::remark("the command took too long and was killed"),
        Ending::FellSilent => {
            paint::remark("the command printed nothing for too long and was killed");
        }
        Ending::Cancelled => paint::remark("the command was cancelled"),
        Ending::Exited => {}
    }
    for hit in &outcome.limits_hit {
        paint::remark(&hit.message.replace("`timeout`", "`--timeout`"));
    }
    for denial in &outcome.denials {
        paint::remark(&format!(
            "denied: {}\n  to allow it: {}",
            denial.line(),
            denial.allow
        ));
    }
    if let Some(why) = &outcome.not_retried {
        paint::remark(&format!(
            "not run again: {}",
            prompt::why_no_second_run(why)
        ));
    }
    let left = &outcome.execution.exit.left_running;
    if !left.is_empty() {
        let names: Vec<_> = left
            .iter()
            .map(|left| format!("{} ({})", left.command, left.pid))
            .collect();
        paint::remark(&format!(
            "left running, and ended now: {}",
            names.join(", ")
        ));
    }
}
