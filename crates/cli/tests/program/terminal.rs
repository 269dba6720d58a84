//! The program on a terminal of its own.

#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::event::{PollFd, PollFlags};
use rustix::process::PidfdFlags;
use rustix::pty::OpenptFlags;
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

use super::Place;

/// The program with a terminal of its own, of which this is the other end.
pub struct OnTerminal {
    pub child: Child,
    terminal: File,
    /// Kept open, so that the terminal outlives the program and can be looked at.
    inner: File,
    pub seen: String,
    /// How much of that was there before the last prompt.
    prompted: usize,
}

impl OnTerminal {
    pub fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::of(place.ringfence(arguments))
    }

    pub fn of(command: Command) -> Self {
        Self::with(command, None)
    }

    /// One that reads something else than the terminal.
    pub fn reading(command: Command, input: Stdio) -> Self {
        Self::with(command, Some(input))
    }

    fn with(mut command: Command, input: Option<Stdio>) -> Self {
        // The program must not hold the other end of its own terminal: a window could not be closed.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let outer = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&outer).unwrap();
        rustix::pty::unlockpt(&outer).unwrap();
        let name = rustix::pty::ptsname(&outer, Vec::new()).unwrap();
        let inner = File::options()
            .read(true)
            .write(true)
            .custom_flags(OpenptFlags::NOCTTY.bits().cast_signed())
            .open(name.to_str().unwrap())
            .unwrap();
        resize(&outer, 24, 80);
        command
            .stdin(input.unwrap_or_else(|| Stdio::from(inner.try_clone().unwrap())))
            .stdout(Stdio::from(inner.try_clone().unwrap()))
            .stderr(Stdio::from(inner.try_clone().unwrap()));
        #[allow(unsafe_code)]
        // SAFETY: between fork and exec only two system calls are made.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdout())?)
            });
        }
        let child = command.spawn().unwrap();
        // The command holds its ends in our process too until it goes.
        drop(command);
        Self {
            child,
            terminal: File::from(outer),
            inner,
            seen: String::new(),
            prompted: 0,
        }
    }

    /// Reads until a text has appeared.
    pub fn expect(&mut self, text: &str) {
        while !self.seen.contains(text) {
            assert!(self.see_more(), "never saw {text:?}: {}", self.seen);
        }
    }

    /// Reads until a question takes keys, once more than before.
    pub fn prompt(&mut self) {
        const PROMPT: &str = "\nanswer> ";
        loop {
            if let Some(at) = self.seen[self.prompted..].find(PROMPT) {
                self.prompted += at + PROMPT.len();
                return;
            }
            assert!(self.see_more(), "never saw a prompt: {}", self.seen);
        }
    }

    /// Types a line once a question takes keys.
    pub fn answer(&mut self, line: &str) {
        self.prompt();
        self.press(&format!("{line}\r"));
    }

    /// Reads what comes next; false once the program has ended and nothing is left to read.
    fn see_more(&mut self) -> bool {
        let id = rustix::process::Pid::from_child(&self.child);
        let process = rustix::process::pidfd_open(id, PidfdFlags::empty()).unwrap();
        let mut watched = [
            PollFd::new(&self.terminal, PollFlags::IN),
            PollFd::new(&process, PollFlags::IN),
        ];
        rustix::event::poll(&mut watched, None).unwrap();
        let more = watched[0].revents().contains(PollFlags::IN);
        if more {
            let mut buffer = [0; 4096];
            let count = self.terminal.read(&mut buffer).unwrap();
            self.seen
                .push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        more
    }

    pub fn press(&mut self, key: &str) {
        self.terminal.write_all(key.as_bytes()).unwrap();
    }

    /// Closes the window.
    pub fn close(self) -> Child {
        drop((self.terminal, self.inner));
        self.child
    }

    /// Looks at it no more, and leaves it open.
    pub fn leave(self) -> Child {
        std::mem::forget((self.terminal, self.inner));
        self.child
    }

    pub fn end(self) -> (Option<i32>, String) {
        let (code, seen, _) = self.end_and_mode();
        (code, seen)
    }

    /// The exit code, all that was to be seen, and the mode that the terminal is left in.
    pub fn end_and_mode(mut self) -> (Option<i32>, String, String) {
        while self.see_more() {}
        let code = self.child.wait().unwrap().code();
        let mode = self.mode();
        (code, self.seen, mode)
    }

    /// Gives the window another size.
    pub fn resize(&self, rows: u16, columns: u16) {
        resize(&self.terminal, rows, columns);
    }

    /// The mode that the terminal is in.
    pub fn mode(&self) -> String {
        format!("{:?}", tcgetattr(&self.inner).unwrap())
    }
}

fn resize(terminal: impl std::os::fd::AsFd, rows: u16, columns: u16) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(terminal, size).unwrap();
}
