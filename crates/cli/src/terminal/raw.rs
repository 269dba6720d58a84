//! Raw mode: keys are handed on as they are typed, Ctrl-C and its like included, and nothing is
//! echoed by this terminal.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, Once, PoisonError};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// A terminal in raw mode. It is as it was before when this goes away, and also before the message
/// of a panic is printed.
#[derive(Debug)]
pub(crate) struct Raw {
    terminal: OwnedFd,
}

/// The terminals that are in raw mode, and what they were before.
static BEFORE: Mutex<Vec<(OwnedFd, Termios)>> = Mutex::new(Vec::new());

impl Raw {
    /// Puts a terminal into raw mode.
    pub(crate) fn enter(terminal: &File) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore_all();
                usual(panic);
            }));
        });
        let before = tcgetattr(terminal)?;
        let raw = Self {
            terminal: terminal.as_fd().try_clone_to_owned()?,
        };
        let kept = raw.terminal.try_clone()?;
        raw.set()?;
        lock().push((kept, before));
        Ok(raw)
    }

    /// Sets the mode again, after a stop during which others had the terminal.
    pub(crate) fn set(&self) -> io::Result<()> {
        let mut mode = tcgetattr(&self.terminal)?;
        mode.make_raw();
        // What was typed already is for whoever reads next.
        Ok(tcsetattr(&self.terminal, OptionalActions::Drain, &mode)?)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        restore_all();
    }
}

fn lock() -> std::sync::MutexGuard<'static, Vec<(OwnedFd, Termios)>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn restore_all() {
    for (terminal, before) in lock().drain(..).rev() {
        let _ = tcsetattr(&terminal, OptionalActions::Drain, &before);
    }
}

#[cfg(test)]
mod tests {
    use rustix::pty::OpenptFlags;
    use rustix::termios::LocalModes;

    use super::*;

    /// Both ends of a new terminal.
    fn terminal() -> (File, File) {
        let outer = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::pty::unlockpt(&outer).unwrap();
        let name = rustix::pty::ptsname(&outer, Vec::new()).unwrap();
        let name = name.to_str().unwrap();
        let inner = File::options().read(true).write(true).open(name).unwrap();
        (File::from(outer), inner)
    }

    fn is_raw(terminal: &File) -> bool {
        let mode = tcgetattr(terminal).unwrap();
        !mode
            .local_modes
            .intersects(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    #[test]
    fn the_terminal_is_as_it_was_after_an_ordinary_end_and_after_a_panic() {
        let (_outer, inner) = terminal();
        let before = format!("{:?}", tcgetattr(&inner).unwrap());
        let same = || format!("{:?}", tcgetattr(&inner).unwrap()) == before;
        let raw = Raw::enter(&inner).unwrap();
        assert!(is_raw(&inner));
        drop(raw);
        assert!(!is_raw(&inner) && same());
        let panicked = std::panic::catch_unwind(|| {
            let _raw = Raw::enter(&inner).unwrap();
            assert!(is_raw(&inner));
            panic!("on purpose");
        });
        assert!(panicked.is_err());
        assert!(same());
    }
}
