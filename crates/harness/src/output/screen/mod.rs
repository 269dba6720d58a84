//! The screen of a terminal: what somebody who looked at it would see.
//!
//! What a command prints is fed to a terminal emulator, which knows the screen as text, where the
//! cursor is, and what a program that asks the terminal something has to be told. It does not
//! read, write or size the terminal itself: whoever does hands the bytes in, and types the
//! answers.

mod bounded;
mod overlong;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alacritty_terminal::event::{Event, EventListener, WindowSize};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Osc52, Term, TermMode};
use alacritty_terminal::vte::ansi::{NamedColor, Processor, Rgb, Timeout};
use ringfence_jail::TerminalSize;

use super::text;
use bounded::Bounded;
use overlong::Overlong;

/// The value of `TERM` for a command on such a terminal: what is emulated.
pub(crate) const TERM: &str = "xterm-256color";

/// The largest terminal that is emulated; a larger one is shown in part.
pub(crate) const LARGEST: TerminalSize = TerminalSize {
    rows: 1000,
    columns: 1000,
};

/// The most that is answered to what was fed at once: as much as a terminal takes in unread.
const ANSWER_BYTES: usize = 4096;

/// A terminal's screen.
pub struct Screen {
    term: Term<Listener>,
    parser: Processor<Unbuffered>,
    /// The beginning of a character whose rest has not come yet. The parser would keep it too, but
    /// then it sometimes loses the character after it.
    begun: Vec<u8>,
    overlong: Overlong,
    /// How many characters may still be drawn; see [`Bounded`].
    allowance: u64,
    told: Listener,
}

/// What is on a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The lines from top to bottom, without spaces at their ends.
    pub lines: Vec<String>,
    /// Where the cursor is.
    pub cursor: Cursor,
    /// The title that the program set.
    pub title: Option<String>,
    /// Which of the terminal's two screens it is.
    pub face: Face,
}

/// Where the cursor is, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The line.
    pub row: usize,
    /// The column, in cells: some characters take two.
    pub column: usize,
    /// Whether the program shows it.
    pub visible: bool,
}

/// The two screens of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// The one that output scrolls on.
    Main,
    /// The one that full-screen programs draw on, and that goes away with them.
    Alternate,
}

impl Screen {
    /// An empty screen.
    pub fn new(size: TerminalSize) -> Self {
        let config = Config {
            scrolling_history: 0,
            osc52: Osc52::Disabled,
            ..Config::default()
        };
        let told = Listener::default();
        told.lock().size = fitting(size);
        Self {
            term: Term::new(config, &Size(fitting(size)), told.clone()),
            parser: Processor::new(),
            begun: Vec::new(),
            overlong: Overlong::default(),
            allowance: 0,
            told,
        }
    }

    /// Takes in what a command printed. What comes back must be typed to it: the answers to what
    /// it asked the terminal, without which some programs wait for ever.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.begun.is_empty() {
            self.feed_characters(bytes);
        } else {
            let begun = std::mem::take(&mut self.begun);
            self.feed_characters(&[&begun, bytes].concat());
        }
        std::mem::take(&mut self.told.lock().answers)
    }

    fn feed_characters(&mut self, bytes: &[u8]) {
        let (whole, begun) = bytes.split_at(bytes.len() - text::begun_character(bytes));
        self.begun.extend_from_slice(begun);
        let mut screen = Bounded {
            term: &mut self.term,
            allowance: &mut self.allowance,
        };
        screen.earn(whole.len());
        let parser = &mut self.parser;
        self.overlong
            .pass(whole, |bytes| parser.advance(&mut screen, bytes));
    }

    /// Changes the size.
    pub fn resize(&mut self, size: TerminalSize) {
        let size = fitting(size);
        self.told.lock().size = size;
        self.term.resize(Size(size));
    }

    /// What is on it now.
    pub fn picture(&self) -> Picture {
        let grid = self.term.grid();
        let point = grid.cursor.point;
        let mode = self.term.mode();
        Picture {
            lines: (0..grid.screen_lines())
                .filter_map(|line| i32::try_from(line).ok())
                .map(|line| text_of(&grid[Line(line)][..Column(grid.columns())]))
                .collect(),
            cursor: Cursor {
                row: usize::try_from(point.line.0).unwrap_or(0),
                column: point.column.0,
                visible: mode.contains(TermMode::SHOW_CURSOR),
            },
            title: self.told.lock().title.clone(),
            face: if mode.contains(TermMode::ALT_SCREEN) {
                Face::Alternate
            } else {
                Face::Main
            },
        }
    }

    /// The lines down to the last one that has anything on it.
    pub fn text(&self) -> String {
        let lines = self.picture().lines;
        let used = lines.iter().rposition(|line| !line.is_empty());
        lines[..used.map_or(0, |last| last + 1)].join("\n")
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Screen").field(&self.picture()).finish()
    }
}

fn text_of(cells: &[Cell]) -> String {
    let spacers = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
    let mut text = String::new();
    for cell in cells.iter().filter(|cell| !cell.flags.intersects(spacers)) {
        // A tab is kept in the cell that it started from.
        text.push(if cell.c == '\t' { ' ' } else { cell.c });
        text.extend(cell.zerowidth().into_iter().flatten());
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}

fn fitting(size: TerminalSize) -> TerminalSize {
    TerminalSize {
        rows: size.rows.clamp(1, LARGEST.rows),
        // The emulator cannot do with less than a wide character.
        columns: size.columns.clamp(2, LARGEST.columns),
    }
}

struct Size(TerminalSize);

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        usize::from(self.0.rows)
    }

    fn columns(&self) -> usize {
        usize::from(self.0.columns)
    }
}

/// What the emulator tells while it is being fed.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Told>>);

struct Told {
    answers: Vec<u8>,
    title: Option<String>,
    size: TerminalSize,
}

impl Default for Told {
    fn default() -> Self {
        Self {
            answers: Vec::new(),
            title: None,
            size: LARGEST,
        }
    }
}

impl Listener {
    fn lock(&self) -> std::sync::MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventListener for Listener {
    fn send_event(&self, event: Event) {
        let mut told = self.lock();
        let answer = match event {
            Event::PtyWrite(answer) => answer,
            Event::ColorRequest(index, answer) => match colour(index) {
                Some(colour) => answer(colour),
                None => return,
            },
            Event::TextAreaSizeRequest(answer) => answer(WindowSize {
                num_lines: told.size.rows,
                num_cols: told.size.columns,
                // Somebody asks for pixels: a common size of a character.
                cell_width: 8,
                cell_height: 16,
            }),
            Event::Title(title) => {
                told.title = Some(title);
                return;
            }
            Event::ResetTitle => {
                told.title = None;
                return;
            }
            _ => return,
        };
        if told.answers.len() + answer.len() <= ANSWER_BYTES {
            told.answers.extend_from_slice(answer.as_bytes());
        }
    }
}

/// The colours that programs ask for to tell a dark terminal from a light one: this one is dark.
fn colour(index: usize) -> Option<Rgb> {
    let grey = |level| {
        Some(Rgb {
            r: level,
            g: level,
            b: level,
        })
    };
    match index {
        _ if index == NamedColor::Foreground as usize => grey(0xe5),
        _ if index == NamedColor::Cursor as usize => grey(0xe5),
        _ if index == NamedColor::Background as usize => grey(0x00),
        _ => None,
    }
}

/// A program may ask to have several changes shown at once. Nobody looks in between, so that there
/// is nothing to wait for and nothing to buffer.
#[derive(Default)]
struct Unbuffered;

impl Timeout for Unbuffered {
    fn set_timeout(&mut self, _: Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
