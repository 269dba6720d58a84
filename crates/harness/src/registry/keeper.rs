//! The keeper of a command: the task that owns it, does what it is ordered to, and writes into a book
//! what is known of it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringfence_jail::Terminal;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

use super::unread_output::{UnreadOutput, is_found};
use super::{End, Since, Until};
use crate::execution::{Ending, Execution, Remaining, Running, Step, Stopwatch};
use crate::output::{OutputFile, Screen, Stream};

/// What is kept.
pub(crate) enum Charge {
    /// A command.
    Command {
        /// The command.
        running: Box<Running>,
        /// How long things may take.
        timing: Timing,
        /// What to do once it has ended.
        epilogue: Epilogue,
    },
    /// What a command left running.
    Leftovers(Box<Remaining>),
}

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// Output after the command's end, which something it left running may hold back.
    pub(crate) drain: Duration,
    /// The command itself; no limit if absent.
    pub(crate) timeout: Option<Duration>,
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

#[derive(Debug)]
pub(super) enum Order {
    /// Take in what has been printed by now, and say when that is done.
    CatchUp(oneshot::Sender<()>),
    Signal(i32),
    /// Ask it to end, and end it after this long.
    Stop(Duration),
    Kill,
}

#[derive(Debug)]
pub(super) struct Shared {
    book: Mutex<Book>,
    /// Told at every change.
    pub(super) news: watch::Sender<()>,
}

/// What is known of the command so far.
#[derive(Debug)]
pub(super) struct Book {
    pub(super) unread: UnreadOutput,
    pub(super) screen: Option<Screen>,
    /// What a program asked its terminal, answered but not typed yet.
    answers: Vec<u8>,
    pub(super) bytes: u64,
    /// The file with the whole output, once there is one.
    pub(super) file: Option<OutputFile>,
    pub(super) end: Option<End>,
    /// Whether somebody has been told of the end.
    pub(super) told: bool,
}

impl Shared {
    pub(super) fn new(unread: UnreadOutput, screen: Option<Screen>) -> Self {
        Self {
            book: Mutex::new(Book {
                unread,
                screen,
                answers: Vec::new(),
                bytes: 0,
                file: None,
                end: None,
                told: false,
            }),
            news: watch::Sender::new(()),
        }
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a command until it has ended.
    pub(super) async fn keep(
        &self,
        charge: Charge,
        terminal: Option<Arc<Terminal>>,
        orders: mpsc::UnboundedReceiver<Order>,
    ) {
        let end = match charge {
            Charge::Command {
                running,
                timing,
                epilogue,
            } => {
                let clock = running.clock().clone();
                let followed = self.follow(*running, terminal, orders, timing).await;
                // The warden is gone, and the command with it.
                epilogue(followed.map_err(|_| Lost {
                    after: clock.elapsed(),
                }))
            }
            Charge::Leftovers(remaining) => self.follow_leftovers(*remaining, orders).await,
        };
        {
            let book = &mut *self.book();
            book.file.clone_from(&end.file);
            book.end = Some(end);
        }
        self.news.send_replace(());
    }

    async fn follow(
        &self,
        mut running: Running,
        terminal: Option<Arc<Terminal>>,
        mut orders: mpsc::UnboundedReceiver<Order>,
        Timing { drain, timeout }: Timing,
    ) -> io::Result<Execution> {
        const SIGTERM: i32 = 15;
        let mut take = |stream, bytes: &[u8]| self.take(stream, bytes);
        let clock = running.clock().clone();
        let out_of_time = async {
            match timeout {
                Some(timeout) => clock.reaches(timeout).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(out_of_time);
        // When the patience with one that was asked to end is over.
        let mut asked: Option<Instant> = None;
        let ending = loop {
            let patience = async {
                match asked {
                    Some(until) => sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    Some(Order::CatchUp(done)) => {
                        running.catch_up(&mut take)?;
                        self.book().file = running.file();
                        let _ = done.send(());
                    }
                    // One that has ended in the meantime takes no signal.
                    Some(Order::Signal(number)) => drop(running.signal(number)),
                    Some(Order::Stop(grace)) => {
                        let _ = running.signal(SIGTERM);
                        asked.get_or_insert(Instant::now() + grace);
                    }
                    Some(Order::Kill) | None => break Ending::Cancelled,
                },
                () = patience => break Ending::Cancelled,
                () = &mut out_of_time => break Ending::TimedOut,
                step = running.step(&mut take) => match step {
                    Ok(Step::Output) => {
                        self.book().file = running.file();
                        self.news.send_replace(());
                        self.answer_queries(terminal.as_deref()).await;
                        // Others get their turn after every piece, however fast this one prints.
                        tokio::task::yield_now().await;
                    }
                    Ok(Step::Exited) | Err(_) if asked.is_some() => break Ending::Cancelled,
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
                    // A signal would have to name one of several processes, and there is no call that
                    // waits for a word of theirs.
                    if matches!(order, Some(Order::Stop(_) | Order::Kill) | None) {
                        ending = Ending::Cancelled;
                        let _ = remaining.kill();
                    }
                }
                step = remaining.step(&mut take) => match step {
                    Ok(Step::Output) => {
                        self.news.send_replace(());
                        tokio::task::yield_now().await;
                    }
                    Ok(Step::Exited) | Err(_) => break,
                },
            }
        }
        End::of_leftovers(ending, clock.elapsed())
    }

    /// Takes output in; it is news once all that belongs to it is in the book.
    fn take(&self, stream: Stream, bytes: &[u8]) {
        let book = &mut *self.book();
        book.bytes += bytes.len() as u64;
        book.unread.push(stream, bytes);
        if let Some(screen) = &mut book.screen {
            let answers = screen.feed(bytes);
            book.answers.extend(answers);
        }
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
    pub(super) fn has(&self, until: &Until, since: &Since) -> bool {
        self.end.is_some()
            || match until {
                Until::End => false,
                Until::Output => !self.unread.is_empty() && self.has_news(since),
                Until::Pattern(pattern) if since.bytes == 0 => self.unread.matches(pattern),
                Until::Pattern(pattern) => {
                    let fresh = self.unread.last(self.bytes - since.bytes);
                    is_found(pattern, &fresh)
                }
            }
    }

    /// Whether anything has been printed since, other than what was typed.
    fn has_news(&self, since: &Since) -> bool {
        let fresh = self.bytes - since.bytes;
        fresh > since.echo.len() as u64 || {
            let fresh = self.unread.last(fresh);
            !since.echo.starts_with(&fresh)
        }
    }
}
