//! Plain starting and reading: the least that anybody can do who wants a command run, or to see all
//! that it prints. What the harness does is compared with this.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::pipe::PipeFlags;
use rustix::pty::OpenptFlags;

use crate::contest::Trouble;

/// As large as the pipes of fenced commands, and read with as large a buffer.
const PIPE_BYTES: usize = 1 << 20;
const CHUNK: usize = 256 * 1024;

/// A command that prints so many bytes of zeros, in large blocks: it is the reader who is measured
/// and not the printer.
pub fn printer(bytes: u64) -> [String; 5] {
    const BLOCK: u64 = 128 * 1024;
    let count = format!("count={}", bytes / BLOCK);
    ["dd", "if=/dev/zero", "bs=128K", &count, "status=none"].map(str::to_owned)
}

/// Starts a program the way the standard library does, which is `posix_spawn`, and waits for it.
pub fn time(command: &mut Command) -> Result<Duration, Trouble> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status()?;
    let took = start.elapsed();
    if status.success() {
        Ok(took)
    } else {
        Err(status.to_string().into())
    }
}

/// An error if less or more came than was printed.
pub fn whole(came: u64, printed: u64) -> Result<(), Trouble> {
    if came == printed {
        Ok(())
    } else {
        Err(format!("{came} bytes of {printed} came").into())
    }
}

/// Runs the printer on a pipe.
pub fn on_a_pipe(bytes: u64) -> Result<Duration, Trouble> {
    let start = Instant::now();
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // An ordinary user has a budget for this, in all contenders.
    let _ = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
    read(start, bytes, File::from(reader), writer.into())
}

/// Runs the printer on a terminal.
pub fn on_a_terminal(bytes: u64) -> Result<Duration, Trouble> {
    let start = Instant::now();
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let outer = rustix::pty::openpt(flags)?;
    rustix::pty::unlockpt(&outer)?;
    let name = rustix::pty::ptsname(&outer, Vec::new())?;
    let inner = File::options()
        .read(true)
        .write(true)
        .open(name.to_str()?)?;
    read(start, bytes, File::from(outer), inner.into())
}

fn read(start: Instant, bytes: u64, mut reader: File, output: Stdio) -> Result<Duration, Trouble> {
    let [program, arguments @ ..] = printer(bytes);
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(output);
    let mut child = command.spawn()?;
    // It holds an end of the pipe in our process.
    drop(command);
    let mut buffer = vec![0; CHUNK];
    let mut total = 0;
    loop {
        match reader.read(&mut buffer) {
            // The kernel reports the last close of the other end of a terminal as an error.
            Ok(0) | Err(_) => break,
            Ok(count) => total += count as u64,
        }
    }
    child.wait()?;
    whole(total, bytes)?;
    Ok(start.elapsed())
}
