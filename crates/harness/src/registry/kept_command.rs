//! A command that lives on between calls, and the task that keeps it.
//!
//! The task owns the command, reads what it prints as fast as it comes, and sees its end. Calls
//! fetch from what was read, wait for news, type, and send signals. Dropping the last handle kills
//! the command and everything that it started.

use std::sync::Arc;
use std::time::Duration;

use ringfence_jail::{Terminal, TerminalSize};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::input::Input;
use super::keeper::{Charge, Order, Shared};
use super::unread_output::UnreadOutput;
use super::{End, InputError, Layout, Since, State, Until};
use crate::output::{Captured, Drain, HeadTail, OutputFile, Screen};

/// A command that lives on between calls.
#[derive(Debug)]
pub(crate) struct KeptCommand {
    shared: Arc<Shared>,
    orders: mpsc::UnboundedSender<Order>,
    input: tokio::sync::Mutex<Input>,
    terminal: Option<Arc<Terminal>>,
    keeper: AbortHandle,
}

impl KeptCommand {
    /// Takes charge of a command.
    pub(crate) fn start(mut charge: Charge, layout: Layout, room: usize) -> Self {
        let (mut terminal, mut input) = (None, Input::None);
        if let Charge::Command { running, .. } = &mut charge {
            running.share_reader();
            terminal = running.terminal();
            input = match (&terminal, running.take_input()) {
                (Some(terminal), _) => Input::Terminal(Arc::clone(terminal)),
                (None, Some(pipe)) => Input::Pipe(pipe),
                (None, None) => Input::None,
            };
        }
        let screen = terminal
            .as_ref()
            .map(|terminal| Screen::new(terminal.size().unwrap_or_default()));
        let shared = Arc::new(Shared::new(UnreadOutput::new(layout, room), screen));
        let (orders, to_do) = mpsc::unbounded_channel();
        let own = terminal.clone();
        let keeper = tokio::spawn({
            let shared = Arc::clone(&shared);
            async move { shared.keep(charge, terminal, to_do).await }
        });
        Self {
            shared,
            orders,
            input: tokio::sync::Mutex::new(input),
            terminal: own,
            keeper: keeper.abort_handle(),
        }
    }

    /// From now on, with what a terminal would print of what is about to be typed.
    pub(crate) fn since_now(&self, typed: &str) -> Since {
        let on_terminal = self.terminal.is_some() && !self.hides_input();
        Since {
            bytes: self.bytes(),
            echo: if on_terminal {
                typed.replace('\n', "\r\n").into_bytes()
            } else {
                Vec::new()
            },
        }
    }

    /// Waits for news, until the deadline.
    pub(crate) async fn wait(&self, until: &Until, since: &Since, deadline: Instant) {
        // Looking for a pattern in a flood may take a fifth of the time, and not all of it. One
        // look at little output takes next to nothing, and is not rested from.
        const REST: u32 = 4;
        const NOTHING: Duration = Duration::from_micros(250);
        let mut news = self.shared.news.subscribe();
        loop {
            let began = Instant::now();
            if self.shared.book().has(until, since) {
                return self.catch_up().await;
            }
            let took = began.elapsed();
            if timeout_at(deadline, news.changed()).await.is_err() {
                return;
            }
            if took > NOTHING {
                sleep_until((began + took * REST).min(deadline)).await;
            }
        }
    }

    /// Waits until what was printed up to now is taken in, on either stream: of a word on standard
    /// error it may be known before what stood on standard output when it was printed.
    async fn catch_up(&self) {
        let (done, caught_up) = oneshot::channel();
        if self.orders.send(Order::CatchUp(done)).is_ok() {
            // Dropped unanswered where the command has ended, and all is in.
            let _ = caught_up.await;
        }
    }

    /// Fetches what has been printed and not been fetched before, and the end if there is one and
    /// nobody has been told of it.
    pub(crate) fn fetch(&self) -> (Captured, Option<End>) {
        let mut book = self.shared.book();
        match book.end.clone() {
            None => (book.unread.fetch(Drain::Characters), None),
            Some(end) => {
                let untold = !std::mem::replace(&mut book.told, true);
                (book.unread.fetch(Drain::Everything), untold.then_some(end))
            }
        }
    }

    /// Standard output and standard error as far as nobody has fetched them; they stay to be fetched.
    pub(crate) fn unfetched(&self) -> [HeadTail; 2] {
        self.shared.book().unread.streams()
    }

    /// Whether its input is closed because it is about to end: a moment later it has.
    pub(crate) async fn ends_soon(&self) -> bool {
        const A_MOMENT: Duration = Duration::from_millis(250);
        self.wait(&Until::End, Since::BEGINNING, Instant::now() + A_MOMENT)
            .await;
        self.end().is_some()
    }

    /// The end, if there is one, whether anybody has been told or not.
    pub(crate) fn end(&self) -> Option<End> {
        self.shared.book().end.clone()
    }

    /// How it stands.
    pub(crate) fn state(&self) -> State {
        self.shared
            .book()
            .end
            .as_ref()
            .map_or(State::Running, End::state)
    }

    /// How many bytes it has printed.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.book().bytes
    }

    /// The file with the whole output, as far as it has come, if that is long.
    pub(crate) fn file(&self) -> Option<OutputFile> {
        self.shared.book().file.clone()
    }

    /// Looks at the screen, if it runs on a terminal.
    pub(crate) fn screen<T>(&self, look: impl FnOnce(&Screen) -> T) -> Option<T> {
        self.shared.book().screen.as_ref().map(look)
    }

    /// Whether its terminal does not show what is typed, as where a password is asked for.
    pub(crate) fn hides_input(&self) -> bool {
        let terminal = self.terminal.as_deref();
        terminal.is_some_and(Terminal::hides_input)
    }

    /// Types. On pipes, an interrupt character becomes the signal that a terminal would make of it.
    pub(crate) async fn write(&self, text: &[u8], deadline: Instant) -> Result<(), InputError> {
        const SIGINT: i32 = 2;
        let interrupt = || drop(self.orders.send(Order::Signal(SIGINT)));
        let mut input = self.input.lock().await;
        input.write(text, deadline, interrupt).await
    }

    /// Closes its input.
    pub(crate) async fn close(&self, deadline: Instant) -> Result<(), InputError> {
        self.input.lock().await.close(deadline).await
    }

    /// Changes the size of its terminal.
    pub(crate) async fn resize(&self, size: TerminalSize) -> Result<(), InputError> {
        self.input.lock().await.resize(size)?;
        if let Some(screen) = &mut self.shared.book().screen {
            screen.resize(size);
        }
        Ok(())
    }

    /// Asks it to end, ends it if it has not after this long, and waits until it has ended.
    pub(crate) async fn stop(&self, grace: Duration) {
        let _ = self.orders.send(Order::Stop(grace));
        self.ended().await;
    }

    /// Ends it, and waits until it has ended.
    pub(crate) async fn kill(&self) {
        let _ = self.orders.send(Order::Kill);
        self.ended().await;
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&self) {
        let mut news = self.shared.news.subscribe();
        while self.shared.book().end.is_none() {
            if news.changed().await.is_err() {
                return;
            }
        }
    }
}

impl Drop for KeptCommand {
    fn drop(&mut self) {
        // Its task drops the command, and that kills it.
        self.keeper.abort();
    }
}
