//! Who may write to the terminal now.
//!
//! A command's output goes through at once. A line about progress stands below it and is gone
//! before anything else appears. While a person is asked something, output waits, so that neither
//! disturbs the other; a program that has the whole screen gets it back afterwards.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ringfence::jail::TerminalSize;
use ringfence::output::{Drain, Face, HeadTail, Screen, Stream};
use ringfence_confine::process;
use tokio::sync::Notify;

use super::progress;

/// The terminal of this process.
pub(crate) static CONSOLE: Console = Console(Mutex::new(State {
    asking: false,
    status: false,
    mid_line: false,
    held: None,
    unsaid: Vec::new(),
    screen: None,
}));

/// Told when a question has been answered.
static ANSWERED: Notify = Notify::const_new();
/// Told when a program that has the whole screen must draw it anew.
static REDRAW: Notify = Notify::const_new();

/// What waits at most while a person is asked.
const HELD_BYTES: usize = 1 << 20;

/// Takes the terminal out of what a program may have left it in: the other screen, a hidden
/// cursor, colours, reports of the mouse and of the focus, marked pastes, keys of another kind,
/// other characters, lines that do not scroll.
const CALM: &str = "\x1b[?1049l\x1b[?25h\x1b[m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\
\x1b[?2004l\x1b[?1l\x1b>\x1b[?1004l\x1b[?1007l\x1b[<u\x1b[>4m\x1b(B\x0f\x1b7\x1b[r\x1b8";

/// Who may write now.
pub(crate) struct Console(Mutex<State>);

struct State {
    asking: bool,
    /// Whether a line about progress is to be seen.
    status: bool,
    /// Whether the output on the terminal ended within a line.
    mid_line: bool,
    /// Output that came during a question.
    held: Option<HeadTail>,
    /// What we had to say meanwhile.
    unsaid: Vec<String>,
    /// What a command with a terminal of its own has on it.
    screen: Option<Screen>,
}

/// The right to ask, until it goes away.
pub(crate) struct Asking<'a>(&'a Console);

impl Console {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints what a command printed.
    pub(crate) fn print(&self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        state.clear_status();
        if let Some(screen) = &mut state.screen {
            // What it asks of the terminal is answered by the real one.
            drop(screen.feed(bytes));
        }
        let on_terminal = match stream {
            Stream::Stdout => io::stdout().is_terminal(),
            Stream::Stderr => io::stderr().is_terminal(),
        };
        // What goes elsewhere disturbs nobody.
        if state.asking && on_terminal {
            let held = state.held.get_or_insert_with(|| HeadTail::new(HELD_BYTES));
            held.push(bytes);
            return Ok(());
        }
        match stream {
            Stream::Stdout => write(&mut io::stdout().lock(), bytes)?,
            Stream::Stderr => write(&mut io::stderr().lock(), bytes)?,
        }
        if on_terminal && let Some(last) = bytes.last() {
            state.mid_line = *last != b'\n';
        }
        Ok(())
    }

    /// Says something of our own, beside what the command prints.
    pub(crate) fn say(&self, text: &str) {
        let mut state = self.lock();
        state.clear_status();
        if state.asking && io::stderr().is_terminal() {
            state.unsaid.push(text.to_owned());
            return;
        }
        state.say(text);
    }

    /// Shows a line about progress, if there is somebody to see it and room below the output.
    pub(crate) fn show_progress(&self, elapsed: Duration, lines: u64) {
        let told = progress::told(elapsed, lines);
        let offered = format!("{told}{}", progress::offer());
        self.show(&[&offered, &told]);
    }

    /// Shows another line of that kind.
    pub(crate) fn show_status(&self, text: &str) {
        self.show(&[text]);
    }

    /// Shows the first of these that there is room for, or as much as there is of the last.
    fn show(&self, texts: &[&str]) {
        let mut state = self.lock();
        let stderr = io::stderr();
        let room = !state.asking && !state.mid_line && state.screen.is_none();
        if !room || is_dumb() || !stderr.is_terminal() || !is_ours() {
            return;
        }
        let columns = rustix::termios::tcgetwinsize(&stderr).map_or(80, |size| size.ws_col);
        let room = usize::from(columns.max(2)) - 1;
        let fits = texts.iter().find(|text| text.chars().count() <= room);
        let text = fits.or(texts.last()).copied().unwrap_or_default();
        let text: String = text.chars().take(room).collect();
        state.status = true;
        let _ = write(&mut stderr.lock(), format!("\r\x1b[K{text}").as_bytes());
    }

    /// Takes the line about progress away.
    pub(crate) fn clear_status(&self) {
        self.lock().clear_status();
    }

    /// Lets a person be asked. Output waits until the answer is there.
    pub(crate) fn ask(&self) -> Asking<'_> {
        let mut state = self.lock();
        state.clear_status();
        state.asking = true;
        if state.is_full_screen() {
            let _ = write(&mut io::stdout().lock(), b"\x1b[?1049l\x1b[?25h\x1b[m");
        }
        if state.screen.is_some() && !is_dumb() {
            // A program may have keys told in sequences of their own; at a question they are text.
            let _ = write(&mut io::stdout().lock(), b"\x1b[>0u");
        }
        Asking(self)
    }

    /// Whether somebody is being asked; runs the rest otherwise, and nobody can be asked meanwhile.
    pub(crate) fn unless_asking<T>(&self, then: impl FnOnce() -> T) -> Option<T> {
        let state = self.lock();
        (!state.asking).then(then)
    }

    /// Waits until nobody is being asked.
    pub(crate) async fn answered(&self) {
        loop {
            let mut answered = std::pin::pin!(ANSWERED.notified());
            // From here on no word is missed.
            answered.as_mut().enable();
            if !self.lock().asking {
                return;
            }
            answered.await;
        }
    }

    /// Waits until a program that has the whole screen must draw it anew.
    pub(crate) async fn must_redraw(&self) {
        REDRAW.notified().await;
    }

    /// A command with a terminal of its own, of this size, begins.
    pub(crate) fn open_screen(&self, size: TerminalSize) {
        self.lock().screen = Some(Screen::new(size));
    }

    /// The window has another size.
    pub(crate) fn resize_screen(&self, size: TerminalSize) {
        if let Some(screen) = &mut self.lock().screen {
            screen.resize(size);
        }
    }

    /// That command has ended, in whatever state it was.
    pub(crate) fn close_screen(&self) {
        let mut state = self.lock();
        let Some(screen) = state.screen.take() else {
            return;
        };
        let picture = screen.picture();
        let calm = if picture.face == Face::Alternate {
            CALM
        } else {
            CALM.trim_start_matches("\x1b[?1049l")
        };
        let _ = write(&mut io::stdout().lock(), calm.as_bytes());
        if picture.cursor.column > 0 {
            let _ = write(&mut io::stdout().lock(), b"\r\n");
        }
    }
}

impl State {
    fn clear_status(&mut self) {
        if std::mem::take(&mut self.status) && is_ours() {
            let _ = write(&mut io::stderr().lock(), b"\r\x1b[K");
        }
    }

    fn say(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        if self.screen.is_some() {
            // Raw mode: lines do not begin at the left by themselves.
            let text = format!("\r\n{}", text.replace('\n', "\r\n"));
            let _ = write(&mut stderr, text.as_bytes());
        } else {
            let _ = write(&mut stderr, text.as_bytes());
        }
    }

    fn is_full_screen(&self) -> bool {
        let face = self.screen.as_ref().map(|screen| screen.picture().face);
        face == Some(Face::Alternate)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.asking = false;
        if state.screen.is_some() && !is_dumb() {
            let _ = write(&mut io::stdout().lock(), b"\x1b[<u");
        }
        if state.is_full_screen() {
            let _ = write(&mut io::stdout().lock(), b"\x1b[?1049h\x1b[2J");
            REDRAW.notify_one();
        }
        if let Some(mut held) = state.held.take() {
            let held = held.drain(Drain::Everything);
            let mut terminal: Box<dyn Write> = if io::stdout().is_terminal() {
                Box::new(io::stdout().lock())
            } else {
                Box::new(io::stderr().lock())
            };
            let _ = write(&mut terminal, held.head());
            if held.dropped() > 0 {
                let notice = format!("\r\n[… {} bytes not shown …]\r\n", held.dropped());
                let _ = write(&mut terminal, notice.as_bytes());
            }
            let _ = write(&mut terminal, &held.tail());
        }
        for text in std::mem::take(&mut state.unsaid) {
            state.say(&text);
        }
        ANSWERED.notify_waiters();
    }
}

/// Whether the terminal takes nothing but text.
pub(crate) fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether this process is in the foreground of its terminal. In the background the terminal is
/// the shell's, and lines of our own would get in the way of what is typed there.
fn is_ours() -> bool {
    let foreground = rustix::termios::tcgetpgrp(io::stderr());
    foreground.is_ok_and(|group| process::own_group() == Some(group))
}

fn write(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}
