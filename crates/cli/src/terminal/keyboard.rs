//! What a person does at the terminal while a command has it: keys, and changes of the window.

use std::fs::File;
use std::io;

use ringfence::Typed;
use ringfence::jail::TerminalSize;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use tokio::net::unix::pipe;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::{FLOOR, Raw};

/// The size of the window.
pub(crate) fn size(terminal: &File) -> io::Result<TerminalSize> {
    let size = rustix::termios::tcgetwinsize(terminal)?;
    // A terminal that was never given a size says 0.
    let or = |given: u16, usual| if given == 0 { usual } else { given };
    Ok(TerminalSize {
        rows: or(size.ws_row, 24),
        columns: or(size.ws_col, 80),
    })
}

/// Hands on what is typed and how the window changes, until nobody listens. Comes back with an
/// error only.
pub(crate) async fn hand_on(
    terminal: File,
    raw: &Raw,
    to: &mpsc::Sender<Typed>,
) -> io::Result<std::convert::Infallible> {
    // The descriptor is our own, opened anew: others who hold the terminal are not affected.
    fcntl_setfl(&terminal, fcntl_getfl(&terminal)? | OFlags::NONBLOCK)?;
    // Not a pipe, but waited for and read in the same way.
    let keys = pipe::Receiver::from_file_unchecked(terminal.try_clone()?)?;
    let mut resized = signal(SignalKind::window_change())?;
    let mut continued = signal(SignalKind::from_raw(CONTINUED))?;
    // It may have changed before anybody listened.
    let _ = to.send(Typed::Resized(size(&terminal)?)).await;
    loop {
        let typed = tokio::select! {
            typed = typed(&keys) => Typed::Bytes(typed?),
            _ = resized.recv() => {
                let size = size(&terminal)?;
                FLOOR.resize_screen(size);
                Typed::Resized(size)
            }
            // A program draws itself anew when its window changes, so that it has to.
            () = FLOOR.must_redraw() => {
                let size = size(&terminal)?;
                let smaller = TerminalSize { rows: size.rows.saturating_sub(1).max(1), ..size };
                let _ = to.send(Typed::Resized(smaller)).await;
                Typed::Resized(size)
            }
            // Whoever stopped us had the terminal in between, and left it in a mode of his own.
            _ = continued.recv() => {
                raw.set()?;
                Typed::Resized(size(&terminal)?)
            }
        };
        if to.send(typed).await.is_err() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
    }
}

/// SIGCONT, which has no name of its own here.
const CONTINUED: i32 = rustix::process::Signal::CONT.as_raw();

/// The next keys. What is typed while a question is open is the answer to it.
async fn typed(keys: &pipe::Receiver) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; 4096];
    loop {
        keys.readable().await?;
        match FLOOR.unless_asking(|| keys.try_read(&mut buffer)) {
            Some(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some(Ok(count)) => {
                buffer.truncate(count);
                return Ok(buffer);
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Some(Err(error)) => return Err(error),
            None => FLOOR.answered().await,
        }
    }
}
