//! The time between a stage's being ready and its command's being there.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::Shutdown;

use super::command::Word;
use super::guard::{Guard, Noticed};
use super::protocol::{self, Failure};

/// How long a stage that was made ahead of need waits for its command. It may hold names in the
/// user's folder, and nobody should find those there all day long.
const IDLE: Duration = Duration::from_secs(30);

/// What became of the waiting.
pub(super) enum Start {
    /// The program has been executed. The outer end of its terminal, if it has one.
    Started(Option<OwnedFd>),
    /// It could not be.
    Failed(Failure),
    /// Nobody wanted the stage.
    Unwanted,
}

/// Waits until the command's process has become the command. Nothing of the command's runs before
/// that, so that whatever the guard mends meanwhile was used by nobody.
pub(super) fn wait(
    word: &OwnedFd,
    launch: Option<&OwnedFd>,
    mut guard: Option<&mut Guard<'_>>,
) -> io::Result<Start> {
    let deadline = Instant::now() + IDLE;
    let mut terminal = None;
    let mut is_closed = launch.is_none();
    // A command that is on its way is taken; later ones are refused, and go to another stage.
    let mut close = || {
        if let Some(launch) = launch.filter(|_| !std::mem::replace(&mut is_closed, true)) {
            let _ = rustix::net::shutdown(launch, Shutdown::Read);
        }
    };
    loop {
        let mut polled = vec![PollFd::new(word, PollFlags::IN)];
        let events = guard.as_ref().map(|guard| guard.descriptor());
        polled.extend(events.map(|events| PollFd::from_borrowed_fd(events, PollFlags::IN)));
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: left.as_secs().cast_signed(),
            tv_nsec: left.subsec_nanos().into(),
        };
        let pause = launch.filter(|_| left.tv_sec > 0).map(|_| &left);
        match rustix::event::poll(&mut polled, pause) {
            Ok(0) => close(),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [from_word, from_guard] = [0, 1].map(|index| {
            polled
                .get(index)
                .is_some_and(|polled| !polled.revents().is_empty())
        });
        if from_guard
            && let Some(guard) = &mut guard
            && !matches!(guard.attend(), Ok(Noticed::Nothing | Noticed::Used(_)))
        {
            close();
        }
        if from_word {
            match protocol::receive::<Word>(word)? {
                Some((Word::Terminal, along)) => terminal = along.into_iter().next(),
                Some((Word::Failed(failure), _)) => return Ok(Start::Failed(failure)),
                Some((Word::Unwanted, _)) => return Ok(Start::Unwanted),
                Some((Word::Confined(_), _)) => {}
                None => return Ok(Start::Started(terminal)),
            }
        }
    }
}
