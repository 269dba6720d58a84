//! The terminal while somebody is asked: every key is read by us, one line is asked for at a time,
//! and everything is as it was when this goes away, whatever the reason.
//!
//! Whoever raises a question chooses its moment, and may do so while a person types something else.
//! So no key counts before the question has been there, and the keyboard quiet, for a while; only
//! then a prompt shows. A line counts if nothing follows it at once.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::termios::{LocalModes, OptionalActions, OutputModes, Termios, tcgetattr, tcsetattr};
use tokio::net::unix::pipe;
use tokio::time::timeout;

use super::editor::{Editor, LineChange, Typed};
use crate::terminal::{Asking, CONSOLE, is_dumb, keyboard};

/// The keyboard must have been quiet for so long before a key counts.
const QUIET: Duration = Duration::from_millis(700);
/// The bytes of one key come within this time of each other.
const ONE_KEY: Duration = Duration::from_millis(100);
/// What comes within this time of Enter was not typed by a person.
const AT_ONCE: Duration = Duration::from_millis(60);
/// The signal that says that the terminal is gone comes within this time.
const HANG_UP: Duration = Duration::from_secs(1);

/// What shows that a line may be typed.
const PROMPT: &str = "answer> ";

/// The terminal, with somebody at it who is asked.
pub(super) struct Dialogue {
    out: File,
    keys: pipe::Receiver,
    before: Option<Termios>,
    /// Whether the cursor stands behind something of ours.
    mid_line: bool,
    _floor: Asking<'static>,
}

impl Dialogue {
    /// Takes the terminal. What was typed so far is nobody's answer.
    pub(super) fn begin() -> io::Result<Self> {
        let open = || File::options().read(true).write(true).open("/dev/tty");
        let (out, keys) = (open()?, open()?);
        // The descriptor is our own, opened anew: others who hold the terminal are not affected.
        fcntl_setfl(&keys, fcntl_getfl(&keys)? | OFlags::NONBLOCK)?;
        let floor = CONSOLE.ask();
        keyboard::keep_lines(&keys);
        let before = every_key(&out);
        // Not a pipe, but waited for and read in the same way.
        let keys = pipe::Receiver::from_file_unchecked(keys)?;
        Ok(Self {
            out,
            keys,
            before,
            mid_line: false,
            _floor: floor,
        })
    }

    /// Shows a text that ends its line.
    pub(super) fn show(&mut self, text: &str) {
        let text = text.trim_end_matches('\n');
        let _ = writeln!(self.out, "{text}");
    }

    /// The next line that is typed. One that is no line says what it is instead.
    pub(super) async fn line(&mut self) -> Typed {
        if let Ok(typed) = self.typed().await {
            return typed;
        }
        // Whoever closed the window sent a signal as well, which says more than a no.
        tokio::time::sleep(HANG_UP).await;
        Typed::Refused
    }

    async fn typed(&mut self) -> io::Result<Typed> {
        if self.until_quiet().await? == Typed::Interrupt {
            self.echo("^C\n");
            return Ok(Typed::Interrupt);
        }
        self.echo(PROMPT);
        let mut editor = Editor::default();
        loop {
            let burst = self.burst().await?;
            let mut typed = self.edit(&mut editor, &burst);
            while typed == Typed::Unfinished && editor.is_within_a_key() {
                typed = match timeout(ONE_KEY, self.burst()).await {
                    Ok(burst) => self.edit(&mut editor, &burst?),
                    Err(_) => editor.nothing_followed(),
                };
            }
            if let Typed::Line(_) = typed
                && let Ok(more) = timeout(AT_ONCE, self.burst()).await
            {
                let interrupted = more?.contains(&0x03);
                typed = if interrupted {
                    Typed::Interrupt
                } else {
                    Typed::Pasted
                };
            }
            self.echo(match typed {
                Typed::Unfinished => continue,
                Typed::Interrupt => "^C\n",
                Typed::Refused => " (no)\n",
                Typed::Line(_) | Typed::Pasted => "\n",
            });
            return Ok(typed);
        }
    }

    /// Waits until nobody has typed for a while. Of what is typed meanwhile only Ctrl-C counts.
    async fn until_quiet(&mut self) -> io::Result<Typed> {
        let mut told = false;
        while let Ok(burst) = timeout(QUIET, self.burst()).await {
            if burst?.contains(&0x03) {
                return Ok(Typed::Interrupt);
            }
            if !std::mem::replace(&mut told, true) {
                self.show("(Keys typed before the prompt are not taken. Wait for it.)");
            }
        }
        Ok(Typed::Unfinished)
    }

    fn edit(&mut self, editor: &mut Editor, burst: &[u8]) -> Typed {
        let mut line = editor.shown();
        let mut echo = String::new();
        let typed = editor.take(burst, |shown| match shown {
            LineChange::Added(character) => {
                line.push(character);
                echo.push(character);
            }
            LineChange::Erased(count) => {
                line.truncate(line.len() - count);
                if is_dumb() {
                    // Nothing can be taken back there: the line is shown anew.
                    let _ = write!(echo, "\n{PROMPT}{line}");
                } else {
                    echo.push_str(&"\x08 \x08".repeat(count));
                }
            }
        });
        self.echo(&echo);
        typed
    }

    fn echo(&mut self, text: &str) {
        if let Some(last) = text.chars().last() {
            self.mid_line = last != '\n';
        }
        let _ = self.out.write_all(text.as_bytes());
    }

    /// What is typed next, as it comes.
    async fn burst(&self) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; 4096];
        loop {
            self.keys.readable().await?;
            match self.keys.try_read(&mut buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    buffer.truncate(count);
                    return Ok(buffer);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        if self.mid_line {
            // Somebody else ended it: what comes next begins a line of its own.
            self.echo("(not answered)\n");
        }
        if let Some(before) = &self.before {
            // What was typed until now was typed at the question.
            let _ = tcsetattr(&self.out, OptionalActions::Flush, before);
        }
    }
}

/// Has every key handed on at once and nothing echoed. Drops what was typed before.
fn every_key(terminal: &File) -> Option<Termios> {
    let before = tcgetattr(terminal).ok()?;
    let mut mode = before.clone();
    mode.local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN);
    // A command that has the terminal may have it in a mode where lines do not begin at the left.
    mode.output_modes
        .insert(OutputModes::OPOST | OutputModes::ONLCR);
    tcsetattr(terminal, OptionalActions::Flush, &mode).ok()?;
    Some(before)
}
