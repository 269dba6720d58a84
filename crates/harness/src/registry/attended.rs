//! A command that lives on between calls, and the task that attends to it.
//!
//! The task owns the command, reads what it prints as fast as it comes, and sees its end. Calls
//! fetch from what was read, wait for news, type, and send signals. Dropping the last handle kills
//! the command and everything that it started.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringfence_jail::{Terminal, TerminalSize};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::input::Input;
use super::unread::Unread;
use super::{End, InputError, Layout, State, Until};
use crate::execution::{Ending, Execution, Remaining, Running, Step, Stopwatch};
use crate::output::{Captured, Drain, HeadTail, Screen, Stream};

/// What is attended to.
pub(crate) enum Charge {
    /// A command.
    Command {
        /// The command.
        running: Box<Running>,
        /// How long to read on after its end.
        drain: Duration,
        /// What to do once it has ended.
        epilogue: Epilogue,
    },
    /// What a command left running.
    Leftovers(Box<Remaining>),
}

/// What is to be done once a command has ended, or was lost: it is put on record, and made into an
/// [`End`].
pub(crate) type Epilogue = Box<dyn FnOnce(Result<Execution, Lost>) -> End + Send>;

/// A command that was lost with its warden.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lost {
    /// How long it had run.
    pub(crate) after: Duration,
}

/// A command that lives on between calls.
#[derive(Debug)]
pub(crate) struct Attended {
    shared: Arc<Shared>,
    orders: mpsc::UnboundedSender<Order>,
    input: tokio::sync::Mutex<Input>,
    terminal: Option<Arc<Terminal>>,
    attendant: AbortHandle,
}

#[derive(Debug)]
enum Order {
    Signal(i32),
    Stop,
}

#[derive(Debug)]
struct Shared {
    book: Mutex<Book>,
    /// Told at every change.
    news: watch::Sender<()>,
}

/// What is known of the command so far.
#[derive(Debug)]
struct Book {
    unread: Unread,
    screen: Option<Screen>,
    /// What a program asked its terminal, answered but not typed yet.
    answers: Vec<u8>,
    bytes: u64,
    end: Option<End>,
    /// Whether somebody has been told of the end.
    told: bool,
}

impl Attended {
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
        let shared = Arc::new(Shared {
            book: Mutex::new(Book {
                unread: Unread::new(layout, room),
                screen: terminal
                    .as_ref()
                    .map(|terminal| Screen::new(terminal.size().unwrap_or_default())),
                answers: Vec::new(),
                bytes: 0,
                end: None,
                told: false,
            }),
            news: watch::Sender::new(()),
        });
        let (orders, to_do) = mpsc::unbounded_channel();
        let own = terminal.clone();
        let attendant = tokio::spawn({
            let shared = Arc::clone(&shared);
            async move { shared.attend(charge, terminal, to_do).await }
        });
        Self {
            shared,
            orders,
            input: tokio::sync::Mutex::new(input),
            terminal: own,
            attendant: attendant.abort_handle(),
        }
    }

    /// Waits for news, until the deadline.
    pub(crate) async fn wait(&self, until: &Until, deadline: Instant) {
        // Looking for a pattern in a flood may take a fifth of the time, and not all of it. One
        // look at little output takes next to nothing, and is not rested from.
        const REST: u32 = 4;
        const NOTHING: Duration = Duration::from_micros(250);
        let mut news = self.shared.news.subscribe();
        loop {
            let began = Instant::now();
            if self.shared.book().has(until) {
                return;
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
        self.wait(&Until::End, Instant::now() + A_MOMENT).await;
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

    /// Stops it, and waits until it has ended.
    pub(crate) async fn stop(&self) {
        let _ = self.orders.send(Order::Stop);
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

impl Drop for Attended {
    fn drop(&mut self) {
        // Its task drops the command, and that kills it.
        self.attendant.abort();
    }
}

impl Shared {
    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attends to a command until it has ended.
    async fn attend(
        &self,
        charge: Charge,
        terminal: Option<Arc<Terminal>>,
        orders: mpsc::UnboundedReceiver<Order>,
    ) {
        let end = match charge {
            Charge::Command {
                running,
                drain,
                epilogue,
            } => {
                let clock = running.clock().clone();
                let followed = self.follow(*running, terminal, orders, drain).await;
                // The warden is gone, and the command with it.
                epilogue(followed.map_err(|_| Lost {
                    after: clock.elapsed(),
                }))
            }
            Charge::Leftovers(remaining) => self.follow_leftovers(*remaining, orders).await,
        };
        self.book().end = Some(end);
        self.news.send_replace(());
    }

    async fn follow(
        &self,
        mut running: Running,
        terminal: Option<Arc<Terminal>>,
        mut orders: mpsc::UnboundedReceiver<Order>,
        drain: Duration,
    ) -> io::Result<Execution> {
        let mut take = |stream, bytes: &[u8]| self.take(stream, bytes);
        let ending = loop {
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    // One that has ended in the meantime takes no signal.
                    Some(Order::Signal(number)) => drop(running.signal(number)),
                    Some(Order::Stop) | None => break Ending::Cancelled,
                },
                step = running.step(&mut take) => match step {
                    Ok(Step::Output) => {
                        self.answer_queries(terminal.as_deref()).await;
                        // Others get their turn after every piece, however fast this one prints.
                        tokio::task::yield_now().await;
                    }
                    Ok(Step::Exited) | Err(_) => break Ending::Exited,
                },
            }
        };
        running.finish(ending, drain, &mut take).await
    }

    async fn follow_leftovers(
        &self,
        mut remaining: Remaining,
        mut orders: mpsc::UnboundedReceiver<Order>,
    ) -> End {
        let clock = Stopwatch::start();
        let mut take = |stream, bytes: &[u8]| self.take(stream, bytes);
        let mut ending = Ending::Exited;
        loop {
            tokio::select! {
                biased;
                order = orders.recv(), if ending == Ending::Exited => {
                    // A signal would have to name one of several processes.
                    if !matches!(order, Some(Order::Signal(_))) {
                        ending = Ending::Cancelled;
                        let _ = remaining.kill();
                    }
                }
                step = remaining.step(&mut take) => match step {
                    Ok(Step::Output) => tokio::task::yield_now().await,
                    Ok(Step::Exited) | Err(_) => break,
                },
            }
        }
        End::of_leftovers(ending, clock.elapsed())
    }

    fn take(&self, stream: Stream, bytes: &[u8]) {
        {
            let book = &mut *self.book();
            book.bytes += bytes.len() as u64;
            book.unread.push(stream, bytes);
            if let Some(screen) = &mut book.screen {
                let answers = screen.feed(bytes);
                book.answers.extend(answers);
            }
        }
        self.news.send_replace(());
    }

    /// Answers what a program asked of its terminal.
    async fn answer_queries(&self, terminal: Option<&Terminal>) {
        // One that asks and never reads is not waited for.
        const PATIENCE: Duration = Duration::from_millis(100);
        let Some(terminal) = terminal else { return };
        let answers = std::mem::take(&mut self.book().answers);
        if !answers.is_empty() {
            let _ = tokio::time::timeout(PATIENCE, terminal.write_all(&answers)).await;
        }
    }
}

impl Book {
    fn has(&self, until: &Until) -> bool {
        self.end.is_some()
            || match until {
                Until::End => false,
                Until::Output => !self.unread.is_empty(),
                Until::Pattern(pattern) => pattern.is_match(&self.unread.peek()),
            }
    }
}
