//! The time between a stage's being ready and its command's being there.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::Shutdown;

use crate::standing::Standing;

use super::command::Word;
use super::guard::{Guard, Noticed};
use super::protocol::{self, Failure, RawPath};

/// How long a stage that was made ahead of need waits for its command. It may hold names in the
/// user's folder, and nobody should find those there all day long.
const IDLE: Duration = Duration::from_secs(30);

/// What became of the waiting.
pub(super) enum Start {
    /// The program has been executed.
    Started(Started),
    /// It could not be.
    Failed(Failure),
    /// Nobody wanted the stage.
    Unwanted,
}

/// A command that has started.
#[derive(Default)]
pub(super) struct Started {
    /// The outer end of its terminal, if it has one.
    pub(super) terminal: Option<OwnedFd>,
    /// What was covered before it could do anything.
    pub(super) covered: Vec<Standing>,
    /// What lay open when it may have been there already.
    pub(super) exposed: Vec<RawPath>,
}

impl Started {
    /// Has the guard look. What it mends before the command is there was used by nobody. Says
    /// whether a command may still be taken.
    fn look(&mut self, guard: &mut Guard<'_>, word: &OwnedFd) -> bool {
        let noticed = guard.attend();
        let covered = guard.covered();
        let is_before = is_silent(word);
        if is_before {
            self.covered = covered;
        }
        match noticed {
            Ok(Noticed::Nothing) => true,
            Ok(Noticed::Used(paths)) => {
                self.exposed
                    .extend(paths.into_iter().filter(|_| !is_before));
                true
            }
            Ok(Noticed::Unlisted) => false,
            // One that is on its way all the same has to end.
            Err(_) => {
                self.exposed.extend(guard.in_doubt());
                false
            }
        }
    }
}

/// Whether the process that shall become the command has nothing to say, nor has become it.
fn is_silent(word: &OwnedFd) -> bool {
    let mut polled = [PollFd::new(word, PollFlags::IN)];
    let at_once = Timespec::default();
    matches!(rustix::event::poll(&mut polled, Some(&at_once)), Ok(0))
}

/// Waits until the command's process has become the command. Nothing of the command's runs before
/// that.
pub(super) fn wait(
    word: &OwnedFd,
    launch: Option<&OwnedFd>,
    mut guard: Option<&mut Guard<'_>>,
) -> io::Result<Start> {
    let deadline = Instant::now() + IDLE;
    let mut started = Started {
        covered: guard
            .as_ref()
            .map_or_else(Vec::new, |guard| guard.covered()),
        ..Started::default()
    };
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
            && !started.look(guard, word)
        {
            close();
        }
        if from_word {
            match protocol::receive::<Word>(word)? {
                Some((Word::Terminal, along)) => started.terminal = along.into_iter().next(),
                Some((Word::Failed(failure), _)) => return Ok(Start::Failed(failure)),
                Some((Word::Unwanted, _)) => return Ok(Start::Unwanted),
                Some((Word::Confined(_), _)) => {}
                None => return Ok(Start::Started(started)),
            }
        }
    }
}
