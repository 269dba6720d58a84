//! Ctrl-C once stops the turn, and twice leaves. While the model is waited for, a line says for how long.

use std::convert::Infallible;
use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Result;
use ringfence::Cancel;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use super::look::time;
use super::view::View;
use crate::terminal::CONSOLE;
use crate::{exit, paint};

/// What turns while somebody waits.
const TURNING: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// How often it turns.
const STEP: Duration = Duration::from_millis(120);

/// Stops the turn at the first signal, or when that was the answer to a question. Ends the program at the second: nobody waits any more.
pub(super) async fn watch(
    cancel: &Cancel,
    view: &View,
    stop: &Notify,
    json: bool,
) -> Result<Infallible> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut turning = tokio::time::interval(STEP);
    let mut steps = 0;
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
            () = stop.notified() => {
                cancel.cancel();
                continue;
            }
            _ = turning.tick() => {
                steps += 1;
                if let Some((turn, elapsed)) = view.waiting().filter(|_| !json) {
                    let turns = TURNING[steps % TURNING.len()];
                    CONSOLE.show_status(&format!("{turns} turn {turn}: waiting for the model, {}", time(elapsed)));
                }
                continue;
            }
        }
        if cancel.is_cancelled() {
            CONSOLE.clear_status();
            std::process::exit(i32::from(exit::CANCELLED));
        }
        cancel.cancel();
        view.rest();
        paint::remark("stopping the turn; Ctrl-C again to leave at once");
    }
}

/// What the model is to do instead; none if somebody leaves, or nobody is there.
pub(super) async fn what_instead() -> Option<String> {
    if !std::io::stdin().is_terminal() {
        return None;
    }
    paint::aside("What instead? An empty line, Ctrl-D or Ctrl-C leaves.");
    let mut interrupt = signal(SignalKind::interrupt()).ok()?;
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let line = tokio::select! {
        line = read => line.ok()?.ok()?,
        _ = interrupt.recv() => return None,
    };
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}
