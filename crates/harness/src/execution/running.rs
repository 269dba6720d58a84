//! A started command and the output that it gives, one step at a time.
//!
//! Whoever holds a [`Running`] owns the command: dropping it kills it and everything that it
//! started. It can change hands between steps, from the foreground to the background.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ringfence_jail::{Output, Process, Terminal};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use super::{Ending, Execution, Stopwatch};
use crate::output::{Captured, OutputFile, Stream, Transcript};

/// How much is read at once.
const CHUNK: usize = 256 * 1024;
/// The same for one of many: smaller, so that each has its turn soon.
const SMALL_CHUNK: usize = 32 * 1024;
/// The same on a terminal, which never gives more than a page or two.
const TERMINAL_CHUNK: usize = 16 * 1024;
/// Silence after which nothing more is expected from a command that left something running.
const QUIET: Duration = Duration::from_millis(100);

/// A command that has been started.
#[derive(Debug)]
pub struct Running {
    process: Process,
    source: Source,
    transcript: Transcript,
    clock: Stopwatch,
}

/// What a step brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Output, or the end of a stream.
    Output,
    /// The command has ended; output may still come.
    Exited,
}

impl Running {
    /// Takes charge of a started command. Its time counts from now, on the clock of its call.
    pub fn new(mut process: Process, transcript: Transcript, clock: Stopwatch) -> io::Result<Self> {
        clock.restart();
        let source = match process.output.take() {
            Some(Output::Pipes { stdout, stderr }) => Source::pipes(stdout, stderr),
            Some(Output::Terminal(terminal)) => Source::terminal(terminal),
            None => return Err(io::Error::other("the command's output was taken already")),
        };
        Ok(Self {
            process,
            source,
            transcript,
            clock,
        })
    }

    /// The time that counts against the command.
    pub(crate) fn clock(&self) -> &Stopwatch {
        &self.clock
    }

    /// From now on it is one of many that share a reader.
    pub(crate) fn share_reader(&mut self) {
        self.source.share_reader();
    }

    /// What it has printed so far.
    pub(crate) fn so_far(&self) -> Captured {
        self.transcript.so_far()
    }

    /// The file with its output so far, if that is long.
    pub(crate) fn file(&self) -> Option<OutputFile> {
        self.transcript.file()
    }

    /// The terminal that it runs on, if it does.
    pub(crate) fn terminal(&self) -> Option<Arc<Terminal>> {
        match &self.source {
            Source::Terminal(screenward) => Some(Arc::clone(&screenward.terminal)),
            Source::Pipes { .. } => None,
        }
    }

    /// Its standard input, if that is a pipe of ours.
    pub(crate) fn take_input(&mut self) -> Option<pipe::Sender> {
        self.process.input.take()
    }

    /// Takes in what comes next: output, or the command's end. May be dropped half-way without
    /// losing anything.
    pub(crate) async fn step(&mut self, take: &mut impl FnMut(Stream, &[u8])) -> io::Result<Step> {
        let Self {
            process,
            source,
            transcript,
            ..
        } = self;
        tokio::select! {
            biased;
            taken = source.next(), if source.is_open() => {
                deliver(taken?, transcript, take);
                Ok(Step::Output)
            }
            exit = process.exited() => exit.map(|_| Step::Exited),
        }
    }

    /// Takes in what both streams hold at one moment: whoever has seen a piece of one then knows
    /// what was printed to the other before it.
    pub(crate) fn catch_up(&mut self, take: &mut impl FnMut(Stream, &[u8])) -> io::Result<()> {
        let Self {
            source, transcript, ..
        } = self;
        source.catch_up(|piece| deliver(Some(piece), transcript, take))
    }

    /// Sends a signal to the command's process group.
    pub(crate) fn signal(&self, number: i32) -> io::Result<()> {
        self.process.signal(number)
    }

    /// Waits for its end, reads what is left of its output and closes the books.
    pub(crate) async fn finish(
        mut self,
        ending: Ending,
        drain: Duration,
        take: &mut impl FnMut(Stream, &[u8]),
    ) -> io::Result<Execution> {
        if ending != Ending::Exited {
            self.process.kill()?;
        }
        let exit = self.process.exited().await?;
        let left = ending == Ending::Exited && !exit.left_running.is_empty();
        let silence = if left { QUIET } else { drain };
        let _ = tokio::time::timeout(drain, self.drain(silence, take)).await;
        Ok(Execution {
            ending,
            exit,
            output: self.transcript.finish(),
            duration: self.clock.elapsed(),
            remaining: left.then_some(Remaining {
                process: self.process,
                source: self.source,
            }),
        })
    }

    /// Takes in the rest, until all is closed or nothing comes for a while.
    async fn drain(&mut self, silence: Duration, take: &mut impl FnMut(Stream, &[u8])) {
        while self.source.is_open() {
            match tokio::time::timeout(silence, self.source.next()).await {
                Ok(Ok(taken)) => deliver(taken, &mut self.transcript, take),
                Ok(Err(_)) | Err(_) => return,
            }
        }
    }
}

fn deliver(taken: Taken<'_>, transcript: &mut Transcript, take: &mut impl FnMut(Stream, &[u8])) {
    if let Some((stream, bytes)) = taken {
        transcript.push(stream, bytes);
        take(stream, bytes);
    }
}

/// What a command left running when it ended: the run, and what it still prints to.
#[derive(Debug)]
pub struct Remaining {
    process: Process,
    source: Source,
}

impl Remaining {
    /// Takes in what comes next, so that it never stands still or dies for want of a reader;
    /// [`Step::Exited`] when nothing of it is left.
    pub(crate) async fn step(&mut self, take: &mut impl FnMut(Stream, &[u8])) -> io::Result<Step> {
        let Self { process, source } = self;
        tokio::select! {
            biased;
            taken = source.next(), if source.is_open() => {
                if let Some((stream, bytes)) = taken? {
                    take(stream, bytes);
                }
                Ok(Step::Output)
            }
            gone = process.gone() => gone.map(|()| Step::Exited),
        }
    }

    /// Kills it at once.
    pub(crate) fn kill(&self) -> io::Result<()> {
        self.process.kill()
    }
}

/// A piece of output; nothing at the end of a stream.
type Taken<'a> = Option<(Stream, &'a [u8])>;

/// Where a command's output comes from. Buffers are grown at the first read, so that a command
/// that only waits holds none.
#[derive(Debug)]
enum Source {
    Pipes { stdout: Pipe, stderr: Pipe },
    Terminal(Screenward),
}

#[derive(Debug)]
struct Pipe {
    end: Option<pipe::Receiver>,
    chunk: usize,
    buffer: Vec<u8>,
}

/// A terminal gives all that is printed on one stream.
#[derive(Debug)]
struct Screenward {
    terminal: Arc<Terminal>,
    open: bool,
    buffer: Vec<u8>,
}

impl Source {
    fn pipes(stdout: pipe::Receiver, stderr: pipe::Receiver) -> Self {
        let pipe = |end| Pipe {
            end: Some(end),
            chunk: CHUNK,
            buffer: Vec::new(),
        };
        Self::Pipes {
            stdout: pipe(stdout),
            stderr: pipe(stderr),
        }
    }

    fn terminal(terminal: Terminal) -> Self {
        Self::Terminal(Screenward {
            terminal: Arc::new(terminal),
            open: true,
            buffer: Vec::new(),
        })
    }

    fn share_reader(&mut self) {
        if let Self::Pipes { stdout, stderr } = self {
            for pipe in [stdout, stderr] {
                pipe.chunk = SMALL_CHUNK;
                pipe.buffer = Vec::new();
            }
        }
    }

    fn is_open(&self) -> bool {
        match self {
            Self::Pipes { stdout, stderr } => stdout.end.is_some() || stderr.end.is_some(),
            Self::Terminal(screenward) => screenward.open,
        }
    }

    /// Takes in what comes next from either stream.
    async fn next(&mut self) -> io::Result<Taken<'_>> {
        match self {
            Self::Pipes { stdout, stderr } => {
                let (stream, count) = tokio::select! {
                    count = stdout.read() => (Stream::Stdout, count?),
                    count = stderr.read() => (Stream::Stderr, count?),
                };
                let pipe = match stream {
                    Stream::Stdout => stdout,
                    Stream::Stderr => stderr,
                };
                Ok(pipe.given(count).map(|bytes| (stream, bytes)))
            }
            Self::Terminal(screenward) => {
                screenward.buffer.resize(TERMINAL_CHUNK, 0);
                let count = screenward.terminal.read(&mut screenward.buffer).await?;
                screenward.open = count > 0;
                let bytes = &screenward.buffer[..count];
                Ok(screenward.open.then_some((Stream::Stdout, bytes)))
            }
        }
    }

    /// Takes in what both streams hold at one moment.
    fn catch_up(&mut self, mut take: impl FnMut((Stream, &[u8]))) -> io::Result<()> {
        // Two streams that change with every look are a flood, of which nobody waits for a part.
        const LOOKS: usize = 8;
        let Self::Pipes { stdout, stderr } = self else {
            return Ok(());
        };
        let (mut in_stdout, mut in_stderr) = (0, stderr.held()?);
        for _ in 0..LOOKS {
            in_stdout = stdout.held()?;
            // Nobody else reads: if it holds no more than before, nothing was printed in between.
            let before = std::mem::replace(&mut in_stderr, stderr.held()?);
            if before == in_stderr {
                break;
            }
        }
        stdout.read_held(in_stdout, |bytes| take((Stream::Stdout, bytes)))?;
        stderr.read_held(in_stderr, |bytes| take((Stream::Stderr, bytes)))
    }
}

impl Pipe {
    async fn read(&mut self) -> io::Result<usize> {
        match &mut self.end {
            Some(end) => {
                self.buffer.resize(self.chunk, 0);
                end.read(&mut self.buffer).await
            }
            None => std::future::pending().await,
        }
    }

    /// How many bytes wait in it.
    fn held(&self) -> io::Result<usize> {
        let Some(end) = &self.end else { return Ok(0) };
        let held = rustix::io::ioctl_fionread(end)?;
        Ok(usize::try_from(held).unwrap_or(usize::MAX))
    }

    /// Reads so much of what waits in it.
    fn read_held(&mut self, mut held: usize, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        while let Some(end) = self.end.as_ref().filter(|_| held > 0) {
            self.buffer.resize(self.chunk, 0);
            let room = held.min(self.buffer.len());
            // Not by way of the runtime, which may not have heard yet that there is something.
            let count = rustix::io::read(end, &mut self.buffer[..room])?;
            take(&self.buffer[..count]);
            held -= count;
        }
        Ok(())
    }

    fn given(&mut self, count: usize) -> Option<&[u8]> {
        if count == 0 {
            self.end = None;
            self.buffer = Vec::new();
        }
        (count > 0).then(|| &self.buffer[..count])
    }
}
