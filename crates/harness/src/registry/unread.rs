//! What a command printed and nobody has fetched yet.

use crate::output::{Ansi, Captured, Drain, Excerpt, HeadTail, Stream};

/// How the two streams are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As one, in the order in which they come: what a person at a terminal would see.
    Together,
    /// Each on its own.
    Apart,
}

/// Output that waits to be fetched, bounded: of too much, the middle is dropped and counted.
#[derive(Debug)]
pub(super) struct Unread {
    layout: Layout,
    stdout: HeadTail,
    stderr: HeadTail,
}

impl Unread {
    pub(super) fn new(layout: Layout, room: usize) -> Self {
        let room = match layout {
            Layout::Together => room,
            Layout::Apart => room / 2,
        };
        Self {
            layout,
            stdout: HeadTail::new(room),
            stderr: HeadTail::new(room),
        }
    }

    pub(super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        match (self.layout, stream) {
            (Layout::Together, _) | (Layout::Apart, Stream::Stdout) => self.stdout.push(bytes),
            (Layout::Apart, Stream::Stderr) => self.stderr.push(bytes),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.stdout.has_characters() && !self.stderr.has_characters()
    }

    /// Takes out what has come since the last time.
    pub(super) fn fetch(&mut self, drain: Drain) -> Captured {
        let stdout = self.stdout.drain(drain);
        Captured {
            both: match self.layout {
                Layout::Together => stdout.clone(),
                Layout::Apart => HeadTail::new(0),
            },
            stdout,
            stderr: self.stderr.drain(drain),
            file: None,
        }
    }

    /// Both streams as they are, without taking anything out.
    pub(super) fn streams(&self) -> [HeadTail; 2] {
        [self.stdout.clone(), self.stderr.clone()]
    }

    /// What has come on standard output, or both streams, as it reads, without taking it out.
    pub(super) fn peek(&self) -> String {
        Excerpt::shown(&self.stdout, usize::MAX, Ansi::Remove).text
    }
}
