//! The outer end of a command's terminal.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::unix::AsyncFd;

pub use crate::warden::protocol::TerminalSize;

/// The end of a terminal that the harness holds: what the command prints is read here, what is
/// typed is written here.
#[derive(Debug)]
pub struct Terminal {
    descriptor: AsyncFd<OwnedFd>,
}

impl Terminal {
    /// Whether it takes whole lines and does not show them, as where a password is asked for. A
    /// program that edits lines itself shows what it is given.
    pub fn hides_input(&self) -> bool {
        use rustix::termios::{LocalModes, tcgetattr};
        tcgetattr(self.descriptor.get_ref()).is_ok_and(|settings| {
            let modes = settings.local_modes;
            modes.contains(LocalModes::ICANON) && !modes.contains(LocalModes::ECHO)
        })
    }

    pub(crate) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            descriptor: crate::line::nonblocking(descriptor)?,
        })
    }

    /// Reads what the command printed; 0 when nobody holds the other end any more.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.descriptor.readable().await?;
            match ready.try_io(|descriptor| Ok(rustix::io::read(descriptor, &mut *buffer)?)) {
                // The kernel reports the last close of the other end as an error.
                Ok(Err(error)) if error.raw_os_error() == Some(libc::EIO) => return Ok(0),
                Ok(result) => return result,
                Err(_would_block) => {}
            }
        }
    }

    /// Types as much as fits, and says how much that was.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.descriptor.writable().await?;
            match ready.try_io(|descriptor| Ok(rustix::io::write(descriptor, bytes)?)) {
                Ok(written) => return written,
                Err(_would_block) => {}
            }
        }
    }

    /// Types all of it.
    pub async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            bytes = &bytes[self.write(bytes).await?..];
        }
        Ok(())
    }

    /// Its size.
    pub fn size(&self) -> io::Result<TerminalSize> {
        let size = rustix::termios::tcgetwinsize(self.descriptor.get_ref())?;
        Ok(TerminalSize {
            rows: size.ws_row,
            columns: size.ws_col,
        })
    }

    /// Changes the size; the command is told by a signal.
    pub fn resize(&self, size: TerminalSize) -> io::Result<()> {
        Ok(rustix::termios::tcsetwinsize(
            self.descriptor.get_ref(),
            rustix::termios::Winsize {
                ws_row: size.rows,
                ws_col: size.columns,
                ws_xpixel: 0,
                ws_ypixel: 0,
            },
        )?)
    }
}
