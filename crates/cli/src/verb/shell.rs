//! `ringfence shell`: an interactive shell inside the fence, on the user's own terminal.

use std::convert::Infallible;
use std::fs::File;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use ringfence::jail::TerminalSize;
use ringfence::policy::action::{Action, RunCommand};
use ringfence::policy::command_line::CommandLine;
use ringfence::policy::verdict::Verdict;
use ringfence::{Call, Cancel, Ending, Engine, Outcome, RunOptions, Stdio};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::arguments::Common;
use crate::opening::{self, Caller};
use crate::terminal::{CONSOLE, Raw, keyboard};
use crate::verb::run;
use crate::{exit, paint, prompt, workspace};

/// Arguments of `shell`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ringfence shell                         look around inside the fence
  ringfence shell --sandbox read-only     the same, without writing anything
  ringfence shell -- vim notes.txt        one program on a terminal of its own

Leave it as you would any shell: `exit`, or Ctrl-D. What it started ends with it.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    common: Common,
    /// A program to run instead of your shell
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

/// Keys that may wait while the command takes none.
const KEYS: usize = 64;

pub(crate) async fn serve(arguments: Arguments) -> Result<ExitCode> {
    let Arguments { common, command } = arguments;
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        bail!("`shell` needs a terminal; use `ringfence run -- sh` where there is none");
    }
    let terminal = File::options()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .context("the terminal cannot be opened")?;
    workspace::check(common.cwd.as_deref())?;
    let engine = opening::open(&common, Caller::Person, run::remarks())?;
    let walks = command.is_empty();
    let argv = if walks {
        vec![engine.shell().path.display().to_string()]
    } else {
        command
    };
    let mut command = RunCommand {
        tool: "shell".to_owned(),
        ..engine.person_command(CommandLine::Argv(argv))
    };
    // What the command draws on is the user's own terminal in the end.
    if let Ok(term) = std::env::var("TERM") {
        command.environment.insert("TERM".to_owned(), term);
    }
    if walks
        && let Verdict::Allow(permit) = engine.check(Action::RunCommand(command.clone())).verdict
    {
        paint::remark(&format!(
            "inside the fence ({}); `exit` leaves it",
            prompt::reach(permit.confinement())
        ));
    }
    let outcome = {
        let size = keyboard::size(&terminal)?;
        let _screen = Screen::open(size);
        let raw = Raw::enter(&terminal).context("the terminal cannot be set up")?;
        Box::pin(on_terminal(&engine, command, size, terminal, &raw)).await
    }?;
    if outcome.execution.ending == Ending::Cancelled {
        paint::remark("it was ended from outside");
    }
    Ok(exit::passed_on(outcome.execution.exit_code()))
}

/// Runs a command on a terminal of its own, with this one wired through to it.
async fn on_terminal(
    engine: &Engine,
    command: RunCommand,
    size: TerminalSize,
    terminal: File,
    raw: &Raw,
) -> Result<Outcome> {
    let cancel = Cancel::new();
    let call = Call {
        cancel: cancel.clone(),
        ..engine.new_call()
    };
    let (keys, typed) = mpsc::channel(KEYS);
    let lost = cancel.clone();
    let options = RunOptions {
        stdio: Stdio::Terminal { size, typed },
        output_sink: Some(Arc::new(move |stream, bytes| {
            if CONSOLE.print(stream, bytes).is_err() {
                lost.cancel();
            }
        })),
        ..RunOptions::default()
    };
    let running = engine.run_command(&call, command, options);
    let hand_on = async {
        // A terminal that has gone away takes the shell with it.
        let _ = keyboard::hand_on(terminal, raw, &keys).await;
        cancel.cancel();
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        outcome = running => Ok(outcome?),
        never = hand_on => match never {},
        never = stop_on_signal(&cancel) => match never? {},
    }
}

/// Cancels the command when somebody wants this process gone. Keys like Ctrl-C are the command's.
async fn stop_on_signal(cancel: &Cancel) -> Result<Infallible> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut quit = signal(SignalKind::quit())?;
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
        }
        cancel.cancel();
    }
}

/// The command's screen, kept in mind while it lives.
struct Screen;

impl Screen {
    fn open(size: TerminalSize) -> Self {
        CONSOLE.open_screen(size);
        Self
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        CONSOLE.close_screen();
    }
}
