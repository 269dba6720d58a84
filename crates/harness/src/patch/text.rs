//! The lines of a file, each with the end that it has: `\n`, `\r\n` or, in the last one, nothing.
//! Files are bytes; nothing here minds what encoding they are in.

/// A file's lines.
#[derive(Debug)]
pub(super) struct Text<'a> {
    lines: Vec<Line<'a>>,
}

/// A line and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) body: &'a [u8],
    pub(super) end: &'a [u8],
}

impl<'a> Text<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
            let end = if line.ends_with(b"\r\n") {
                2
            } else {
                usize::from(line.ends_with(b"\n"))
            };
            let (body, end) = line.split_at(line.len() - end);
            Line { body, end }
        });
        Self {
            lines: lines.collect(),
        }
    }

    pub(super) fn lines(&self) -> &[Line<'a>] {
        &self.lines
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// How a new line ends: like the others.
    pub(super) fn usual_end(&self) -> &'a [u8] {
        match self.lines.first() {
            Some(line) if !line.end.is_empty() => line.end,
            _ => b"\n",
        }
    }

    /// Whether the last line has an end.
    pub(super) fn ends_with_newline(&self) -> bool {
        self.lines.last().is_none_or(|line| !line.end.is_empty())
    }
}
