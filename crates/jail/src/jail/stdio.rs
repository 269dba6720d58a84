//! A command's standard input, output and error: what is asked for, and the ends of it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use tokio::net::unix::pipe;

use crate::process::Output;
use crate::terminal::TerminalSize;

/// A command's standard input, output and error.
#[derive(Debug)]
pub enum Io {
    /// Output and error through pipes.
    Pipes(Input),
    /// A terminal of its own.
    Terminal(TerminalSize),
}

impl Io {
    /// The same once more.
    pub(super) fn again(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Terminal(size) => Self::Terminal(*size),
            Self::Pipes(input) => Self::Pipes(match input {
                Input::Null => Input::Null,
                Input::Inherited => Input::Inherited,
                Input::Pipe => Input::Pipe,
                Input::From(descriptor) => Input::From(descriptor.try_clone()?),
            }),
        })
    }
}

/// Where standard input comes from.
#[derive(Debug)]
pub enum Input {
    /// Nowhere.
    Null,
    /// The harness's own standard input.
    Inherited,
    /// A descriptor of the caller's.
    From(OwnedFd),
    /// A pipe that the caller writes to.
    Pipe,
}

/// How much a pipe holds: a command that prints much stops less often for its reader.
const PIPE_BYTES: usize = 1 << 20;

pub(super) type PipeEnds = (Vec<OwnedFd>, Option<pipe::Sender>, Option<Output>);

/// The command's ends of its pipes, and ours.
pub(crate) fn ends(io: Io) -> io::Result<PipeEnds> {
    let Io::Pipes(input) = io else {
        return Ok((Vec::new(), None, None));
    };
    let (stdin, sender) = match input {
        Input::From(descriptor) => (descriptor, None),
        Input::Inherited => (rustix::io::dup(rustix::stdio::stdin())?, None),
        Input::Null => (
            rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?,
            None,
        ),
        Input::Pipe => {
            let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(&writer, true)?;
            (reader, Some(pipe::Sender::from_owned_fd(writer)?))
        }
    };
    let (stdout, stdout_end) = output_pipe()?;
    let (stderr, stderr_end) = output_pipe()?;
    Ok((
        vec![stdin, stdout_end, stderr_end],
        sender,
        Some(Output::Pipes { stdout, stderr }),
    ))
}

fn output_pipe() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    // An ordinary user has a budget for this; the default size serves as well.
    let _ = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
    rustix::io::ioctl_fionbio(&reader, true)?;
    Ok((pipe::Receiver::from_owned_fd(reader)?, writer))
}
