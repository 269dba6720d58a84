//! How things look on a terminal: colours where there are any, diffs line by line, numbers in words.

use std::io::IsTerminal;
use std::time::Duration;

use ringfence::agent::{FileDiff, FileDiffKind};

use crate::paint;

/// So many lines of one file's diff are shown.
const DIFF_LINES: usize = 80;

/// What something is shown as.
#[derive(Debug, Clone, Copy)]
pub(super) enum Style {
    Dim,
    Bold,
    Good,
    Bad,
    Added,
    Removed,
    Place,
}

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    Shown,
    Plain,
}

impl Colours {
    /// Of standard output.
    pub(super) fn of_stdout() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some() || crate::terminal::is_dumb();
        if std::io::stdout().is_terminal() && !plain {
            Self::Shown
        } else {
            Self::Plain
        }
    }

    /// A text in a style.
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Dim => "2",
            Style::Bold => "1",
            Style::Good | Style::Added => "32",
            Style::Bad | Style::Removed => "31",
            Style::Place => "36",
        };
        match self {
            Self::Shown => format!("\x1b[{code}m{text}\x1b[0m"),
            Self::Plain => text.to_owned(),
        }
    }

    /// A file's changes.
    pub(super) fn diff(self, change: &FileDiff) -> String {
        let word = match change.kind {
            FileDiffKind::Add => "new",
            FileDiffKind::Delete => "deleted",
            FileDiffKind::Update => "changed",
        };
        let path = paint::visible(&change.path);
        let mut shown = format!("{} {path}\n", self.paint(Style::Bold, word));
        let Some(diff) = &change.diff else {
            return shown;
        };
        let lines: Vec<&str> = diff.lines().collect();
        for line in lines.iter().take(DIFF_LINES) {
            if line.starts_with("---") || line.starts_with("+++") {
                continue;
            }
            let text = paint::visible(&line.replace('\t', "    "));
            let text = match line.as_bytes().first() {
                Some(b'+') => self.paint(Style::Added, &text),
                Some(b'-') => self.paint(Style::Removed, &text),
                Some(b'@') => self.paint(Style::Place, &text),
                _ => text,
            };
            shown.extend(["  ", &text, "\n"]);
        }
        if lines.len() > DIFF_LINES {
            let more = format!("  … {} more lines\n", lines.len() - DIFF_LINES);
            shown += &self.paint(Style::Dim, &more);
        }
        shown
    }
}

/// A time, as people say it.
pub(super) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 60, seconds % 60) {
        (0, 0) => format!("{} ms", duration.as_millis()),
        (0, seconds) => format!("{seconds}.{} s", duration.subsec_millis() / 100),
        (minutes, seconds) => format!("{minutes} min {seconds:02} s"),
    }
}

/// A number of tokens.
pub(super) fn tokens(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        _ => format!("{} k", number / 1_000),
    }
}

/// So many of something.
pub(super) fn many(number: impl Into<u64>, one: &str) -> String {
    match number.into() {
        1 => format!("1 {one}"),
        number => format!("{number} {one}s"),
    }
}
