//! Driving one command from its start to its end: output taken in as fast as it comes, time
//! bounded, cancellation heeded.

use std::io;
use std::time::Duration;

use ringfence_jail::{Exit, Output, Process};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::output::{Captured, Stream, Transcript};

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// The command itself; no limit if absent.
    pub timeout: Option<Duration>,
    /// Output after the command's end, which something it left running may hold back.
    pub drain: Duration,
}

/// How a command came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    Exited,
    /// It took too long and was killed.
    TimedOut,
    /// It was cancelled and killed.
    Cancelled,
}

/// A command that has run.
#[derive(Debug)]
pub struct Execution {
    /// How it came to its end.
    pub ending: Ending,
    /// The kernel's word on it.
    pub exit: Exit,
    /// What it printed.
    pub output: Captured,
    /// How long it took.
    pub duration: Duration,
    /// What it left running, if anything: the owner decides about its life.
    pub remaining: Option<Remaining>,
}

/// What a command left running: the run, and the pipes that it still prints to.
#[derive(Debug)]
pub struct Remaining {
    process: Process,
    pipes: Pipes,
}

impl Remaining {
    /// Takes in what it prints until nothing of it is left, so that it never stands still or dies
    /// for want of a reader. Dropping this half-way kills the run.
    pub async fn attend(mut self, mut take: impl FnMut(Stream, &[u8])) -> io::Result<()> {
        while self.pipes.are_open() {
            self.pipes.next(&mut take).await?;
        }
        self.process.gone().await
    }
}

impl Execution {
    /// The exit code: 124 for a time-out, 137 for a cancellation, 128 and the number for a signal.
    pub fn exit_code(&self) -> i32 {
        match self.ending {
            Ending::TimedOut => 124,
            Ending::Cancelled => 137,
            Ending::Exited => self.exit.code(),
        }
    }
}

/// A handle to stop a command from elsewhere.
#[derive(Debug, Clone)]
pub struct Cancel(watch::Sender<bool>);

impl Cancel {
    /// A handle that nobody has used yet.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Stops the command. More than once is no different from once.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    async fn cancelled(&self) {
        let mut receiver = self.0.subscribe();
        // The sender lives as long as `self`.
        let _ = receiver.wait_for(|cancelled| *cancelled).await;
    }
}

impl Default for Cancel {
    fn default() -> Self {
        Self::new()
    }
}

/// How much is read at once.
const CHUNK: usize = 256 * 1024;
/// Silence after which nothing more is expected from a command that left something running.
const QUIET: Duration = Duration::from_millis(100);

/// Runs a command to its end.
pub async fn drive(
    mut process: Process,
    timing: Timing,
    cancel: &Cancel,
    mut transcript: Transcript,
    mut listen: impl FnMut(Stream, &[u8]),
) -> io::Result<Execution> {
    let started = Instant::now();
    let Some(Output::Pipes { stdout, stderr }) = process.output.take() else {
        return Err(io::Error::other(
            "a command on a terminal cannot be driven to its end",
        ));
    };
    let mut pipes = Pipes::new(stdout, stderr);
    let mut take = |stream, bytes: &[u8]| {
        transcript.push(stream, bytes);
        listen(stream, bytes);
    };
    let deadline = timing.timeout.map(|timeout| started + timeout);
    let ending = tokio::select! {
        ending = until_exit(&mut process, &mut pipes, &mut take) => ending?,
        () = at(deadline) => Ending::TimedOut,
        () = cancel.cancelled() => Ending::Cancelled,
    };
    if ending != Ending::Exited {
        process.kill()?;
    }
    let exit = process.exited().await?;
    let left = ending == Ending::Exited && !exit.left_running.is_empty();
    let silence = if left { QUIET } else { timing.drain };
    let _ = tokio::time::timeout(timing.drain, pipes.drain(silence, &mut take)).await;
    Ok(Execution {
        ending,
        exit,
        output: transcript.finish(),
        duration: started.elapsed(),
        remaining: left.then_some(Remaining { process, pipes }),
    })
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Takes in output until the command has ended.
async fn until_exit(
    process: &mut Process,
    pipes: &mut Pipes,
    take: &mut impl FnMut(Stream, &[u8]),
) -> io::Result<Ending> {
    loop {
        tokio::select! {
            biased;
            taken = pipes.next(take), if pipes.are_open() => taken?,
            exit = process.exited() => return exit.map(|_| Ending::Exited),
        }
    }
}

/// The command's two pipes.
#[derive(Debug)]
struct Pipes {
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    buffers: [Vec<u8>; 2],
}

impl Pipes {
    fn new(stdout: pipe::Receiver, stderr: pipe::Receiver) -> Self {
        Self {
            stdout: Some(stdout),
            stderr: Some(stderr),
            buffers: [vec![0; CHUNK], vec![0; CHUNK]],
        }
    }

    fn are_open(&self) -> bool {
        self.stdout.is_some() || self.stderr.is_some()
    }

    /// Takes in what comes next from either pipe.
    async fn next(&mut self, take: &mut impl FnMut(Stream, &[u8])) -> io::Result<()> {
        let [out, err] = &mut self.buffers;
        let (stream, count) = tokio::select! {
            count = read(&mut self.stdout, out) => (Stream::Stdout, count?),
            count = read(&mut self.stderr, err) => (Stream::Stderr, count?),
        };
        let (pipe, buffer) = match stream {
            Stream::Stdout => (&mut self.stdout, out),
            Stream::Stderr => (&mut self.stderr, err),
        };
        if count == 0 {
            *pipe = None;
        } else {
            take(stream, &buffer[..count]);
        }
        Ok(())
    }

    /// Takes in the rest, until both pipes are closed or nothing comes for a while.
    async fn drain(&mut self, silence: Duration, take: &mut impl FnMut(Stream, &[u8])) {
        while self.are_open() {
            match tokio::time::timeout(silence, self.next(take)).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return,
            }
        }
    }
}

async fn read(pipe: &mut Option<pipe::Receiver>, buffer: &mut [u8]) -> io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.read(buffer).await,
        None => std::future::pending().await,
    }
}
