//! What a person does at the terminal while a command has it: keys, and changes of the window.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ringfence::TerminalInput;
use ringfence::jail::TerminalSize;
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::termios::LocalModes;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::net::unix::pipe;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::{CONSOLE, Raw};

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
    to: &mpsc::Sender<TerminalInput>,
) -> io::Result<std::convert::Infallible> {
    // The descriptor is our own, opened anew: others who hold the terminal are not affected.
    fcntl_setfl(&terminal, fcntl_getfl(&terminal)? | OFlags::NONBLOCK)?;
    // Not a pipe, but waited for and read in the same way.
    let keys = pipe::Receiver::from_file_unchecked(terminal.try_clone()?)?;
    let mut resized = signal(SignalKind::window_change())?;
    let mut continued = signal(SignalKind::from_raw(CONTINUED))?;
    // It may have changed before anybody listened.
    let _ = to.send(TerminalInput::Resized(size(&terminal)?)).await;
    loop {
        let typed = tokio::select! {
            typed = typed(&keys) => TerminalInput::Bytes(typed?),
            _ = resized.recv() => {
                let size = size(&terminal)?;
                CONSOLE.resize_screen(size);
                TerminalInput::Resized(size)
            }
            // A program draws itself anew when its window changes, so that it has to.
            () = CONSOLE.must_redraw() => {
                let size = size(&terminal)?;
                let smaller = TerminalSize { rows: size.rows.saturating_sub(1).max(1), ..size };
                let _ = to.send(TerminalInput::Resized(smaller)).await;
                TerminalInput::Resized(size)
            }
            // Whoever stopped us had the terminal in between, and left it in a mode of his own.
            _ = continued.recv() => {
                raw.set()?;
                TerminalInput::Resized(size(&terminal)?)
            }
        };
        if to.send(typed).await.is_err() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
    }
}

/// SIGCONT, which has no name of its own here.
const CONTINUED: i32 = rustix::process::Signal::CONT.as_raw();

/// Makes standard input, if it is a terminal, one that can be read and not written to: whoever gets
/// it could draw over a question otherwise.
pub(crate) fn give_to_read_only() -> io::Result<()> {
    if io::stdin().is_terminal() {
        let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
        // A terminal of somebody else's cannot be opened again, only used.
        if let Ok(terminal) = rustix::fs::open("/proc/self/fd/0", flags, Mode::empty()) {
            rustix::stdio::dup2_stdin(terminal)?;
        }
    }
    Ok(())
}

/// Lines that were typed before a question came, for whoever reads lines.
static KEPT: Mutex<Option<Vec<u8>>> = Mutex::new(None);

/// What is typed on standard input, a terminal, for as long as nobody is asked anything there. What
/// is typed at a question is not part of it.
pub(crate) fn lines() -> io::Result<DuplexStream> {
    // Opened anew, so that others who hold the terminal are not affected.
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let terminal = rustix::fs::open("/proc/self/fd/0", flags, Mode::empty())?;
    let keys = pipe::Receiver::from_file_unchecked(File::from(terminal))?;
    *kept() = Some(Vec::new());
    let (mut writer, reader) = tokio::io::duplex(4096);
    tokio::spawn(async move {
        // Ends with the input, or with whoever reads it.
        while let Ok(bytes) = typed(&keys).await {
            if writer.write_all(&bytes).await.is_err() {
                break;
            }
        }
    });
    Ok(reader)
}

/// Keeps the whole lines that lie in a terminal for whoever reads lines, before a question takes it.
pub(crate) fn keep_lines(terminal: &File) {
    let mut kept = kept();
    let Some(kept) = kept.as_mut() else { return };
    let by_line = rustix::termios::tcgetattr(terminal)
        .is_ok_and(|mode| mode.local_modes.contains(LocalModes::ICANON));
    let mut buffer = [0; 4096];
    while by_line
        && let Ok(count @ 1..) = rustix::io::read(terminal, &mut buffer)
        && kept.len() < MOST_KEPT
    {
        kept.extend_from_slice(&buffer[..count]);
    }
}

/// More than this is not kept: a terminal holds less.
const MOST_KEPT: usize = 1 << 16;

fn kept() -> MutexGuard<'static, Option<Vec<u8>>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next keys. What is typed while a question is open is the answer to it.
async fn typed(keys: &pipe::Receiver) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; 4096];
    loop {
        keys.readable().await?;
        if let Some(kept) = kept().as_mut()
            && !kept.is_empty()
        {
            return Ok(std::mem::take(kept));
        }
        match CONSOLE.unless_asking(|| keys.try_read(&mut buffer)) {
            Some(Ok(0)) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some(Ok(count)) => {
                buffer.truncate(count);
                return Ok(buffer);
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Some(Err(error)) => return Err(error),
            None => CONSOLE.answered().await,
        }
    }
}
