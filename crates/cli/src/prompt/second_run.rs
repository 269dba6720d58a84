//! A second run needs what the first one has read. Standard input that can be read once only is looked
//! at before the first run, without taking anything from it: it may be meant for others too.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use ringfence::approval::{AnswerFuture, Approver};
use ringfence::policy::settle::Answer;
use ringfence::policy::verdict::{Grounds, Question};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{FileType, SeekFrom};
use rustix::pipe::{PipeFlags, SpliceFlags};
use rustix::stdio::stdin;

/// The most that is kept of what lies in a pipe: as much as a pipe holds.
const MOST: usize = 1 << 20;

/// An approver who is not asked about a second run that would find its input gone.
pub(crate) struct SecondRuns {
    asks: Arc<dyn Approver>,
    input: Input,
}

/// How standard input can be read once more.
enum Input {
    /// It is there as before: a terminal, or nothing.
    Stays,
    /// From here on.
    File(u64),
    /// All of it lay in a pipe that nobody wrote to any more. This is the same once more.
    Kept(OwnedFd),
    /// It cannot.
    Gone,
}

impl SecondRuns {
    /// Looks at standard input as it is before the first run.
    pub(crate) fn asking(asks: Arc<dyn Approver>) -> Self {
        Self {
            asks,
            input: Input::look().unwrap_or(Input::Gone),
        }
    }
}

impl Approver for SecondRuns {
    fn name(&self) -> &'static str {
        self.asks.name()
    }

    fn ask<'a>(&'a self, question: &'a Question, grounds: &'a Grounds) -> AnswerFuture<'a> {
        if question.kind().denied().is_none() {
            return self.asks.ask(question, grounds);
        }
        Box::pin(async move {
            if matches!(self.input, Input::Gone) {
                return lost();
            }
            let answer = self.asks.ask(question, grounds).await;
            let yes = matches!(
                answer,
                Answer::Approved
                    | Answer::ApprovedForSession
                    | Answer::ApprovedWithRule(_)
                    | Answer::Granted { .. }
                    | Answer::Outside
            );
            if yes && self.input.restore().is_err() {
                return lost();
            }
            answer
        })
    }
}

/// Why nobody is asked.
const LOST: &str = "what it reads comes through a pipe and was not kept, so that a second run would \
                    find it gone; give it a file (`ringfence run … < FILE`), or allow what was refused";

fn lost() -> Answer {
    Answer::Denied {
        message: Some(LOST.to_owned()),
    }
}

/// Why there was no second run, in words: where nobody was asked, nobody said no.
pub(crate) fn why_no_second_run(why: &str) -> &str {
    if why.contains(LOST) { LOST } else { why }
}

impl Input {
    fn look() -> io::Result<Self> {
        let Ok(stat) = rustix::fs::fstat(stdin()) else {
            // There is none.
            return Ok(Self::Stays);
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Self::File(rustix::fs::tell(stdin())?)),
            FileType::Fifo => Self::look_into_a_pipe(),
            FileType::Socket => Ok(Self::Gone),
            _ => Ok(Self::Stays),
        }
    }

    fn look_into_a_pipe() -> io::Result<Self> {
        let input = stdin();
        let mut watched = [PollFd::new(&input, PollFlags::IN)];
        rustix::event::poll(&mut watched, Some(&Timespec::default()))?;
        if !watched[0].revents().contains(PollFlags::HUP) {
            // More may come.
            return Ok(Self::Gone);
        }
        let holds = rustix::io::ioctl_fionread(input)?;
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        if holds == 0 {
            return Ok(Self::Kept(read));
        }
        if holds > MOST as u64 {
            return Ok(Self::Gone);
        }
        rustix::pipe::fcntl_setpipe_size(&write, MOST)?;
        // Copies without taking.
        let copied = rustix::pipe::tee(input, &write, MOST, SpliceFlags::NONBLOCK)?;
        if copied as u64 == holds {
            Ok(Self::Kept(read))
        } else {
            Ok(Self::Gone)
        }
    }

    fn restore(&self) -> io::Result<()> {
        match self {
            Self::Stays => Ok(()),
            Self::File(from) => {
                rustix::fs::seek(stdin(), SeekFrom::Start(*from))?;
                Ok(())
            }
            Self::Kept(read) => Ok(rustix::stdio::dup2_stdin(read)?),
            Self::Gone => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
